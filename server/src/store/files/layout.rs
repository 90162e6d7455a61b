//! Names of directories in a data directory.

use std::path::{Path, PathBuf};

use crate::store::engine::TaskKey;

/// Directory of the files of all tasks.
pub(super) const TASKS: &str = "tasks";

/// Extension of a task's directory while the task is being deleted.
pub(super) const DELETED: &str = "deleted";

pub(super) fn directory_of(root: &Path, task: TaskKey) -> PathBuf {
    root.join(TASKS).join(format!("{:08}", task.0))
}
