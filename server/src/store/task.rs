//! The tasks of a data directory: those of its journal, and those given at start.

use hushbin::{Task, TaskDraft};
use hushbin_analysis::estimate::Estimator;

use super::error::OpenError;
use super::journal::{Journal, TaskKey, TaskRow};

/// Position of a task in [`Store::tasks`](super::Store::tasks).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaskIndex(pub(super) usize);

/// A task that the store keeps uploads of.
#[derive(Debug)]
pub struct StoredTask {
    index: TaskIndex,
    key: TaskKey,
    estimator: Estimator,
}

impl StoredTask {
    /// The task, as it was stored on first sight.
    #[must_use]
    pub const fn task(&self) -> &Task {
        self.estimator.task()
    }

    /// What makes estimates of the task's totals, its rates computed already.
    pub(crate) const fn estimator(&self) -> &Estimator {
        &self.estimator
    }

    pub(super) const fn index(&self) -> TaskIndex {
        self.index
    }

    pub(super) const fn key(&self) -> TaskKey {
        self.key
    }
}

/// The stored tasks, after those drafts that are new have been stored too.
///
/// # Errors
/// When a draft is invalid or contradicts a stored task, a stored task cannot be
/// used, there is none at all, or storage fails.
pub(super) fn settle(
    journal: &mut dyn Journal,
    drafts: &[TaskDraft],
) -> Result<Vec<StoredTask>, OpenError> {
    let mut tasks = Vec::new();
    for row in journal.tasks()? {
        let task = read_task(&row)?;
        push(&mut tasks, row.key, task);
    }
    for draft in drafts {
        match tasks.iter().find(|stored| stored.task().id() == draft.id) {
            Some(stored) => {
                draft
                    .agrees_with(stored.task())
                    .map_err(|source| OpenError::TaskDiffers {
                        id: draft.id.clone(),
                        source,
                    })?;
            }
            None => {
                let task = draft.resolve().map_err(|source| OpenError::InvalidTask {
                    id: draft.id.clone(),
                    source,
                })?;
                // A task is plain data with text keys, which JSON always holds.
                let parameters =
                    serde_json::to_string(&task).expect("a task can be written as JSON");
                let key = journal.add_task(task.id(), task.fingerprint().0, &parameters)?;
                push(&mut tasks, key, task);
            }
        }
    }
    if tasks.is_empty() {
        return Err(OpenError::NoTasks);
    }
    Ok(tasks)
}

fn push(tasks: &mut Vec<StoredTask>, key: TaskKey, task: Task) {
    tasks.push(StoredTask {
        index: TaskIndex(tasks.len()),
        key,
        estimator: Estimator::for_task(task),
    });
}

pub(super) fn read_task(row: &TaskRow) -> Result<Task, OpenError> {
    let unusable = |reason: String| OpenError::StoredTask {
        id: row.id.clone(),
        reason,
    };
    let task: Task =
        serde_json::from_str(&row.parameters).map_err(|error| unusable(error.to_string()))?;
    // Reports were made under the stored fingerprint. A program that reads the same
    // parameters differently must not estimate from them.
    if task.fingerprint().0 != row.fingerprint {
        return Err(unusable(format!(
            "its parameters have the fingerprint {}, stored is {}",
            task.fingerprint(),
            hushbin::Fingerprint(row.fingerprint)
        )));
    }
    Ok(task)
}
