//! Journal that stores tasks, batches of reports, and the totals of batches. The journal is either
//! a directory, which one process uses alone, or a database, which several processes may share.
//!
//! ```text
//! submit_uploads → bounded queue → writer: one commit per group and task → answers
//!                             └→ closed batches → releaser: totals, reports in another order
//! ```
//!
//! # Guarantee
//!
//! - An upload is acknowledged only after its commit is on disk, synced.
//! - An upload id counts once per task, however often it is sent and in whichever batch. The engine
//!   checks the id before it stores an upload.
//! - A refused upload was not stored, except perhaps after a crash or a lost connection. In either
//!   case the client may send the upload again: it is counted once.
//! - A batch is closed once, with at least as many reports as its task demands. Its totals never
//!   change: a released batch is always served unchanged.
//! - An open batch reveals only how many reports it holds.
//! - A stored task never changes.
//!
//! No address, user agent or time of arrival is kept. A batch keeps only its times of opening and
//! closing.

mod clock;
mod commit_group;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod conformance;
mod database_diagnosis;
mod engine;
mod error;
mod files;
mod fold;
mod handle;
mod location;
mod lock;
mod memory;
mod open;
mod open_blocks;
mod origin;
mod poller;
#[cfg_attr(not(feature = "postgres"), path = "no_postgres.rs")]
mod postgres;
mod read;
mod record_sorter;
mod release_queue;
mod releaser;
mod repeated_errors;
mod request;
mod role;
mod sealed_blocks;
mod settings;
mod shuffled_block;
mod stored_reports;
mod task;
mod task_log;
mod tasks;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod test_records;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod writer;
mod writer_blocks;
mod writer_metrics;

pub use database_diagnosis::DatabaseDiagnosis;
pub use engine::{
    BatchClaim, BatchRelease, BatchRow, BatchState, BlockChange, EngineError, Remedy,
    SharedStorage, SharedTask, StorageEngine, StorageReader, TaskKey, TaskRow, UploadGroup,
    UploadOutcome, UploadRecord, UploadVisitor,
};
pub use error::{JournalError, StoreError};
pub use files::{
    BackupProgress, Damage, DataLoss, DirectoryCheckResult, FilesEngine, SalvageResult, backup,
    check_directory, salvage_directory,
};
pub(crate) use files::{
    FileStamp, check_journal_exists, file_stamp, journal_paths, open_or_create, write_atomically,
};
pub use handle::{Store, StoreOptions};
pub use location::{JournalLocation, JournalLocationError};
pub(crate) use memory::{MemoryBudget, MemoryExhausted, MemoryReservation};
pub use open::create_journal;
pub(crate) use open::{is_in_use, stored_task_ids};
pub(crate) use origin::{OriginCounts, ReportOrigin};
pub use postgres::DatabaseAddress;
#[cfg(feature = "postgres")]
pub(crate) use postgres::Session;
pub(crate) use postgres::{SessionPool, diagnose_database, open_existing_pool, open_pool};
pub(crate) use repeated_errors::RepeatedErrors;
pub use role::ProcessRole;
pub use settings::{BatchSettings, TaskSettings, TaskSettingsError};
pub use shuffled_block::{BLOCK_ID_PREFIX, BlockError};
pub(crate) use shuffled_block::{BlockRecord, BlockStatement, common_key_id};
pub(crate) use stored_reports::StoredReports;
pub use task::{StoredTask, TaskSetup};
pub use task_log::{TaskLogEntry, TaskLogError, TaskLogEvent, TaskLogHash, check_task_log};
pub(crate) use task_log::{TaskLogRelation, compare_task_logs, head_hash, hex};

pub(crate) use clock::{EARLIEST_DATE, MAX_GAP_SINCE_STORED_DATE, now};
pub(crate) use request::{Submission, SubmittedUpload};
