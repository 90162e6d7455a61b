//! Logs an error only once if it repeats at every attempt.

use std::collections::HashMap;
use std::fmt::Display;

use super::engine::TaskKey;
use super::task::StoredTask;

/// Name of an action in the log.
pub(super) type Action = &'static str;

/// Attempts of the writer or releaser that fail at present. A full disk fails thousands of times a
/// second. The log gets a line when an attempt begins to fail or fails in another way. It gets
/// another line when the attempt works again.
#[derive(Debug, Default)]
pub(super) struct RepeatedErrors(HashMap<(Option<TaskKey>, Action), RepeatedError>);

#[derive(Debug)]
struct RepeatedError {
    message: String,
    failures: u64,
}

impl RepeatedErrors {
    /// Records the result of an attempt, with the task if the attempt concerns one.
    pub(super) fn record<T, E: Display>(
        &mut self,
        task: Option<&StoredTask>,
        action: Action,
        done: &Result<T, E>,
    ) {
        let key = (task.map(StoredTask::key), action);
        let task = task.map(|task| task.task().id());
        match done {
            Ok(_) => {
                if let Some(RepeatedError { failures, .. }) = self.0.remove(&key) {
                    tracing::warn!(task, failures, "{action} works again");
                }
            }
            Err(error) => {
                let error = error.to_string();
                let repeated = self.0.entry(key).or_insert(RepeatedError {
                    message: String::new(),
                    failures: 0,
                });
                repeated.failures += 1;
                if repeated.message != error {
                    tracing::error!(task, error, "{action} fails, and is tried again");
                    repeated.message = error;
                }
            }
        }
    }
}
