//! Names of directories in a data directory.

use std::path::{Path, PathBuf};

use crate::store::engine::TaskKey;

/// Directory of the files of all tasks.
pub(super) const TASKS_DIRECTORY: &str = "tasks";

/// Extension of a task's directory while the task is being deleted.
pub(super) const DELETED_EXTENSION: &str = "deleted";

pub(super) fn directory_of(root: &Path, task: TaskKey) -> PathBuf {
    root.join(TASKS_DIRECTORY).join(format!("{:08}", task.0))
}
