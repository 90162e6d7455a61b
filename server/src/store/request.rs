//! Requests to the writer.

use std::ops::Range;
use std::sync::Arc;

use hushbin::UploadId;
use tokio::sync::oneshot;

use super::engine::{BatchRow, UploadOutcome, UploadRecord};
use super::error::{JournalError, StoreError};
use super::memory::MemoryReservation;
use super::settings::TaskSettings;
use super::shuffled_block::BlockRecord;
use super::task::{StoredTask, TaskSetup};

/// Uploads that one HTTP request contains. Their reports have been checked.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) uploads: Vec<SubmittedUpload>,
    /// Bytes of the request, which contain the bodies of all uploads. A single upload's body is at
    /// the end of the bytes.
    pub(crate) bytes: Vec<u8>,
    /// Memory reserved for the bytes, freed when the request is answered.
    pub(crate) memory: MemoryReservation,
    /// Record of the block that the uploads came in, for a task of sums. It is also one of the
    /// uploads. Boxed, because few requests have one.
    pub(crate) block: Option<Box<BlockRecord>>,
}

/// One upload of a request.
#[derive(Debug)]
pub(crate) struct SubmittedUpload {
    pub(crate) id: UploadId,
    pub(crate) report_count: u32,
    /// Range of the body in the bytes of the submission.
    pub(crate) body_range: Range<usize>,
}

impl SubmittedUpload {
    /// Creates an upload whose encoding is in the range `whole` of the request's bytes. The body
    /// follows the version (1 byte), the fingerprint (16 bytes) and the id (16 bytes).
    pub(crate) const fn new(id: UploadId, reports: u32, whole: Range<usize>) -> Self {
        Self {
            id,
            report_count: reports,
            body_range: whole.start + 1 + 16 + 16..whole.end,
        }
    }
}

/// Request to store uploads of one task. Its caller waits for the outcomes of the uploads.
pub(super) struct UploadRequest {
    pub(super) task: Arc<StoredTask>,
    pub(super) submission: Submission,
    pub(super) reply: ReplySender<UploadReceipt>,
}

/// Summary of the outcomes of one caller's uploads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct UploadReceipt {
    /// Number of uploads submitted.
    pub(crate) upload_count: usize,
    /// Number of new uploads.
    pub(crate) new_upload_count: usize,
    /// Number of reports in new uploads.
    pub(crate) new_report_count: usize,
    /// Number of uploads that were already stored, or came twice in the same commit.
    pub(crate) duplicates: usize,
    /// First upload whose id is already stored with other bytes.
    pub(crate) first_conflicting_id: Option<UploadId>,
}

impl UploadReceipt {
    pub(super) fn add_outcome(&mut self, record: &UploadRecord, outcome: UploadOutcome) {
        self.upload_count += 1;
        match outcome {
            UploadOutcome::Stored => {
                self.new_upload_count += 1;
                self.new_report_count += record.report_count as usize;
            }
            UploadOutcome::Duplicate => self.duplicates += 1,
            UploadOutcome::Conflict => {
                self.first_conflicting_id = self.first_conflicting_id.or(Some(UploadId(record.id)));
            }
        }
    }
}

/// Channel for the answer to the caller of a request.
pub(super) type ReplySender<T> = oneshot::Sender<Result<T, StoreError>>;

/// Request to the writer.
pub(super) enum WriterRequest {
    /// Append uploads.
    Uploads(UploadRequest),
    /// Prove that a write reaches the disk.
    Probe(ReplySender<()>),
    /// Close all batches that are due, and delete the reports that have been kept long enough.
    CloseDue,
    /// Close a task's open batch, if it has at least this number of reports.
    CloseBatch(Arc<StoredTask>, u64, ReplySender<BatchRow>),
    /// Tell the engine that a batch was released, or that its reports were deleted.
    UpdateAfterRelease {
        task: Arc<StoredTask>,
        batch: u64,
        reply: ReplySender<()>,
    },
    /// Delete the reports of a released batch.
    DeleteReports(Arc<StoredTask>, u64),
    /// Store a new task.
    AddTask(
        Box<TaskSetup>,
        oneshot::Sender<Result<Arc<StoredTask>, JournalError>>,
    ),
    /// Change the settings of a task.
    Configure(Arc<StoredTask>, TaskSettings, ReplySender<()>),
    /// Delete a task.
    RemoveTask(Arc<StoredTask>, ReplySender<()>),
    /// Serve the waiting requests, refuse new requests, and end the thread.
    Close(ReplySender<()>),
}
