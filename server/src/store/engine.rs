//! What the store asks of a storage engine.
//!
//! An engine is owned by one thread, and read by others; queueing, group commit, answering
//! callers, counting and estimating are the store's business, so that another engine (or a
//! failing one, in tests) needs these operations only.
//!
//! Several processes may share the storage of some engines, which then says so
//! ([`Reader::shared`]): what one of them stores, closes and releases holds for all.
//!
//! A task's uploads belong to its open batch, which is the last. Closing it opens another. A closed
//! batch is released once its totals are known: what is kept of it then are totals, reports in an
//! order of their own, and the ids of its uploads, so that one that is sent again is still known.

use std::any::Any;
#[cfg(feature = "postgres")]
use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;

#[cfg(feature = "postgres")]
use postgres::error::SqlState;
use serde::{Deserialize, Serialize};

use crate::left_out::LeftOut;

/// The engine's own name for a task, stable across restarts, and never given to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKey(pub u64);

/// A task as it was stored on first sight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRow {
    /// The engine's key.
    pub key: TaskKey,
    /// The task's id (slug).
    pub id: String,
    /// Fingerprint of the complete parameters, 16 bytes.
    pub fingerprint: [u8; 16],
    /// The complete task as JSON.
    pub parameters: String,
    /// How it is collected, as JSON.
    pub settings: String,
}

/// One upload on its way to the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Upload id, unique per task.
    pub upload: [u8; 16],
    /// How many reports it has.
    pub reports: u32,
    /// What follows the id in the upload's bytes.
    pub body: Vec<u8>,
}

/// The fate of a record that was handed to [`Engine::append`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is new and now on disk.
    Stored,
    /// An upload of this id is held already; where its bytes are still known, by the same.
    Duplicate,
    /// Other bytes are held under this id; nothing was changed.
    Conflict,
}

/// What a batch is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BatchState {
    /// It takes reports.
    Open,
    /// It takes no more, and is to be counted.
    Closed,
    /// Its totals are known.
    Released,
}

/// A batch of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRow {
    /// From 1 on, without gaps.
    pub number: u64,
    /// What it is waiting for.
    pub state: BatchState,
    /// When it was opened, in seconds since 1970.
    pub opened: u64,
    /// When it was closed; undefined while it is open.
    pub closed: Option<u64>,
    /// How many reports it holds.
    pub reports: u64,
    /// Whether its reports are kept.
    pub kept: bool,
}

/// A task, and its batches, oldest first.
pub(super) type TaskBatches = (TaskRow, Vec<BatchRow>);

/// What a closed batch is released with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Its encoded totals.
    pub totals: Vec<u8>,
    /// Its reports, in uploads of their own that tell nothing of those which they came in.
    pub blocks: Vec<Vec<u8>>,
    /// Ids of the uploads that they came in.
    pub uploads: Vec<[u8; 16]>,
}

/// A failure of the storage engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A file or directory could not be used.
    #[error("{path}: {source}")]
    File {
        /// What was touched.
        path: String,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// The operating system has no entropy.
    #[error("no random numbers: {0}")]
    Entropy(getrandom::Error),
    /// What is on the disk is not what was written there.
    #[error("the journal is damaged: {0}")]
    Damaged(String),
    /// This hushbin was compiled without what the journal needs.
    #[error(transparent)]
    LeftOut(#[from] LeftOut),
    /// The database failed, or could not be reached.
    #[cfg(feature = "postgres")]
    #[error("the database: {}", said(.0))]
    Database(#[from] postgres::Error),
    /// The database took a commit, and has warned that it may not be everywhere where it is to be.
    #[error("the database has warned while it took a commit: {0}")]
    Unsure(String),
    /// An address of a database that is none.
    #[error("{0}")]
    Address(String),
    /// The task was deleted.
    #[error("the task was deleted")]
    NoTask,
    /// There is another task of this id.
    #[error("there is a task {0:?} already")]
    TaskThere(String),
    /// The journal was written by another version.
    #[error(
        "{path} has version {found}, this hushbin knows version {known}: use the hushbin that \
         wrote it"
    )]
    Version {
        /// The file.
        path: String,
        /// Its version.
        found: u64,
        /// The version that this program knows.
        known: u64,
    },
}

/// What an error says with all that it was caused by.
#[cfg(feature = "postgres")]
fn said(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let own = error.to_string();
        // Some say their cause already.
        if !said.ends_with(&own) {
            said = format!("{said}: {own}");
        }
        cause = error.source();
    }
    said
}

/// What an operator can do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Make room: the disk, the quota, or the largest file that the process may have.
    Room,
    /// Let the collector write there.
    Permission,
    /// Look into the log.
    Other,
}

impl EngineError {
    /// What an operator can do about it.
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

/// Durable storage of tasks and their batches, for one owner.
pub trait Engine: Send {
    /// All stored tasks, in the order in which they were stored.
    ///
    /// # Errors
    /// When storage fails.
    fn tasks(&self) -> Result<Vec<TaskRow>, EngineError>;

    /// Stores a task, durably, with an open batch; whatever key the row has, the answer is the
    /// one that it is stored under.
    ///
    /// # Errors
    /// When storage fails, or the id is taken.
    fn add_task(&mut self, row: TaskRow, now: u64) -> Result<TaskKey, EngineError>;

    /// Changes how a task is collected, durably.
    ///
    /// # Errors
    /// When storage fails.
    fn configure_task(&mut self, task: TaskKey, settings: &str) -> Result<(), EngineError>;

    /// Deletes a task and everything that was stored for it.
    ///
    /// # Errors
    /// When storage fails.
    fn remove_task(&mut self, task: TaskKey) -> Result<(), EngineError>;

    /// The task's batches, oldest first; the last is open.
    fn batches(&self, task: TaskKey) -> Vec<BatchRow>;

    /// Appends uploads to the task's open batch in one commit.
    ///
    /// # Guarantee
    /// On `Ok`, every record reported as [`Outcome::Stored`] or [`Outcome::Duplicate`] survives
    /// loss of power. On `Err` nothing is said of the group: where storage is elsewhere it may
    /// have been stored all the same, and is known then when it comes again.
    ///
    /// # Errors
    /// When storage fails.
    fn append(&mut self, task: TaskKey, group: &[Record]) -> Result<Vec<Outcome>, EngineError>;

    /// Closes the task's open batch, durably, and opens the next; where another batch than this
    /// is open, somebody else has closed this one, which is then the answer.
    ///
    /// # Errors
    /// When storage fails; the batch is open still, or the next time closed.
    fn close_batch(&mut self, task: TaskKey, batch: u64, now: u64)
    -> Result<BatchRow, EngineError>;

    /// Takes notice of what [`Reader::release`] has written of the task's oldest closed batch.
    ///
    /// # Errors
    /// When storage fails.
    fn settle_release(&mut self, task: TaskKey, batch: u64) -> Result<(), EngineError>;

    /// Proves that a write reaches the disk.
    ///
    /// # Errors
    /// When it does not.
    fn probe(&mut self) -> Result<(), EngineError>;

    /// A handle for other threads, which never wait for the owner.
    fn reader(&self) -> Arc<dyn Reader>;
}

/// What an upload is visited by: its id and body.
pub type VisitUpload<'a> = dyn FnMut([u8; 16], &[u8]) -> ControlFlow<()> + 'a;

/// A reader beside the owner, for any thread.
pub trait Reader: Send + Sync {
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

    /// Stores what a closed batch is released with, durably, all or nothing; again, where that
    /// was begun before.
    ///
    /// # Errors
    /// When storage fails.
    fn release(&self, task: TaskKey, batch: &BatchRow, release: Release)
    -> Result<(), EngineError>;

    /// The encoded totals of a released batch.
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

    /// Forgets the reports of a released batch, whose totals stay.
    ///
    /// # Errors
    /// When storage fails.
    fn forget_reports(&self, task: TaskKey, batch: u64) -> Result<(), EngineError>;

    /// What there is to ask where other processes may write to the same storage; `None` where
    /// the owner alone does.
    fn shared(&self) -> Option<&dyn Shared> {
        None
    }
}

/// A task of storage that is shared, as it is by now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The engine's key.
    pub key: TaskKey,
    /// How it is collected, as JSON.
    pub settings: String,
    /// Its batches, oldest first.
    pub batches: Vec<BatchRow>,
}

/// Keeps other processes from doing the same, as long as it is held, or its process lives.
///
/// It spares work. That nothing is done twice does not depend on it.
pub struct Claim(#[expect(dead_code, reason = "it is there to be dropped")] Box<dyn Any + Send>);

impl Claim {
    /// A claim that lasts as long as this.
    pub fn new(held: impl Any + Send) -> Self {
        Self(Box::new(held))
    }
}

/// What processes ask that share storage.
pub trait Shared: Send + Sync {
    /// All tasks by now, in the order in which they were stored.
    ///
    /// # Errors
    /// When storage fails.
    fn seen(&self) -> Result<Vec<Seen>, EngineError>;

    /// A task, unless it was deleted.
    ///
    /// # Errors
    /// When storage fails.
    fn task(&self, task: TaskKey) -> Result<Option<TaskRow>, EngineError>;

    /// The task's batches by now, oldest first; none where it was deleted.
    ///
    /// # Errors
    /// When storage fails.
    fn batches(&self, task: TaskKey) -> Result<Vec<BatchRow>, EngineError>;

    /// A claim to a batch, unless somebody has one.
    ///
    /// # Errors
    /// When storage fails.
    fn claim(&self, task: TaskKey, batch: u64) -> Result<Option<Claim>, EngineError>;
}
