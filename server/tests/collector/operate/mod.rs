//! Operation of the collector: configuration, metrics and logs.

mod config;
mod deploy;
mod doctor;
#[cfg(target_os = "linux")]
mod failures;
mod hosts;
mod http2;
mod limits;
mod logs;
pub(crate) mod metrics;
pub(crate) mod proxies;
mod tasks;
mod tls;

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use hushbin_tests::process::{self, Client, Collector};
use hushbin_tests::uploads::{Uploads, draft};

use crate::support::SETTINGS;

/// A collector with a configuration file, on temporary files.
struct Operated {
    collector: Collector,
    address: SocketAddr,
    directory: tempfile::TempDir,
}

impl Operated {
    /// Starts a collector. `more` extends the data directory, the task and the address.
    fn new(more: &str) -> Self {
        Self::with_environment(more, &[])
    }

    /// Starts a collector with environment variables.
    fn with_environment(more: &str, variables: &[(&str, &str)]) -> Self {
        Self::start(tempfile::tempdir().unwrap(), more, variables)
    }

    /// Starts a collector in an existing directory.
    fn beside(directory: tempfile::TempDir, more: &str) -> Self {
        Self::start(directory, more, &[])
    }

    fn start(directory: tempfile::TempDir, more: &str, variables: &[(&str, &str)]) -> Self {
        configure(directory.path(), more);
        let log = File::create(directory.path().join("log")).unwrap();
        let mut command = process::command();
        command
            .args(["serve", "--config"])
            .arg(directory.path().join("hushbin.toml"))
            .envs(variables.iter().copied())
            .stderr(log);
        let mut collector = Collector::start(command);
        let address = collector.address();
        Self {
            collector,
            address,
            directory,
        }
    }

    fn client(&self) -> Client {
        Client::connect(self.address).unwrap()
    }

    fn uploads(&self) -> Uploads {
        Uploads::new(&draft(SETTINGS).resolve_task().unwrap(), 1)
    }

    /// Contents of the log so far.
    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap()
    }
}

/// Writes the task and the configuration file, with paths relative to it, and creates the journal.
fn configure(directory: &Path, more: &str) -> PathBuf {
    process::create_journal(&directory.join("data"));
    fs::write(directory.join("settings.json"), SETTINGS).unwrap();
    let path = directory.join("hushbin.toml");
    let text = format!("data = 'data'\ntasks = ['settings.json']\nlisten = '127.0.0.1:0'\n{more}");
    fs::write(&path, text).unwrap();
    path
}
