//! Logs an error that is repeated at every attempt once.

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
pub(super) struct RepeatedErrors(HashMap<(Option<TaskKey>, Doing), RepeatedError>);

#[derive(Debug)]
struct RepeatedError {
    said: String,
    failures: u64,
}

impl RepeatedErrors {
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
                if let Some(RepeatedError { failures, .. }) = self.0.remove(&key) {
                    tracing::warn!(task, failures, "{doing} works again");
                }
            }
            Err(error) => {
                let error = error.to_string();
                let repeated = self.0.entry(key).or_insert(RepeatedError {
                    said: String::new(),
                    failures: 0,
                });
                repeated.failures += 1;
                if repeated.said != error {
                    tracing::error!(task, error, "{doing} fails, and is tried again");
                    repeated.said = error;
                }
            }
        }
    }
}
