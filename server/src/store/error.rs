//! Why a store cannot be opened, and why it did not do what it was asked.

use std::sync::Arc;

use super::engine::EngineError;
use super::role::Role;
use super::settings::SettingsError;

/// A reason why a data directory cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the directory.
    #[error("{path} is in use by another hushbin process")]
    Locked {
        /// The directory.
        path: String,
    },
    /// The storage engine refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
    /// A task file says something invalid.
    #[error("task {id:?} is invalid: {source}")]
    InvalidTask {
        /// Its id.
        id: String,
        /// What is wrong.
        source: hushbin::Error,
    },
    /// A task file contradicts the task stored under its id.
    #[error(
        "task {id:?} cannot change while it runs: {source}; \
         give the changed task another id, or the task file its old parameters"
    )]
    TaskDiffers {
        /// Its id.
        id: String,
        /// The difference.
        source: hushbin::Error,
    },
    /// A task cannot be collected as it is said.
    #[error("task {id:?}: {source}")]
    Settings {
        /// Its id.
        id: String,
        /// What is wrong.
        source: SettingsError,
    },
    /// A task is there already.
    #[error("there is a task {id:?} already")]
    TaskThere {
        /// Its id.
        id: String,
    },
    /// A stored task means something else to this program than it meant to the one that stored it.
    #[error("task {id:?} of the journal cannot be used: {reason}")]
    StoredTask {
        /// Its id.
        id: String,
        /// What is wrong.
        reason: String,
    },
    /// A stored upload does not decode.
    #[error("the journal holds an upload of task {id:?} that is not one: {source}")]
    StoredUpload {
        /// The task's id.
        id: String,
        /// What is wrong.
        source: hushbin::Error,
    },
    /// A task was stored by a process of another role.
    #[error("task {id:?} was stored with --role {found}, expected {expected}")]
    Role {
        /// Id of the task.
        id: String,
        /// Role that stored the task.
        found: Role,
        /// Role of this process.
        expected: Role,
    },
    /// Nobody would hide whose messages are whose.
    #[error(
        "task {id:?} is hidden by a shuffler alone, and this collector takes what pages send \
         unshuffled: collect it with `hushbin serve --role shuffler` and `--role analyser`"
    )]
    NeedsShuffler {
        /// The task's id.
        id: String,
    },
    /// Of a task's messages nothing but counts is kept.
    #[error(
        "task {id:?} is of sums through a shuffler, of which an analyser keeps counts and no \
         reports"
    )]
    Sums {
        /// The task's id.
        id: String,
    },
    /// The reports are sealed for somebody else.
    #[error("the reports of task {id:?} are sealed: its analyser can read them")]
    Sealed {
        /// The task's id.
        id: String,
    },
    /// A task that the journal does not have.
    #[error("the journal has no task {id:?}, but {}", quoted(there))]
    UnknownTask {
        /// What was asked for.
        id: String,
        /// Those that it has.
        there: Vec<String>,
    },
    /// What is stored of a batch's totals is not that.
    #[error("the totals of batch {batch} of task {id:?} cannot be used: {reason}")]
    StoredTotals {
        /// The task's id.
        id: String,
        /// The batch.
        batch: u64,
        /// What is wrong.
        reason: String,
    },
    /// The reports of a batch are no longer kept.
    #[error("the reports of batch {batch} of task {id:?} are no longer kept, its totals are")]
    ReportsGone {
        /// The task's id.
        id: String,
        /// The batch.
        batch: u64,
    },
    /// The store is closing or has closed.
    #[error("the store is closed")]
    Closed,
    /// The store was opened to be read only.
    #[error("the journal is served read-only")]
    ReadOnly,
    /// A task that the journal does not have, and cannot be added to it.
    #[error("task {id:?} is not in the journal, which is served read-only")]
    NotStored {
        /// Its id.
        id: String,
    },
    /// There is nothing to collect.
    #[error("no task: the journal holds none and no task file was given")]
    NoTasks,
}

fn quoted(ids: &[String]) -> String {
    let quoted: Vec<String> = ids.iter().map(|id| format!("{id:?}")).collect();
    match &quoted[..] {
        [] => "none".to_owned(),
        _ => quoted.join(", "),
    }
}

/// A reason why the store did not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The queue is full; nothing was kept.
    #[error("too many uploads are waiting")]
    Overloaded,
    /// The store is closing or has closed.
    #[error("the store is closed")]
    Closed,
    /// The store was opened to be read only.
    #[error("the journal is served read-only")]
    ReadOnly,
    /// The open batch has too few reports to be closed.
    #[error("the open batch has {have} reports, and is closed with {need} at least")]
    BatchTooSmall {
        /// How many reports it has.
        have: u64,
        /// How many it needs.
        need: u64,
    },
    /// The task was deleted meanwhile.
    #[error("task {id:?} was deleted")]
    Removed {
        /// Its id.
        id: String,
    },
    /// The storage engine failed; nothing was kept.
    #[error("storage failed: {0}")]
    Failed(Arc<EngineError>),
}

impl StoreError {
    /// An engine's, about the task of this id.
    pub(super) fn of(error: EngineError, id: &str) -> Self {
        match error {
            EngineError::NoTask => Self::Removed { id: id.to_owned() },
            error => Self::failed(error),
        }
    }

    pub(super) fn failed(error: EngineError) -> Self {
        Self::Failed(Arc::new(error))
    }
}
