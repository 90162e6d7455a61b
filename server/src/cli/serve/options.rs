//! The arguments of `hushbin serve`.

use std::path::PathBuf;

use clap::Args;

use super::settings::Settings;
use crate::cli::output::Error;

/// Collect reports and serve estimates
///
/// Prints one line with its address on standard output when it is ready, and logs
/// to standard error. Until then, while the store is opened, it answers /livez and
/// /metrics, and 503 to all else. On SIGTERM or SIGINT it stops accepting connections,
/// answers the requests under way, leaves the journal tidy and exits with 0, after
/// --drain-timeout and 10 seconds at the latest. On SIGHUP it reads --config, and the files
/// of --tls-certificate and --tls-key, again: these, --log and --host change at once, all else
/// needs a restart.
///
/// A flag goes before its environment variable, and that before the file.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Options {
    /// File of options (TOML): those below, with _ for - and in the plural where they may
    /// be repeated. Relative paths in it begin at its directory
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Say whether the options and task files are valid, and end
    #[arg(long)]
    pub(super) check_config: bool,
    #[command(flatten)]
    flags: Settings,
}

impl Options {
    /// The flags and variables, over the file as it is now.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub(super) fn settings(&self) -> Result<Settings, Error> {
        match &self.config {
            Some(path) => self.flags.over(&Settings::read(path)?),
            None => Ok(self.flags.clone()),
        }
    }
}
