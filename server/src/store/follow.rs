//! Follows changes that other processes make to shared storage, by polling on a separate thread.

use std::sync::Arc;
use std::time::Duration;

use super::engine::{Reader, Seen, Shared};
use super::error::OpenError;
use super::repeated_errors::RepeatedErrors;
use super::role::Role;
use super::task;
use super::tasks::Tasks;

/// Polling interval. It bounds the delay until a process knows of tasks or settings that another
/// process stored. Requests about batches read the storage themselves.
pub(super) const EVERY: Duration = Duration::from_secs(1);

/// State of the polling thread.
pub(super) struct Follower {
    pub(super) tasks: Arc<Tasks>,
    pub(super) reader: Arc<dyn Reader>,
    pub(super) role: Role,
    pub(super) errors: RepeatedErrors,
}

impl Follower {
    /// Polls once, if the storage is shared.
    pub(super) fn look(&mut self) {
        if let Some(shared) = self.reader.shared() {
            let looked = follow(&self.tasks, shared, self.role);
            let doing = "looking for changes by other processes";
            self.errors.note(None, doing, &looked);
        }
    }
}

/// Updates tasks, settings and batches from the storage.
fn follow(tasks: &Tasks, shared: &dyn Shared, role: Role) -> Result<(), OpenError> {
    // Listed before the storage is read. A task stored in between is then not taken for a deleted
    // one.
    let known = tasks.all();
    let seen = shared.seen()?;
    for gone in known {
        if seen.iter().all(|own| own.key != gone.key()) {
            gone.remove();
            tasks.remove(&gone);
        }
    }
    for Seen {
        key,
        settings,
        batches,
    } in seen
    {
        match tasks.of_key(key) {
            Some(stored) => {
                stored.tell(&batches);
                if task::written(role, &stored.settings()) != settings {
                    let id = stored.task().id();
                    stored.configure(task::read_settings(id, &settings)?.1);
                }
            }
            None => {
                // The task may have been deleted since the storage was read.
                if let Some(row) = shared.task(key)? {
                    let read = task::read([(row, batches)], role)?;
                    read.into_iter()
                        .for_each(|stored| tasks.add(&Arc::new(stored)));
                }
            }
        }
    }
    Ok(())
}
