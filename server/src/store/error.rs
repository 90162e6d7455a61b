//! Errors of opening a store and of its operations.

use std::sync::Arc;

use super::engine::EngineError;
use super::role::ProcessRole;
use super::settings::TaskSettingsError;
use super::shuffled_block::BlockError;

/// Error of opening a journal, or of reading from it.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process holds the lock of the directory.
    #[error("{path} is in use by another hushbin process; stop that first")]
    Locked {
        /// Path of the directory.
        path: String,
    },
    /// The storage engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
    /// A task file is invalid.
    #[error("task {id:?} is invalid: {source}")]
    InvalidTask {
        /// Id of the task.
        id: String,
        /// Reason that the task is invalid.
        source: hushbin::Error,
    },
    /// A task file contradicts the task stored under its id.
    #[error(
        "task {id:?} can never change once it is stored: {source}; \
         give the changed task another id, or the task file its old parameters"
    )]
    TaskDiffers {
        /// Id of the task.
        id: String,
        /// Difference between the task file and the stored task.
        source: hushbin::Error,
    },
    /// The settings of a task are invalid.
    #[error("task {id:?}: {source}")]
    Settings {
        /// Id of the task.
        id: String,
        /// Setting that is out of range.
        source: TaskSettingsError,
    },
    /// A task with this id is already stored.
    #[error("there is a task {id:?} already")]
    TaskExists {
        /// Id of the task.
        id: String,
    },
    /// A stored task is unreadable, or the fingerprint of its parameters differs from the stored
    /// fingerprint.
    #[error("task {id:?} of the journal cannot be used: {reason}")]
    StoredTask {
        /// Id of the task.
        id: String,
        /// Reason that the task cannot be used.
        reason: String,
    },
    /// A stored upload cannot be decoded.
    #[error("the journal contains an invalid upload of task {id:?}: {source}")]
    StoredUpload {
        /// Id of the task.
        id: String,
        /// Reason that the upload cannot be decoded.
        source: hushbin::Error,
    },
    /// Bytes that should be a report are not.
    #[error("expected one report of task {id:?}: {source}")]
    InvalidReport {
        /// Id of the task.
        id: String,
        /// Reason that the bytes are not a report.
        source: hushbin::Error,
    },
    /// Bytes that should be a report are a whole upload.
    #[error(
        "the bytes are a whole upload of task {id:?}, expected one report: in an upload with one \
         report, these are the bytes after the first {header_length}, which the history of a page \
         names \"the report with its noise\""
    )]
    WholeUpload {
        /// Id of the task.
        id: String,
        /// Number of bytes before the first report.
        header_length: usize,
    },
    /// A task was stored by a process whose role is not that of this process.
    #[error("task {id:?} was stored with --role {found}, expected {expected}")]
    WrongRole {
        /// Id of the task.
        id: String,
        /// Role that stored the task.
        found: ProcessRole,
        /// Role of this process.
        expected: ProcessRole,
    },
    /// A collector was given a task of sums. Such a task needs a shuffler, which hides who sent
    /// which message.
    #[error(
        "task {id:?} needs a shuffler, but a plain collector receives messages unshuffled: run \
         `hushbin serve --role shuffler` and `--role analyser`"
    )]
    NeedsShuffler {
        /// Id of the task.
        id: String,
    },
    /// The task is a task of sums. The journal keeps counts of its messages, but no reports.
    #[error("task {id:?} is a task of sums: an analyser keeps only its counts, not its reports")]
    UnexpectedSumTask {
        /// Id of the task.
        id: String,
    },
    /// The reports are sealed, and only the task's analyser can read them.
    #[error("the reports of task {id:?} are sealed: only its analyser can read them")]
    Sealed {
        /// Id of the task.
        id: String,
    },
    /// The journal does not have the requested task.
    #[error("the journal has no task {id:?}; its tasks: {}", quote_ids(known))]
    UnknownTask {
        /// Id that was requested.
        id: String,
        /// Ids of the tasks in the journal.
        known: Vec<String>,
    },
    /// The file of a released batch is damaged or missing, or its contents are invalid.
    #[error("batch {batch} of task {id:?} cannot be used: {reason}")]
    DamagedBatch {
        /// Id of the task.
        id: String,
        /// Number of the batch.
        batch: u64,
        /// Reason that the batch cannot be used.
        reason: String,
    },
    /// The reports of a batch are no longer kept.
    #[error("the reports of batch {batch} of task {id:?} are deleted; only its totals are kept")]
    ReportsDeleted {
        /// Id of the task.
        id: String,
        /// Number of the batch.
        batch: u64,
    },
    /// The store is closing or has closed.
    #[error("the store is closed")]
    Closed,
    /// The store was opened read-only.
    #[error("the journal is served read-only")]
    ReadOnly,
    /// The journal lacks the task, which cannot be added because the store is read-only.
    #[error("task {id:?} is not in the journal, which is served read-only")]
    TaskNotInReadOnlyJournal {
        /// Id of the task.
        id: String,
    },
    /// The journal has no task, and no task file was given.
    #[error("no task: the journal has none and no task file is given")]
    NoTasks,
}

fn quote_ids(ids: &[String]) -> String {
    let quoted: Vec<String> = ids.iter().map(|id| format!("{id:?}")).collect();
    match &quoted[..] {
        [] => "none".to_owned(),
        _ => quoted.join(", "),
    }
}

/// Reason that the store did not carry out a request.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The queue is full. Nothing was stored.
    #[error("too many uploads are waiting")]
    Overloaded,
    /// The open batch has more reports than its age allows. Nothing was stored.
    #[error("the open batch fills too fast for its minimum time")]
    BatchFillsTooFast,
    /// The store is closing or has closed.
    #[error("the store is closed")]
    Closed,
    /// The storage has not answered in time. It may answer later.
    #[error("the journal does not answer")]
    NoAnswer,
    /// The store was opened read-only.
    #[error("the journal is served read-only")]
    ReadOnly,
    /// The open batch has too few reports to be closed.
    #[error("the open batch has {reports} reports; it needs at least {min_reports} to be closed")]
    TooFewReportsToClose {
        /// Number of reports in the open batch.
        reports: u64,
        /// Minimum number of reports for closing the batch.
        min_reports: u64,
    },
    /// Blocks of a shuffled batch are still to come into the open batch.
    #[error("the open batch has the first blocks of a shuffled batch, and the rest is to come")]
    ShuffledBatchIncomplete,
    /// A block contradicts what is stored. Nothing was stored.
    #[error(transparent)]
    InvalidBlock(#[from] BlockError),
    /// The task has been deleted.
    #[error("task {id:?} was deleted")]
    TaskDeleted {
        /// Id of the task.
        id: String,
    },
    /// The storage engine failed. An upload may be sent again without being counted twice.
    #[error("storage failed: {0}")]
    Failed(Arc<EngineError>),
}

impl StoreError {
    /// Converts an error that an engine returned for the task with this id.
    pub(super) fn from_engine_error(error: EngineError, id: &str) -> Self {
        match error {
            EngineError::TaskDeleted => Self::TaskDeleted { id: id.to_owned() },
            error => Self::from_storage_failure(error),
        }
    }

    pub(super) fn from_storage_failure(error: EngineError) -> Self {
        Self::Failed(Arc::new(error))
    }
}
