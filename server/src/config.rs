//! The collector's configuration, validated.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hushbin::TaskDraft;

use crate::http::{Limits, ServerOptions};
use crate::store::StoreOptions;

/// Everything that `hushbin serve` needs to know.
#[derive(Debug, Clone)]
pub struct Config {
    /// Directory of the journal.
    pub data: PathBuf,
    /// The tasks of all task files.
    pub tasks: Vec<TaskDraft>,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Bounds of one request.
    pub limits: Limits,
    /// Bounds of the server.
    pub server: ServerOptions,
    /// Bounds of the store.
    pub store: StoreOptions,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A task file cannot be read.
    #[error("task file {path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// A task file is not a task.
    #[error("task file {path}: {source}")]
    NotATask {
        /// The file.
        path: String,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// A number is out of range.
    #[error("--{option} is {value}, expected {expected}")]
    OutOfRange {
        /// The option.
        option: &'static str,
        /// Its value.
        value: u64,
        /// What would do.
        expected: &'static str,
    },
}

/// Reads a task file.
///
/// # Errors
/// When it cannot be read or is not a task; the parameters are validated when
/// the draft is resolved.
pub fn read_task_file(path: &Path) -> Result<TaskDraft, ConfigError> {
    let shown = || path.display().to_string();
    let text = fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        path: shown(),
        source,
    })?;
    serde_json::from_str(&text).map_err(|source| ConfigError::NotATask {
        path: shown(),
        source,
    })
}

/// `value` when it lies in the range.
pub(crate) fn in_range(
    option: &'static str,
    value: u64,
    least: u64,
    most: u64,
    expected: &'static str,
) -> Result<u64, ConfigError> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(ConfigError::OutOfRange {
            option,
            value,
            expected,
        })
    }
}

/// Seconds that an option may name.
pub(crate) fn seconds(option: &'static str, value: u64) -> Result<Duration, ConfigError> {
    in_range(option, value, 1, 3600, "1 to 3600 seconds").map(Duration::from_secs)
}
