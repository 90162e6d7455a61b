//! Options that locate a journal.

use std::path::PathBuf;

use clap::Args;

use super::output::Error;
use crate::store::JournalLocation;

/// Location of a journal: a directory or a database.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub(super) struct JournalLocationOptions {
    /// Directory that contains the journal
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: Option<PathBuf>,
    /// PostgreSQL database that contains the journal, such as
    /// postgres://hushbin@db.example.org/hushbin
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "HUSHBIN_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
}

impl JournalLocationOptions {
    /// Returns the location of the journal.
    ///
    /// # Errors
    /// As [`JournalLocation::from_options`].
    pub(super) fn journal_location(&self) -> Result<JournalLocation, Error> {
        Ok(JournalLocation::from_options(
            self.data.as_deref(),
            self.database.as_deref(),
        )?)
    }
}
