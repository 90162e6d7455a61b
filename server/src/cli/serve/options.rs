//! Arguments of `hushbin serve`.

use std::path::PathBuf;

use clap::Args;

use super::settings::ServeSettings;
use crate::cli::output::Error;

/// Collect reports and serve estimates
///
/// When the server is ready, it prints one line with its address on standard output. It logs to
/// standard error. Until the journal is open, it serves /livez and /metrics, and responds to other
/// requests with status 503.
///
/// SIGTERM or SIGINT stops the server. It finishes the current requests and exits with status 0,
/// after at most --drain-timeout plus 10 seconds. SIGHUP reloads the files of --config, --task,
/// --tls-certificate and --tls-key. New tasks, and changes of the certificate, of --log and of
/// --host apply at once. Other changes need a restart. A reload never changes or deletes a task.
///
/// An option on the command line overrides its environment variable. An environment variable
/// overrides the configuration file.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ServeCommandOptions {
    /// Configuration file (TOML). Its keys are the options below, with _ instead of -; options that
    /// may be repeated have plural names. Relative paths start at the directory of the file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check what a start checks before it serves: the options, the files that they name, the
    /// address, the limit on open files, the tokens and the tasks. Then exit
    #[arg(long)]
    pub(super) check_config: bool,
    #[command(flatten)]
    flags: ServeSettings,
}

impl ServeCommandOptions {
    /// Creates the options of a start with a configuration file, if any, and flags.
    pub(super) const fn new(config: Option<PathBuf>, flags: ServeSettings) -> Self {
        Self {
            config,
            check_config: false,
            flags,
        }
    }

    /// Returns the settings from flags, environment variables and the configuration file. Each call
    /// reads the file again.
    ///
    /// # Errors
    /// As [`ServeSettings::read_config_file`].
    pub(super) fn read_settings(&self) -> Result<ServeSettings, Error> {
        match &self.config {
            Some(path) => self
                .flags
                .with_missing_settings_from(&ServeSettings::read_config_file(path)?),
            None => Ok(self.flags.clone()),
        }
    }
}
