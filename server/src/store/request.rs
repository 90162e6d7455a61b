//! What the writer is asked.

use std::ops::Range;
use std::sync::Arc;

use hushbin::UploadId;
use tokio::sync::oneshot;

use super::engine::{BatchRow, Outcome, Record};
use super::error::{OpenError, StoreError};
use super::memory::Reservation;
use super::settings::Settings;
use super::task::{StoredTask, TaskSetup};

/// Uploads of one request, whose reports have been looked at.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) uploads: Vec<Submitted>,
    /// The bytes that their bodies lie in, which are what is kept; those of a sole one at the end.
    pub(crate) bytes: Vec<u8>,
    /// The memory reserved for them, given back with the answer.
    pub(crate) memory: Reservation,
}

/// One upload of a request.
#[derive(Debug)]
pub(crate) struct Submitted {
    pub(crate) id: UploadId,
    pub(crate) reports: u32,
    /// Where what is kept of it lies.
    pub(crate) body: Range<usize>,
}

impl Submitted {
    /// One that lies here, as it came: its body is behind version, fingerprint and id.
    pub(crate) const fn new(id: UploadId, reports: u32, whole: Range<usize>) -> Self {
        Self {
            id,
            reports,
            body: whole.start + 1 + 16 + 16..whole.end,
        }
    }
}

/// Uploads of one task, with the caller who waits for their outcomes.
pub(super) struct Waiting {
    pub(super) task: Arc<StoredTask>,
    pub(super) submission: Submission,
    pub(super) reply: Reply<Receipt>,
}

/// What became of the uploads of one caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// Uploads submitted.
    pub(crate) uploads: usize,
    /// Reports of those that are new.
    pub(crate) reports: usize,
    /// Uploads that were held already, or that came twice.
    pub(crate) duplicates: usize,
    /// The first upload whose id other bytes are held under.
    pub(crate) conflict: Option<UploadId>,
}

impl Receipt {
    pub(super) fn add(&mut self, record: &Record, outcome: Outcome) {
        self.uploads += 1;
        match outcome {
            Outcome::Stored => self.reports += record.reports as usize,
            Outcome::Duplicate => self.duplicates += 1,
            Outcome::Conflict => self.conflict = self.conflict.or(Some(UploadId(record.upload))),
        }
    }
}

/// Where an answer goes.
pub(super) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// Something for the writer to do.
pub(super) enum Request {
    /// Append uploads.
    Uploads(Waiting),
    /// Prove that a write reaches the disk.
    Probe(Reply<()>),
    /// Close what is due.
    CloseDue,
    /// Close a task's open batch, if it has as many reports.
    CloseBatch(Arc<StoredTask>, u64, Reply<BatchRow>),
    /// Take notice of a release that was written.
    SettleRelease {
        task: Arc<StoredTask>,
        batch: u64,
        reply: Reply<()>,
    },
    /// Forget the reports of a released batch.
    Forget(Arc<StoredTask>, u64),
    /// Store a task.
    AddTask(
        Box<TaskSetup>,
        oneshot::Sender<Result<Arc<StoredTask>, OpenError>>,
    ),
    /// Change how a task is collected.
    Configure(Arc<StoredTask>, Settings, Reply<()>),
    /// Delete a task.
    RemoveTask(Arc<StoredTask>, Reply<()>),
    /// Take what waits, refuse what comes.
    Close(Reply<()>),
}
