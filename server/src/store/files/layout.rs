//! Names of directories in a data directory.

use std::path::{Path, PathBuf};

use crate::store::engine::TaskKey;

/// Name of the directory that contains the files of all tasks.
pub(super) const TASKS_DIRECTORY: &str = "tasks";

/// Extension that a task's directory has while the task is being deleted.
pub(super) const DELETED_TASK_EXTENSION: &str = "deleted";

/// Name of the file that a readiness probe writes to test the disk.
pub(super) const PROBE_FILE_NAME: &str = "probe";

/// Returns the directory that contains a task's files.
pub(super) fn task_directory(root: &Path, task: TaskKey) -> PathBuf {
    root.join(TASKS_DIRECTORY).join(format!("{:08}", task.0))
}
