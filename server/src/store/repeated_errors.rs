//! Logging of repeated errors: an error that occurs at every attempt is logged only once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;

use super::engine::TaskKey;
use super::task::StoredTask;

/// Name of an action in the log.
pub(super) type ActionName = &'static str;

/// Actions of the writer or releaser that currently fail. With a full disk, an action may fail
/// thousands of times a second. The log gets a line when an action begins to fail, or fails with a
/// different error. It gets another line when the action works again.
#[derive(Debug, Default)]
pub(crate) struct RepeatedErrors(HashMap<(Option<TaskKey>, Cow<'static, str>), FailureStreak>);

/// Last error of an action, and the number of failures since the action last worked.
#[derive(Debug)]
struct FailureStreak {
    message: String,
    failures: u64,
}

impl RepeatedErrors {
    /// Records the result of an attempt at `action`. `task` is the task that the attempt concerns,
    /// if any.
    pub(crate) fn record<T, E: Display>(
        &mut self,
        task: Option<&StoredTask>,
        action: impl Into<Cow<'static, str>>,
        done: &Result<T, E>,
    ) {
        let key = (task.map(StoredTask::key), action.into());
        let task = task.map(|task| task.task().id());
        match done {
            Ok(_) => {
                if let Some(FailureStreak { failures, .. }) = self.0.remove(&key) {
                    tracing::warn!(task, failures, "{} works again", key.1);
                }
            }
            Err(error) => {
                let error = error.to_string();
                let action = key.1.clone();
                let repeated = self.0.entry(key).or_insert(FailureStreak {
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
