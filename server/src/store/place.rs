//! Where a journal is.

use std::path::{Path, PathBuf};

use super::engine::EngineError;
use super::postgres::Database;

/// Why it is not said where a journal is.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Two places are given.
    #[error("a journal has one place, expected --data or --store")]
    Two,
    /// None is given.
    #[error(
        "no data directory: give --data DIR, HUSHBIN_DATA, or data in the file of --config; or a \
         database by --store"
    )]
    None,
    /// The address of a database is none.
    #[error(transparent)]
    Address(#[from] EngineError),
}

/// Where a journal is, with everything that belongs to it.
#[derive(Debug, Clone)]
pub enum Place {
    /// A directory, which one process writes to.
    Directory(PathBuf),
    /// A database, which several processes of one role may share.
    Database(Database),
}

impl Place {
    /// That of a directory or of a database's address, whichever is given.
    ///
    /// # Errors
    /// When neither is, or both are, or it is no such address.
    pub fn of(data: Option<&Path>, store: Option<&str>) -> Result<Self, PlaceError> {
        match (data, store) {
            (Some(data), None) => Ok(Self::Directory(data.to_owned())),
            (None, Some(address)) => Ok(Self::Database(Database::new(address)?)),
            (Some(_), Some(_)) => Err(PlaceError::Two),
            (None, None) => Err(PlaceError::None),
        }
    }

    /// The directory, where it is one.
    #[must_use]
    pub fn directory(&self) -> Option<PathBuf> {
        match self {
            Self::Directory(directory) => Some(directory.clone()),
            Self::Database(_) => None,
        }
    }
}
