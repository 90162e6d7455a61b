//! Uploads that are stored in one commit, and the callers that wait for it.

use std::mem;
use std::sync::Arc;

use super::engine::{UploadOutcome, UploadRecord};
use super::error::StoreError;
use super::memory::MemoryReservation;
use super::request::{ReplySender, Submission, SubmittedUpload, UploadReceipt};
use super::shuffled_block::BlockRecord;
use super::task::StoredTask;

/// Caller that waits for the outcomes of its uploads. `records` is the number of its uploads.
pub(super) struct WaitingCaller {
    upload_count: usize,
    /// Reserved memory, which is freed when the caller is answered.
    memory: MemoryReservation,
    reply: ReplySender<UploadReceipt>,
}

/// Uploads of one task that go into one commit.
pub(super) struct CommitGroup {
    pub(super) task: Arc<StoredTask>,
    pub(super) records: Vec<UploadRecord>,
    /// Callers, in the order of `records`.
    pub(super) callers: Vec<WaitingCaller>,
    /// Blocks whose records are among `records`.
    pub(super) blocks: Vec<BlockRecord>,
}

impl CommitGroup {
    pub(super) fn new(task: Arc<StoredTask>) -> Self {
        Self {
            task,
            records: Vec::new(),
            callers: Vec::new(),
            blocks: Vec::new(),
        }
    }

    pub(super) fn add_submission(
        &mut self,
        submission: Submission,
        reply: ReplySender<UploadReceipt>,
    ) {
        let Submission {
            uploads,
            mut bytes,
            memory,
            block,
        } = submission;
        self.blocks.extend(block.map(|block| *block));
        self.callers.push(WaitingCaller {
            upload_count: uploads.len(),
            memory,
            reply,
        });
        let alone = uploads.len() == 1;
        for SubmittedUpload {
            id,
            report_count: reports,
            body_range: body,
        } in uploads
        {
            // Bodies are copied, and the request's bytes are freed after the last copy. So the
            // bytes of at most one request are in memory twice.
            let body = match alone {
                true => mem::take(&mut bytes).split_off(body.start),
                false => bytes[body].to_vec(),
            };
            self.records.push(UploadRecord {
                id: id.0,
                report_count: reports,
                body,
            });
        }
    }

    /// Sends each caller the outcomes of its records.
    pub(super) fn answer_callers(self, result: Result<Vec<UploadOutcome>, StoreError>) {
        let mut fates = match result {
            Ok(outcomes) => self.records.iter().zip(outcomes),
            Err(error) => {
                for caller in self.callers {
                    drop(caller.memory);
                    let _ = caller.reply.send(Err(error.clone()));
                }
                return;
            }
        };
        for caller in self.callers {
            let mut receipt = UploadReceipt::default();
            for (record, outcome) in fates.by_ref().take(caller.upload_count) {
                receipt.add_outcome(record, outcome);
            }
            drop(caller.memory);
            // A caller that went away will ask again and learn that its upload is a duplicate.
            let _ = caller.reply.send(Ok(receipt));
        }
    }
}
