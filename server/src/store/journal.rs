//! What the store asks of a storage engine.
//!
//! An engine is synchronous and owned by one thread; queueing, group commit,
//! answering callers and totals are the store's business, so that another
//! engine (or a failing one, in tests) needs these few operations only.

use std::ops::ControlFlow;
use std::sync::Arc;

/// The engine's own name for a task, stable across restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskKey(pub i64);

/// A task as it was stored on first sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// The engine's key.
    pub key: TaskKey,
    /// The task's id (slug).
    pub id: String,
    /// Fingerprint of the complete parameters, 16 bytes.
    pub fingerprint: [u8; 16],
    /// The complete task as JSON.
    pub parameters: String,
}

/// One upload on its way into the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The task that the upload is for.
    pub task: TaskKey,
    /// Upload id, unique per task.
    pub upload: [u8; 16],
    /// The upload's bytes, exactly as received.
    pub bytes: Vec<u8>,
}

/// The fate of a record that was handed to [`Journal::append`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is new and now on disk.
    Stored,
    /// The journal holds exactly these bytes under this id already.
    Duplicate,
    /// The journal holds other bytes under this id; nothing was changed.
    Conflict,
}

/// A failure of the storage engine.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// SQLite refused or failed (disk full, I/O error, damage).
    #[error("the journal failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A file or directory of the journal could not be used.
    #[error("{path}: {source}")]
    File {
        /// What was touched.
        path: String,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// The file is a database, but of another program.
    #[error("{path} is not a hushbin journal (application id {found:#010x})")]
    Foreign {
        /// The file.
        path: String,
        /// Its application id.
        found: i32,
    },
    /// The journal was written by a newer hushbin.
    #[error(
        "{path} has journal schema {found}, this hushbin knows schemas up to {known}: \
         use the hushbin that wrote it, or a newer one"
    )]
    NewerSchema {
        /// The file.
        path: String,
        /// Its schema version.
        found: i32,
        /// The newest version that this program knows.
        known: i32,
    },
    /// A row that this program cannot have written.
    #[error("the journal is damaged: {0}")]
    Damaged(String),
}

/// Durable storage of tasks and uploads, for one owner.
pub trait Journal: Send {
    /// All stored tasks, in the order in which they were stored.
    ///
    /// # Errors
    /// When storage fails.
    fn tasks(&self) -> Result<Vec<TaskRow>, JournalError>;

    /// Stores a task's complete parameters, durably, before returning.
    ///
    /// # Errors
    /// When storage fails, or the id is taken.
    fn add_task(
        &mut self,
        id: &str,
        fingerprint: [u8; 16],
        parameters: &str,
    ) -> Result<TaskKey, JournalError>;

    /// Appends the group in one transaction; with `prove`, also writes a row of
    /// the journal's own, so that something reaches the disk whatever the group holds.
    ///
    /// # Guarantee
    /// On `Ok`, every record reported as [`Outcome::Stored`] or
    /// [`Outcome::Duplicate`] survives loss of power. On `Err`, no record of the
    /// group is visible in the journal.
    ///
    /// # Errors
    /// When storage fails.
    fn append(&mut self, group: &[Record], prove: bool) -> Result<Vec<Outcome>, JournalError>;

    /// Folds the write-ahead log into the main file.
    ///
    /// # Errors
    /// When storage fails.
    fn checkpoint(&mut self) -> Result<(), JournalError>;

    /// A handle for reading that never waits for the writer.
    fn reader(&self) -> Arc<dyn JournalReader>;
}

/// A reader beside the writer, for any thread.
pub trait JournalReader: Send + Sync {
    /// Visits the bytes of every upload of a task, as of one moment, in the order
    /// of upload ids, until the visitor breaks.
    ///
    /// # Errors
    /// When storage fails.
    fn for_each_upload(
        &self,
        task: TaskKey,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), JournalError>;
}
