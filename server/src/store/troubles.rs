//! What fails at every attempt, said once.

use std::collections::HashMap;
use std::fmt::Display;

use super::engine::TaskKey;
use super::task::StoredTask;

/// What is attempted.
pub(super) type Doing = &'static str;

/// Attempts of the writer, or of the releaser, that fail at present: a full disk fails thousands a
/// second. The log has a line when one begins to fail, or fails in another way, and one when it
/// works again.
#[derive(Debug, Default)]
pub(super) struct Troubles(HashMap<(Option<TaskKey>, Doing), Trouble>);

#[derive(Debug)]
struct Trouble {
    said: String,
    failures: u64,
}

impl Troubles {
    /// Takes notice of an attempt, for a task if it is for one.
    pub(super) fn note<T, E: Display>(
        &mut self,
        task: Option<&StoredTask>,
        doing: Doing,
        done: &Result<T, E>,
    ) {
        let key = (task.map(StoredTask::key), doing);
        let task = task.map(|task| task.task().id());
        match done {
            Ok(_) => {
                if let Some(Trouble { failures, .. }) = self.0.remove(&key) {
                    tracing::warn!(task, failures, "{doing} works again");
                }
            }
            Err(error) => {
                let error = error.to_string();
                let trouble = self.0.entry(key).or_insert(Trouble {
                    said: String::new(),
                    failures: 0,
                });
                trouble.failures += 1;
                if trouble.said != error {
                    tracing::error!(task, error, "{doing} fails, and is tried again");
                    trouble.said = error;
                }
            }
        }
    }
}
