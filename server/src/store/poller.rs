//! Follows changes that other processes make to shared storage, by polling on a separate thread.

use std::sync::Arc;
use std::time::Duration;

use super::engine::{SharedStorage, SharedTask, StorageReader};
use super::error::JournalError;
use super::repeated_errors::RepeatedErrors;
use super::role::ProcessRole;
use super::task;
use super::tasks::CurrentTasks;

/// Interval between polls. It bounds the delay until a process notices tasks or settings that
/// another process has stored. Requests about batches do not wait for a poll, since they read the
/// storage themselves.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// State of the polling thread.
pub(super) struct Poller {
    pub(super) tasks: Arc<CurrentTasks>,
    pub(super) reader: Arc<dyn StorageReader>,
    pub(super) role: ProcessRole,
    pub(super) errors: RepeatedErrors,
}

impl Poller {
    /// Reads changes by other processes from the storage once, if the storage is shared.
    pub(super) fn poll(&mut self) {
        if let Some(shared) = self.reader.shared_storage() {
            let looked = apply_storage_changes(&self.tasks, &*self.reader, shared, self.role);
            let action = "looking for changes by other processes";
            self.errors.record(None, action, &looked);
        }
    }
}

/// Updates the list of tasks, and the settings and batches of each task, from the storage.
fn apply_storage_changes(
    tasks: &CurrentTasks,
    reader: &dyn StorageReader,
    shared: &dyn SharedStorage,
    role: ProcessRole,
) -> Result<(), JournalError> {
    // Listed before the storage is read. A task stored in between is then not taken for a deleted
    // one.
    let known = tasks.all_tasks();
    let seen = shared.tasks()?;
    for gone in known {
        if seen.iter().all(|own| own.key != gone.key()) {
            gone.set_removed(true);
            tasks.remove(&gone);
        }
    }
    let known = tasks.log().len() as u64;
    let applied = reader
        .task_log_after(known)
        .map(|entries| tasks.extend_log(entries));
    let mut applied = applied.map_err(JournalError::from);
    for task in seen {
        // A task that cannot be used must not hide changes of the rest.
        applied = applied.and(apply_task_changes(tasks, shared, role, task));
    }
    applied
}

/// Updates the settings and the batches of one task, or adds the task.
fn apply_task_changes(
    tasks: &CurrentTasks,
    shared: &dyn SharedStorage,
    role: ProcessRole,
    seen: SharedTask,
) -> Result<(), JournalError> {
    let SharedTask {
        key,
        settings,
        batches,
    } = seen;
    match tasks.by_key(key) {
        Some(stored) => {
            stored.publish_batches(&batches);
            if task::encode_role_and_settings(role, &stored.settings()) != settings {
                let id = stored.task().id();
                stored.replace_settings(task::decode_role_and_settings(id, &settings)?.1);
            }
        }
        None => {
            // The task may have been deleted since the storage was read.
            if let Some(row) = shared.task(key)? {
                let read = task::stored_tasks_from_rows([(row, batches)], role)?;
                read.into_iter()
                    .for_each(|stored| tasks.add(&Arc::new(stored)));
            }
        }
    }
    Ok(())
}
