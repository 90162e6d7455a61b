//! Location of a journal: a directory or a database.

use std::path::{Path, PathBuf};

use super::engine::EngineError;
use super::postgres::DatabaseAddress;

/// Reason that the location of a journal is unknown.
#[derive(Debug, thiserror::Error)]
pub enum JournalLocationError {
    /// A directory and a database are both given.
    #[error("both a directory and a database are given, expected either --data or --database")]
    Two,
    /// The location is missing.
    #[error(
        "no data directory: give --data DIR, HUSHBIN_DATA, or the key data in the --config file; \
         or give a database with --database"
    )]
    None,
    /// The address of the database is invalid.
    #[error(transparent)]
    Address(#[from] EngineError),
}

/// Location of a journal and everything that belongs to it.
#[derive(Debug, Clone)]
pub enum JournalLocation {
    /// A directory, which one process writes to.
    Directory(PathBuf),
    /// A database, which several processes of one role may share.
    Database(DatabaseAddress),
}

impl JournalLocation {
    /// Returns the location of the journal: the directory `data`, or the database at the address
    /// `database`.
    ///
    /// # Errors
    /// [`JournalLocationError`] unless exactly one of the two is given, or if the address is invalid.
    pub fn from_options(
        data: Option<&Path>,
        database: Option<&str>,
    ) -> Result<Self, JournalLocationError> {
        match (data, database) {
            (Some(data), None) => Ok(Self::Directory(data.to_owned())),
            (None, Some(address)) => Ok(Self::Database(DatabaseAddress::new(address)?)),
            (Some(_), Some(_)) => Err(JournalLocationError::Two),
            (None, None) => Err(JournalLocationError::None),
        }
    }

    /// Returns the journal's directory, or `None` if the journal is in a database.
    #[must_use]
    pub fn directory(&self) -> Option<PathBuf> {
        match self {
            Self::Directory(directory) => Some(directory.clone()),
            Self::Database(_) => None,
        }
    }
}
