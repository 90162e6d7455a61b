//! Interface between the store and a storage engine.
//!
//! One thread owns an engine, and other threads read it. The store does everything else: queueing,
//! group commit, answering callers, counting and estimating. So another engine (or a failing one,
//! in tests) needs only these operations.
//!
//! Some engines let several processes share one storage ([`StorageReader::shared_storage`]). What
//! one process stores, closes or releases then holds for all processes.
//!
//! A task's uploads belong to its open batch, which is the last one. Closing it opens the next. A
//! closed batch is released once its totals are known. A released batch keeps its totals, its
//! reports in a new order, and the ids of its uploads. By its id, an upload that is sent again is
//! still recognised.

use std::any::Any;
#[cfg(feature = "postgres")]
use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;

#[cfg(feature = "postgres")]
use postgres::error::SqlState;
use serde::{Deserialize, Serialize};

use crate::left_out::LeftOut;

/// Key of a task within the engine. It is stable across restarts and never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKey(pub u64);

/// A task as it was first stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRow {
    /// Key within the engine.
    pub key: TaskKey,
    /// Id of the task (slug).
    pub id: String,
    /// Fingerprint of the complete parameters, 16 bytes.
    pub fingerprint: [u8; 16],
    /// Complete task as JSON.
    pub parameters: String,
    /// Role and settings of the task, as JSON.
    pub settings: String,
}

/// One upload on its way to the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadRecord {
    /// Upload id, unique per task.
    pub id: [u8; 16],
    /// Number of reports.
    pub reports: u32,
    /// Bytes of the upload that follow its id.
    pub body: Vec<u8>,
}

/// Outcome of one record that was passed to [`Engine::append`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadOutcome {
    /// The upload is new and is now on disk.
    Stored,
    /// An upload with this id is already stored. If its bytes are still kept, they are the same.
    Duplicate,
    /// Other bytes are already stored under this id. Nothing was changed.
    Conflict,
}

/// State of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BatchState {
    /// The batch takes reports.
    Open,
    /// The batch takes no more reports, and waits to be counted.
    Closed,
    /// The totals of the batch are known.
    Released,
}

/// A batch of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRow {
    /// Number of the batch, counted from 1 without gaps.
    pub number: u64,
    /// State of the batch.
    pub state: BatchState,
    /// Time of opening, in seconds since 1970.
    pub opened: u64,
    /// Time of closing, in seconds since 1970, or `None` while the batch is open.
    pub closed: Option<u64>,
    /// Number of reports.
    pub reports: u64,
    /// True while its reports are kept.
    pub kept: bool,
}

/// A task and its batches, oldest first.
pub(super) type TaskBatches = (TaskRow, Vec<BatchRow>);

/// Contents of a released batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Encoded totals.
    pub totals: Vec<u8>,
    /// Reports, regrouped into blocks that reveal nothing about the uploads in which they arrived.
    pub blocks: Vec<Vec<u8>>,
    /// Ids of the uploads in which the reports arrived.
    pub uploads: Vec<[u8; 16]>,
}

/// Failure of the storage engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A file or directory could not be used.
    #[error("{path}: {source}")]
    File {
        /// Path of the file or directory.
        path: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The operating system has no entropy.
    #[error("no random numbers: {0}")]
    Entropy(getrandom::Error),
    /// The data on disk differs from what was written.
    #[error("the journal is damaged: {0}")]
    Damaged(String),
    /// This build lacks a feature that the journal needs.
    #[error(transparent)]
    LeftOut(#[from] LeftOut),
    /// The database failed, or could not be reached.
    #[cfg(feature = "postgres")]
    #[error("the database: {}", message_with_causes(.0))]
    Database(#[from] postgres::Error),
    /// The database committed, but warned that the commit may be missing on a standby.
    #[error("the database has warned while it took a commit: {0}")]
    UnconfirmedCommit(String),
    /// The address of a database is invalid.
    #[error("{0}")]
    Address(String),
    /// The task was deleted.
    #[error("the task was deleted")]
    TaskDeleted,
    /// Another task already has this id.
    #[error("there is a task {0:?} already")]
    TaskExists(String),
    /// The journal was written by another version.
    #[error(
        "{path} has version {found}, this hushbin knows version {known}: use the hushbin that \
         wrote it"
    )]
    Version {
        /// Path of the file.
        path: String,
        /// Version found in the file.
        found: u64,
        /// Version that this program knows.
        known: u64,
    },
}

/// Returns the message of an error, followed by the messages of its causes.
#[cfg(feature = "postgres")]
fn message_with_causes(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let own = error.to_string();
        // Some messages already end with their cause.
        if !said.ends_with(&own) {
            said = format!("{said}: {own}");
        }
        cause = error.source();
    }
    said
}

/// Action by which an operator can remedy a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Make room: on the disk, in the quota, or in the limit on file sizes.
    Room,
    /// Give the collector permission to write there.
    Permission,
    /// Read the log.
    Other,
}

impl EngineError {
    /// Returns the action by which an operator can remedy the failure.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        use std::io::ErrorKind as Kind;
        match self {
            Self::File { source, .. } => match source.kind() {
                Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Remedy::Room,
                Kind::ReadOnlyFilesystem | Kind::PermissionDenied => Remedy::Permission,
                _ => Remedy::Other,
            },
            #[cfg(feature = "postgres")]
            Self::Database(source) => match source.code() {
                Some(&SqlState::DISK_FULL) => Remedy::Room,
                Some(&SqlState::READ_ONLY_SQL_TRANSACTION | &SqlState::INSUFFICIENT_PRIVILEGE) => {
                    Remedy::Permission
                }
                _ => Remedy::Other,
            },
            _ => Remedy::Other,
        }
    }
}

/// Durable storage of tasks and batches, owned by one thread.
pub trait Engine: Send {
    /// Returns all stored tasks, in the order in which they were stored.
    ///
    /// # Errors
    /// When storage fails.
    fn tasks(&self) -> Result<Vec<TaskRow>, EngineError>;

    /// Stores a task, durably, with an open batch. Ignores the key in `row` and returns the
    /// assigned key.
    ///
    /// # Errors
    /// When storage fails, or the id is taken.
    fn add_task(&mut self, row: TaskRow, now: u64) -> Result<TaskKey, EngineError>;

    /// Changes the role and settings of a task, durably.
    ///
    /// # Errors
    /// When storage fails.
    fn configure_task(&mut self, task: TaskKey, settings: &str) -> Result<(), EngineError>;

    /// Deletes a task and everything stored for it.
    ///
    /// # Errors
    /// When storage fails.
    fn remove_task(&mut self, task: TaskKey) -> Result<(), EngineError>;

    /// Returns the task's batches, oldest first. The last one is open.
    fn batches(&self, task: TaskKey) -> Vec<BatchRow>;

    /// Appends uploads to the task's open batch in one commit.
    ///
    /// # Guarantee
    /// On `Ok`, every record reported as [`UploadOutcome::Stored`] or
    /// [`UploadOutcome::Duplicate`] survives loss of power. On `Err`, the group may or may not be
    /// stored, since the answer of a remote storage can get lost. A record that was stored is
    /// recognised when it is sent again.
    ///
    /// # Errors
    /// When storage fails.
    fn append(
        &mut self,
        task: TaskKey,
        group: &[UploadRecord],
    ) -> Result<Vec<UploadOutcome>, EngineError>;

    /// Closes the task's open batch, durably, and opens the next one. If another process has
    /// already closed `batch`, returns that batch.
    ///
    /// # Errors
    /// When storage fails. The batch then stays open, or turns out to be closed at the next
    /// attempt.
    fn close_batch(&mut self, task: TaskKey, batch: u64, now: u64)
    -> Result<BatchRow, EngineError>;

    /// Updates the engine after [`StorageReader::release`] has written the task's oldest closed
    /// batch.
    ///
    /// # Errors
    /// When storage fails.
    fn settle_release(&mut self, task: TaskKey, batch: u64) -> Result<(), EngineError>;

    /// Checks that a write reaches the disk.
    ///
    /// # Errors
    /// When it does not.
    fn probe(&mut self) -> Result<(), EngineError>;

    /// Returns a reader for other threads. Its calls never wait for the owner.
    fn reader(&self) -> Arc<dyn StorageReader>;
}

/// Visitor of uploads, called with an id and a body.
pub type VisitUpload<'a> = dyn FnMut([u8; 16], &[u8]) -> ControlFlow<()> + 'a;

/// Reader of the storage, for any thread, independent of the owner.
pub trait StorageReader: Send + Sync {
    /// Visits the uploads of a batch that is not yet released, by id and body, until the
    /// visitor breaks.
    ///
    /// # Errors
    /// When storage fails.
    fn for_each_upload(
        &self,
        task: TaskKey,
        batch: u64,
        visit: &mut VisitUpload<'_>,
    ) -> Result<(), EngineError>;

    /// Stores the release of a closed batch durably, all or nothing. May be called again after an
    /// interrupted call.
    ///
    /// # Errors
    /// When storage fails.
    fn release(&self, task: TaskKey, batch: &BatchRow, release: Release)
    -> Result<(), EngineError>;

    /// Returns the encoded totals of a released batch.
    ///
    /// # Errors
    /// When storage fails.
    fn totals(&self, task: TaskKey, batch: u64) -> Result<Vec<u8>, EngineError>;

    /// Visits the blocks of reports of a released batch, until the visitor breaks.
    ///
    /// # Errors
    /// When storage fails.
    fn for_each_block(
        &self,
        task: TaskKey,
        batch: u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), EngineError>;

    /// Deletes the reports of a released batch, and keeps its totals.
    ///
    /// # Errors
    /// When storage fails.
    fn forget_reports(&self, task: TaskKey, batch: u64) -> Result<(), EngineError>;

    /// Returns the queries for shared storage, or `None` if only the owner writes to it.
    fn shared_storage(&self) -> Option<&dyn SharedStorage> {
        None
    }
}

/// Current state of a task in shared storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedTask {
    /// Key within the engine.
    pub key: TaskKey,
    /// Role and settings of the task, as JSON.
    pub settings: String,
    /// Batches, oldest first.
    pub batches: Vec<BatchRow>,
}

/// Claim to a batch, which keeps other processes from doing the same work. It lasts until it is
/// dropped or its process ends.
///
/// A claim saves work. Correctness does not depend on it: without claims, too, nothing is done
/// twice.
pub struct BatchClaim(
    #[expect(dead_code, reason = "it is there to be dropped")] Box<dyn Any + Send>,
);

impl BatchClaim {
    /// Creates a claim that holds `held` until it is dropped.
    pub fn new(held: impl Any + Send) -> Self {
        Self(Box::new(held))
    }
}

/// Queries for processes that share storage.
pub trait SharedStorage: Send + Sync {
    /// Returns all current tasks, in the order in which they were stored.
    ///
    /// # Errors
    /// When storage fails.
    fn tasks(&self) -> Result<Vec<SharedTask>, EngineError>;

    /// Returns a task, or `None` if it was deleted.
    ///
    /// # Errors
    /// When storage fails.
    fn task(&self, task: TaskKey) -> Result<Option<TaskRow>, EngineError>;

    /// Returns the task's current batches, oldest first. There are none if the task was deleted.
    ///
    /// # Errors
    /// When storage fails.
    fn batches(&self, task: TaskKey) -> Result<Vec<BatchRow>, EngineError>;

    /// Claims a batch. Returns `None` if another process holds the claim.
    ///
    /// # Errors
    /// When storage fails.
    fn claim(&self, task: TaskKey, batch: u64) -> Result<Option<BatchClaim>, EngineError>;
}
