//! File of the task log: JSON with a version and all entries. The hashes of the
//! entries serve as checksums.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk;
use crate::store::engine::EngineError;
use crate::store::task_log::{TaskLogEntry, check_task_log};

pub(super) const TASK_LOG_FILE_NAME: &str = "task-log.json";

const TASK_LOG_VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct TaskLogContent<E> {
    version: u64,
    entries: E,
}

/// Reads the task log of a directory. The log is empty if the file does not exist, as in a journal
/// of an earlier version.
///
/// # Errors
/// When the file cannot be read, is damaged, or has another version.
pub(super) fn read_task_log(root: &Path) -> Result<Vec<TaskLogEntry>, EngineError> {
    let path = root.join(TASK_LOG_FILE_NAME);
    let text = match std::fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|source| disk::file_error(&path, source))?,
    };
    let content: TaskLogContent<Vec<TaskLogEntry>> = serde_json::from_slice(&text)
        .map_err(|error| disk::damage_error(&path, &error.to_string()))?;
    if content.version != TASK_LOG_VERSION {
        return Err(EngineError::UnsupportedVersion {
            path: path.display().to_string(),
            found: content.version,
            known: TASK_LOG_VERSION,
        });
    }
    check_task_log(&content.entries)
        .map_err(|error| disk::damage_error(&path, &error.to_string()))?;
    Ok(content.entries)
}

/// Writes the task log of a directory durably, all or nothing. Writes no file for an empty log.
///
/// # Errors
/// When writing to the disk fails.
pub(super) fn write_task_log(root: &Path, entries: &[TaskLogEntry]) -> Result<(), EngineError> {
    if entries.is_empty() {
        return Ok(());
    }
    let content = TaskLogContent {
        version: TASK_LOG_VERSION,
        entries,
    };
    let text = serde_json::to_vec(&content).expect("entries can be written as JSON");
    disk::write_atomically(&root.join(TASK_LOG_FILE_NAME), &text)
}

/// Check that the file of a task log is not lost. A new log would hide from clients which tasks the
/// old one has listed.
#[derive(Debug)]
pub(super) struct TaskLogGuard {
    path: PathBuf,
    /// True once the log was read or written, so that its file must stay.
    pub(super) must_exist: bool,
    /// True if there were tasks and no log when the directory was opened.
    was_missing: bool,
}

impl TaskLogGuard {
    pub(super) fn new(root: &Path, has_tasks: bool) -> Self {
        let path = root.join(TASK_LOG_FILE_NAME);
        Self {
            must_exist: false,
            was_missing: has_tasks && !path.exists(),
            path,
        }
    }

    /// Checks that the file is still there, if there was one.
    ///
    /// # Errors
    /// [`EngineError::FileReplaced`].
    pub(super) fn check_in_place(&self) -> Result<(), EngineError> {
        match self.must_exist && !self.path.exists() {
            true => Err(EngineError::FileReplaced {
                path: self.path.display().to_string(),
                cause: "it is missing".to_owned(),
                remedy: "put back a copy; until then no task is added",
            }),
            false => Ok(()),
        }
    }

    /// Checks the file, also for its loss before the directory was opened.
    ///
    /// # Errors
    /// When the file was lost.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        self.check_in_place()?;
        match self.was_missing {
            true => Err(disk::damage_error(
                &self.path,
                "it was missing at the start, so a new log has begun, and clients that remember the \
                 old one find a fork: if this is no journal of an earlier version, stop the \
                 collector, put back a copy from a backup, and start it again; hushbin audit \
                 --task-logs compares two copies",
            )),
            false => Ok(()),
        }
    }
}
