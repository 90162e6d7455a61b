//! Arguments of `hushbin serve`.

use std::path::PathBuf;

use clap::Args;

use super::settings::Settings;
use crate::cli::output::Error;

/// Collect reports and serve estimates
///
/// Prints one line with its address on standard output when it is ready, and logs to standard
/// error. Until the journal is open, it serves /livez and /metrics, and responds 503 to other
/// requests.
///
/// SIGTERM and SIGINT stop the server. It finishes the current requests and exits with 0, after at
/// most --drain-timeout plus 10 seconds. SIGHUP reloads --config, and the files of
/// --tls-certificate and --tls-key. The certificate, --log and --host change at once. Other
/// changes need a restart.
///
/// A flag overrides its environment variable, which overrides the configuration file.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Options {
    /// Configuration file (TOML) with the options below: _ instead of -, and plural names for
    /// options that may be repeated. Relative paths start at the directory of the file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the options and task files, then exit
    #[arg(long)]
    pub(super) check_config: bool,
    #[command(flatten)]
    flags: Settings,
}

impl Options {
    /// Returns the settings by flags, environment variables and the file, which is read now.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub(super) fn settings(&self) -> Result<Settings, Error> {
        match &self.config {
            Some(path) => self.flags.completed_with(&Settings::read(path)?),
            None => Ok(self.flags.clone()),
        }
    }
}
