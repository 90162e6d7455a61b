//! Current tasks of a store.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use hushbin::task::split_task_id;

use super::engine::TaskKey;
use super::task::StoredTask;
use super::task_log::TaskLogEntry;

/// Tasks of a store, shared by the threads that read or change the list.
#[derive(Debug, Default)]
pub(super) struct CurrentTasks(RwLock<TaskIndex>);

/// List of tasks in the order in which they were stored, and index of the tasks by id.
#[derive(Debug, Default)]
struct TaskIndex {
    all: Vec<Arc<StoredTask>>,
    by_id: HashMap<String, Arc<StoredTask>>,
    log: Arc<Vec<TaskLogEntry>>,
}

impl CurrentTasks {
    fn with_index<T>(&self, read: impl FnOnce(&TaskIndex) -> T) -> T {
        read(&self.0.read())
    }

    fn with_index_mut(&self, change: impl FnOnce(&mut TaskIndex)) {
        change(&mut self.0.write());
    }

    /// Returns all tasks, in the order in which they were stored.
    pub(super) fn all_tasks(&self) -> Vec<Arc<StoredTask>> {
        self.with_index(|listed| listed.all.clone())
    }

    /// Returns the task with this id.
    pub(super) fn by_id(&self, id: &str) -> Option<Arc<StoredTask>> {
        self.with_index(|listed| listed.by_id.get(id).cloned())
    }

    /// Returns the task with this id and, if the id has no label, the labelled tasks of this name.
    pub(super) fn with_id_or_name(&self, id: &str) -> Vec<Arc<StoredTask>> {
        let is_one = |stored: &&Arc<StoredTask>| {
            let own = stored.task().id();
            own == id || split_task_id(own).0 == id
        };
        self.with_index(|listed| listed.all.iter().filter(is_one).cloned().collect())
    }

    /// Returns the task with this key.
    pub(super) fn by_key(&self, key: TaskKey) -> Option<Arc<StoredTask>> {
        self.with_index(|listed| listed.all.iter().find(|own| own.key() == key).cloned())
    }

    /// Returns the task log.
    pub(super) fn log(&self) -> Arc<Vec<TaskLogEntry>> {
        self.with_index(|listed| Arc::clone(&listed.log))
    }

    /// Appends the entries that the task log does not have yet.
    pub(super) fn extend_log(&self, entries: Vec<TaskLogEntry>) {
        self.with_index_mut(|listed| {
            for entry in entries {
                // Another thread may have appended the same entries.
                if entry.number == listed.log.len() as u64 + 1 {
                    Arc::make_mut(&mut listed.log).push(entry);
                }
            }
        });
    }

    /// Adds a task, unless a task with its key is already in the list.
    pub(super) fn add(&self, stored: &Arc<StoredTask>) {
        self.with_index_mut(|listed| {
            if listed.all.iter().all(|own| own.key() != stored.key()) {
                listed.all.push(Arc::clone(stored));
                let id = stored.task().id().to_owned();
                listed.by_id.insert(id, Arc::clone(stored));
            }
        });
    }

    /// Removes a task from the list.
    pub(super) fn remove(&self, stored: &Arc<StoredTask>) {
        self.with_index_mut(|listed| {
            listed.all.retain(|own| own.key() != stored.key());
            let id = stored.task().id();
            // The id may already belong to a newer task.
            if listed
                .by_id
                .get(id)
                .is_some_and(|own| own.key() == stored.key())
            {
                listed.by_id.remove(id);
            }
        });
    }
}
