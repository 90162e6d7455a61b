//! Interface between the store and a storage engine.
//!
//! One thread owns an engine. Other threads read the engine's storage. The store does everything
//! else: queueing, group commit, answering callers, counting and estimating. So a new engine (or,
//! in tests, a failing engine) needs only these operations.
//!
//! Some engines let several processes share one storage ([`StorageReader::shared_storage`]). Then
//! all processes see the tasks, uploads and batches that one process has stored, closed or
//! released.
//!
//! New uploads of a task go to its open batch, which is its last batch. Closing this batch opens
//! the next batch. A closed batch is released once its totals are known. A released batch keeps its
//! totals, its reports in a new order, and the ids of its uploads. With these ids, the engine still
//! recognises an upload that is sent again.

use std::any::Any;
#[cfg(feature = "postgres")]
use std::error::Error;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "postgres")]
use postgres::error::SqlState;
use serde::{Deserialize, Serialize};

use super::sealed_blocks::SealedBlocks;
use super::task_log::{ListedTask, TaskLogEntry};
use crate::missing_feature::MissingFeature;

/// Key of a task within the engine. It is stable across restarts and never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKey(pub u64);

/// A task as it was first stored, except that its settings may have changed.
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
    /// Role of the process that collects the task, and settings of the task, as JSON.
    pub settings: String,
}

impl TaskRow {
    /// Returns what the task log says of the task.
    pub(super) fn to_listed_task(&self) -> ListedTask {
        (self.id.clone(), self.fingerprint)
    }
}

/// Upload that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadRecord {
    /// Upload id, unique per task.
    pub id: [u8; 16],
    /// Number of reports in the upload. In a task of sums, the messages of one person count as one
    /// report.
    pub report_count: u32,
    /// Bytes of the encoded upload that follow the upload id.
    pub body: Vec<u8>,
}

/// Uploads of one task that are to be stored in one commit.
#[derive(Debug, Clone, Copy)]
pub struct UploadGroup<'a> {
    /// Key of the task.
    pub task: TaskKey,
    /// Uploads, in the order of arrival.
    pub records: &'a [UploadRecord],
}

/// Outcome of one record that was passed to [`StorageEngine::append_uploads`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadOutcome {
    /// The upload is new and is now on disk.
    Stored,
    /// An upload with this id is already stored. If the stored bytes are still kept, they equal the
    /// new bytes.
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
    /// The totals of the batch are stored and can be read.
    Released,
}

/// State of one batch of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRow {
    /// Number of the batch, counted from 1 without gaps.
    pub number: u64,
    /// State of the batch.
    pub state: BatchState,
    /// Time of opening, in seconds since 1970.
    pub opened_at: u64,
    /// Time of closing, in seconds since 1970, or `None` while the batch is open.
    pub closed_at: Option<u64>,
    /// Number of reports in the batch.
    pub report_count: u64,
    /// True while the batch's reports are kept. They may be deleted after the release.
    pub reports_kept: bool,
}

/// A task and its batches, the oldest batch first.
pub(super) type TaskWithBatches = (TaskRow, Vec<BatchRow>);

/// Contents of a released batch.
#[derive(Debug, Clone)]
pub struct BatchRelease {
    /// Encoded totals. An analyser appends the origins of the reports. A shuffler has no totals, so
    /// the bytes are empty.
    pub totals: Vec<u8>,
    /// Blocks of reports, which do not reveal which reports arrived in the same upload. Empty for a
    /// task of sums, whose messages are not kept.
    pub blocks: ReleasedBlocks,
    /// Ids of the uploads in which the reports arrived.
    pub upload_ids: Vec<[u8; 16]>,
}

/// Blocks of a released batch.
#[derive(Debug, Clone)]
pub enum ReleasedBlocks {
    /// Blocks that are in memory.
    InMemory(Vec<Vec<u8>>),
    /// Blocks of sealed reports, which are made one by one.
    Sealed(Arc<SealedBlocks>),
}

impl ReleasedBlocks {
    /// Returns the length of each block in bytes.
    #[must_use]
    pub fn lengths(&self) -> Vec<u32> {
        match self {
            Self::InMemory(blocks) => blocks.iter().map(|block| block.len() as u32).collect(),
            Self::Sealed(blocks) => blocks.lengths(),
        }
    }

    /// Visits the blocks in order, until the visitor fails.
    ///
    /// # Errors
    /// When a temporary file cannot be read, or when the visitor fails.
    pub fn for_each_block<E: From<io::Error>>(
        &self,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::InMemory(blocks) => blocks.iter().try_for_each(|block| visit(block)),
            Self::Sealed(blocks) => blocks.for_each_block(visit),
        }
    }

    /// Returns all blocks.
    #[cfg(test)]
    pub(super) fn to_vec(&self) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        let visit = &mut |block: &[u8]| {
            all.push(block.to_vec());
            Ok::<_, io::Error>(())
        };
        self.for_each_block(visit)
            .expect("temporary files can be read");
        all
    }
}

/// Failure of the storage engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A file or directory could not be used.
    #[error("{path}: {source}")]
    FileAccess {
        /// Path of the file or directory.
        path: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A temporary file, in which a batch is sorted, could not be used.
    #[error("a batch could not be sorted on the disk: {0}")]
    Sorting(#[from] io::Error),
    /// The operating system has no entropy.
    #[error("the system gives no random numbers: {0}")]
    NoRandomNumbers(getrandom::Error),
    /// The data on disk differs from what was written.
    #[error("the journal is damaged: {0}")]
    Damaged(String),
    /// This build lacks a feature that the journal needs.
    #[error(transparent)]
    MissingFeature(#[from] MissingFeature),
    /// The database failed, or could not be reached.
    #[cfg(feature = "postgres")]
    #[error("the database failed: {}", message_with_causes(.0))]
    Database(#[from] postgres::Error),
    /// The database did not answer in time, or could not be reached a moment ago.
    #[error("{0}")]
    DatabaseUnreachable(String),
    /// The database committed, but warned that the commit may be missing on a standby.
    #[error("the database committed, but a synchronous standby may lack the commit: {0}")]
    CommitMaybeUnreplicated(String),
    /// The address of a database is invalid.
    #[error("{0}")]
    InvalidAddress(String),
    /// The task was deleted.
    #[error("the task was deleted")]
    TaskDeleted,
    /// Another task already has this id.
    #[error("there is a task {0:?} already")]
    TaskExists(String),
    /// The directory holds no journal.
    #[error(
        "no journal in {path}: if a volume should be mounted there, mount it; to begin a new \
         journal, run hushbin journal create --data {path}"
    )]
    NoJournal {
        /// Path of the directory.
        path: String,
    },
    /// The directory in which a journal shall begin already holds one.
    #[error("{path} already holds a journal, expected a directory without one")]
    JournalExists {
        /// Path of the directory.
        path: String,
    },
    /// A file was removed, replaced or changed while this process runs.
    #[error("{path} was removed, replaced or changed while the collector runs ({cause}): {remedy}")]
    FileReplaced {
        /// Path of the file.
        path: String,
        /// Change that was found, or error of reading the file.
        cause: String,
        /// Action by which an operator can remedy it.
        remedy: &'static str,
    },
    /// The journal was written by another version.
    #[error(
        "{path} has version {found}, this hushbin supports version {known}: use the hushbin \
         version that wrote it"
    )]
    UnsupportedVersion {
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
pub(super) fn message_with_causes(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let own = error.to_string();
        // Some messages already end with the cause.
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
    FreeSpace,
    /// Give the collector permission to write there.
    Permission,
    /// Make the database reachable. The collector reconnects automatically.
    RestoreConnection,
    /// Read the log. The cause is neither missing room nor a missing permission.
    ReadCollectorLog,
}

impl EngineError {
    /// Returns the action by which an operator can remedy the failure.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        use std::io::ErrorKind as Kind;
        match self {
            Self::FileAccess { source, .. } => match source.kind() {
                Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Remedy::FreeSpace,
                Kind::ReadOnlyFilesystem | Kind::PermissionDenied => Remedy::Permission,
                _ => Remedy::ReadCollectorLog,
            },
            #[cfg(feature = "postgres")]
            Self::Database(source) => match source.code() {
                Some(&SqlState::DISK_FULL) => Remedy::FreeSpace,
                Some(&SqlState::READ_ONLY_SQL_TRANSACTION | &SqlState::INSUFFICIENT_PRIVILEGE) => {
                    Remedy::Permission
                }
                // Connections fail without a code. The codes are those of servers that stop or
                // start, and of locks of a node that was cut off a moment ago.
                None
                | Some(
                    &SqlState::ADMIN_SHUTDOWN
                    | &SqlState::CRASH_SHUTDOWN
                    | &SqlState::CANNOT_CONNECT_NOW
                    | &SqlState::LOCK_NOT_AVAILABLE,
                ) => Remedy::RestoreConnection,
                _ => Remedy::ReadCollectorLog,
            },
            Self::DatabaseUnreachable(_) | Self::CommitMaybeUnreplicated(_) => {
                Remedy::RestoreConnection
            }
            _ => Remedy::ReadCollectorLog,
        }
    }
}

/// Durable storage of tasks and batches, owned by one thread.
pub trait StorageEngine: Send {
    /// Returns all stored tasks, in the order in which they were stored.
    ///
    /// # Errors
    /// When storage fails.
    fn tasks(&self) -> Result<Vec<TaskRow>, EngineError>;

    /// Stores a task, durably, with an open batch. Ignores the key in `row`, and returns the key
    /// that it assigns. `now` is the batch's time of opening, in seconds since 1970.
    ///
    /// # Errors
    /// When storage fails, or the id is taken.
    fn add_task(&mut self, row: TaskRow, now: u64) -> Result<TaskKey, EngineError>;

    /// Replaces the JSON text of a task's role and settings ([`TaskRow::settings`]), durably.
    ///
    /// # Errors
    /// When storage fails.
    fn configure_task(&mut self, task: TaskKey, settings: &str) -> Result<(), EngineError>;

    /// Deletes a task and everything stored for it.
    ///
    /// # Errors
    /// When storage fails.
    fn remove_task(&mut self, task: TaskKey) -> Result<(), EngineError>;

    /// Appends the entries that the task log lacks for the stored tasks, durably, and returns all
    /// entries. `now` is the time of the new entries, in seconds since 1970.
    ///
    /// # Errors
    /// When storage fails, or the log is damaged.
    fn complete_task_log(&mut self, now: u64) -> Result<Vec<TaskLogEntry>, EngineError>;

    /// Returns the task's batches, oldest first. The last batch is open. The result is empty if
    /// there is no such task.
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
    fn append_uploads(
        &mut self,
        task: TaskKey,
        group: &[UploadRecord],
    ) -> Result<Vec<UploadOutcome>, EngineError>;

    /// Appends uploads of several tasks, each group to the open batch of its task. Returns one result
    /// for each group, as [`StorageEngine::append_uploads`] does. No task occurs twice.
    fn append_upload_groups(
        &mut self,
        groups: &[UploadGroup<'_>],
    ) -> Vec<Result<Vec<UploadOutcome>, EngineError>> {
        let own = |group: &UploadGroup<'_>| self.append_uploads(group.task, group.records);
        groups.iter().map(own).collect()
    }

    /// Returns the bodies of the uploads in the task's open batch whose id begins with
    /// [`BLOCK_ID_PREFIX`](super::BLOCK_ID_PREFIX), and that have the length of a block's record.
    ///
    /// # Errors
    /// When storage fails.
    fn open_block_bodies(&mut self, task: TaskKey) -> Result<Vec<Vec<u8>>, EngineError>;

    /// Closes the task's open batch, durably, and opens the next one. If another process has
    /// already closed `batch`, returns that batch.
    ///
    /// # Errors
    /// When storage fails. The batch then stays open, or turns out to be closed at the next
    /// attempt.
    fn close_batch(&mut self, task: TaskKey, batch: u64, now: u64)
    -> Result<BatchRow, EngineError>;

    /// Brings the engine up to date after [`StorageReader::store_release`] or
    /// [`StorageReader::delete_reports`] has changed a batch in the storage.
    ///
    /// # Errors
    /// When storage fails.
    fn refresh_changed_batch(&mut self, task: TaskKey, batch: u64) -> Result<(), EngineError>;

    /// Checks that a write reaches the disk, and that at least one of the tasks, if there are any,
    /// can take uploads.
    ///
    /// # Errors
    /// When uploads would be refused.
    fn probe_write(&mut self) -> Result<(), EngineError>;

    /// Checks the files that no other process may remove or change while the engine is open.
    /// Returns the name of each file with the result.
    fn check_own_files(&mut self) -> Vec<(&'static str, Result<(), EngineError>)> {
        Vec::new()
    }

    /// Returns a reader for other threads. Calls to the reader never wait for the thread that owns
    /// the engine.
    fn reader(&self) -> Arc<dyn StorageReader>;
}

/// Visitor of uploads. It is called with the id and the body of an upload, and may stop the visit.
pub type UploadVisitor<'a> = dyn FnMut([u8; 16], &[u8]) -> ControlFlow<()> + 'a;

/// Change of one block of reports. Returns the new bytes, or `None` if the block stays.
pub type BlockChange<'a> = dyn FnMut(&[u8]) -> Option<Vec<u8>> + 'a;

/// Reader of an engine's storage. Any thread may use it, independently of the thread that owns the
/// engine.
pub trait StorageReader: Send + Sync {
    /// Returns the entries of the task log after the entry with this number.
    ///
    /// # Errors
    /// When storage fails, or the log is damaged.
    fn task_log_after(&self, number: u64) -> Result<Vec<TaskLogEntry>, EngineError>;

    /// Visits the id and the body of each upload in an unreleased batch, until the visitor breaks.
    ///
    /// # Errors
    /// When storage fails.
    fn for_each_upload(
        &self,
        task: TaskKey,
        batch: u64,
        visit: &mut UploadVisitor<'_>,
    ) -> Result<(), EngineError>;

    /// Returns a directory for temporary files, which may be as large as a batch.
    fn temporary_directory(&self) -> PathBuf;

    /// Stores the release of a closed batch durably, all or nothing. May be called again after an
    /// interrupted call.
    ///
    /// # Errors
    /// When storage fails.
    fn store_release(
        &self,
        task: TaskKey,
        batch: &BatchRow,
        release: BatchRelease,
    ) -> Result<(), EngineError>;

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
    fn delete_reports(&self, task: TaskKey, batch: u64) -> Result<(), EngineError>;

    /// Replaces the first block of a released batch for which `change` returns new bytes, durably.
    /// Empty bytes delete the block. The totals stay. Returns true if a block was replaced. May call
    /// `change` again for the same blocks.
    ///
    /// # Errors
    /// When storage fails.
    fn change_block(
        &self,
        task: TaskKey,
        batch: u64,
        change: &mut BlockChange<'_>,
    ) -> Result<bool, EngineError>;

    /// Returns the queries for storage that several processes share, or `None` if only one process
    /// writes to the storage.
    fn shared_storage(&self) -> Option<&dyn SharedStorage> {
        None
    }
}

/// Current state of a task in shared storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedTask {
    /// Key within the engine.
    pub key: TaskKey,
    /// Role of the process that collects the task, and settings of the task, as JSON.
    pub settings: String,
    /// Batches, oldest first.
    pub batches: Vec<BatchRow>,
}

/// Claim to a batch. It keeps other processes from counting or sending the batch as well. The claim
/// lasts until it is dropped or its process ends.
///
/// Claims only save work. Even without claims, each batch would take effect only once.
pub struct BatchClaim(
    #[expect(dead_code, reason = "it is there to be dropped")] Box<dyn Any + Send>,
);

impl BatchClaim {
    /// Creates a claim that owns `held`, for example a lock. Dropping the claim drops `held`.
    pub fn new(held: impl Any + Send) -> Self {
        Self(Box::new(held))
    }
}

/// Queries for tasks and batches that other processes may have changed in shared storage.
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

    /// Returns the task's current batches, oldest first. The result is empty if the task was
    /// deleted.
    ///
    /// # Errors
    /// When storage fails.
    fn batches(&self, task: TaskKey) -> Result<Vec<BatchRow>, EngineError>;

    /// Claims a batch. Returns `None` if another process holds the claim.
    ///
    /// # Errors
    /// When storage fails.
    fn claim_batch(&self, task: TaskKey, batch: u64) -> Result<Option<BatchClaim>, EngineError>;
}
