//! Where a journal is, as it is said to commands.

use std::path::PathBuf;

use clap::Args;

use super::output::Error;
use crate::store::Place;

/// A directory or a database.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub(super) struct PlaceOptions {
    /// Directory of the journal
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: Option<PathBuf>,
    /// Database of the journal, PostgreSQL's, such as postgres://hushbin@db.example.org/hushbin
    #[arg(
        long,
        value_name = "URL",
        env = "HUSHBIN_STORE",
        hide_env_values = true
    )]
    store: Option<String>,
}

impl PlaceOptions {
    /// What was said.
    ///
    /// # Errors
    /// When it is not one place.
    pub(super) fn place(&self) -> Result<Place, Error> {
        Ok(Place::of(self.data.as_deref(), self.store.as_deref())?)
    }
}
