//! Requests to the writer.

use std::ops::Range;
use std::sync::Arc;

use hushbin::UploadId;
use tokio::sync::oneshot;

use super::engine::{BatchRow, Outcome, Record};
use super::error::{OpenError, StoreError};
use super::memory::Reservation;
use super::settings::Settings;
use super::task::{StoredTask, TaskSetup};

/// Uploads of one request, whose reports have been checked.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) uploads: Vec<Submitted>,
    /// Bytes that contain the bodies. The body of a single upload is at the end.
    pub(crate) bytes: Vec<u8>,
    /// Memory reserved for the bytes, returned with the answer.
    pub(crate) memory: Reservation,
}

/// One upload of a request.
#[derive(Debug)]
pub(crate) struct Submitted {
    pub(crate) id: UploadId,
    pub(crate) reports: u32,
    /// Range of the body in the bytes of the submission.
    pub(crate) body: Range<usize>,
}

impl Submitted {
    /// Creates an upload from the range of its encoding. The body follows the version (1 byte), the
    /// fingerprint (16) and the id (16).
    pub(crate) const fn new(id: UploadId, reports: u32, whole: Range<usize>) -> Self {
        Self {
            id,
            reports,
            body: whole.start + 1 + 16 + 16..whole.end,
        }
    }
}

/// Uploads of one task, whose caller waits for the outcomes.
pub(super) struct Waiting {
    pub(super) task: Arc<StoredTask>,
    pub(super) submission: Submission,
    pub(super) reply: Reply<Receipt>,
}

/// Outcomes of the uploads of one caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// Number of uploads submitted.
    pub(crate) uploads: usize,
    /// Number of reports in new uploads.
    pub(crate) reports: usize,
    /// Number of uploads that were already stored or came twice.
    pub(crate) duplicates: usize,
    /// First upload whose id is already stored with other bytes.
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

/// Channel to the caller of a request.
pub(super) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// Request to the writer.
pub(super) enum Request {
    /// Append uploads.
    Uploads(Waiting),
    /// Prove that a write reaches the disk.
    Probe(Reply<()>),
    /// Close the batches and delete the reports that are due.
    CloseDue,
    /// Close a task's open batch, if it has at least this number of reports.
    CloseBatch(Arc<StoredTask>, u64, Reply<BatchRow>),
    /// Take note of a release, or of a deletion of reports.
    SettleRelease {
        task: Arc<StoredTask>,
        batch: u64,
        reply: Reply<()>,
    },
    /// Delete the reports of a released batch.
    Forget(Arc<StoredTask>, u64),
    /// Store a task.
    AddTask(
        Box<TaskSetup>,
        oneshot::Sender<Result<Arc<StoredTask>, OpenError>>,
    ),
    /// Change the settings of a task.
    Configure(Arc<StoredTask>, Settings, Reply<()>),
    /// Delete a task.
    RemoveTask(Arc<StoredTask>, Reply<()>),
    /// Serve the requests that wait, and refuse new ones.
    Close(Reply<()>),
}
