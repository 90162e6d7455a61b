//! What other processes store where storage is shared: looked for again and again, on a thread
//! of its own.

use std::sync::Arc;
use std::time::Duration;

use super::engine::{Reader, Seen, Shared};
use super::error::OpenError;
use super::repeated_errors::RepeatedErrors;
use super::role::Role;
use super::task;
use super::tasks::Tasks;

/// How often it is looked: so long may it take until a process knows of a task, or of settings,
/// that another one has stored. What is asked for of batches is looked up as it is asked for.
pub(super) const EVERY: Duration = Duration::from_secs(1);

/// Who looks.
pub(super) struct Follower {
    pub(super) tasks: Arc<Tasks>,
    pub(super) reader: Arc<dyn Reader>,
    pub(super) role: Role,
    pub(super) errors: RepeatedErrors,
}

impl Follower {
    /// Looks, where storage is shared.
    pub(super) fn look(&mut self) {
        if let Some(shared) = self.reader.shared() {
            let looked = follow(&self.tasks, shared, self.role);
            let doing = "looking for what others have stored";
            self.errors.note(None, doing, &looked);
        }
    }
}

/// Takes notice of the tasks that there are by now.
fn follow(tasks: &Tasks, shared: &dyn Shared, role: Role) -> Result<(), OpenError> {
    // Those that are known before it is looked: one that is stored meanwhile is not gone.
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
