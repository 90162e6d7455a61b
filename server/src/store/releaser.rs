//! Releaser: a thread that counts closed batches and releases them.
//!
//! A closed batch is counted once, on all cores. Then its totals and its reports, in a new order,
//! are stored, and its uploads are deleted. After a start, the thread counts only batches whose
//! counting a crash or a stop has interrupted. Counting such a batch again yields the same bytes.

use std::mem;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use data_encoding::HEXLOWER;
use hushbin::sums::SumTask;
use hushbin::upload::{self, EncodedUpload};
use hushbin::{Task, UploadId};
use hushbin_analysis::estimate::Totals;
use hushbin_analysis::sums::SumTotals;
use prometheus_client::metrics::counter::Counter;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};

use super::engine::{
    BatchClaim, BatchRelease, BatchState, EngineError, ReleasedBlocks, StorageReader,
};
use super::error::JournalError;
use super::fold::invalid_upload_error;
use super::origin::OriginCounts;
use super::record_sorter::{RecordSorter, SORT_BUFFER_BYTES};
use super::release_queue::{ReleaserWork, WorkQueue};
use super::repeated_errors::RepeatedErrors;
use super::request::WriterRequest;
use super::role::ProcessRole;
use super::sealed_blocks::{MAX_BLOCK_REPORTS, SealedReports};
use super::shuffled_block::{BlockRecord, incomplete_groups};
use super::stored_reports;
use super::task::StoredTask;
use crate::task::ReportOrSumTask;

/// Starts the releaser thread. Returns a sender, through which the thread receives work, and the
/// thread's handle. The thread ends when all senders are dropped. `left_out` counts the sealed
/// reports that are left out of releases. `split_batches` counts the shuffled batches of which a
/// release has only some blocks.
pub(super) fn spawn(
    reader: Arc<dyn StorageReader>,
    writer: mpsc::WeakSender<WriterRequest>,
    [left_out, split_batches]: [Counter; 2],
) -> std::io::Result<(mpsc::UnboundedSender<ReleaserWork>, JoinHandle<()>)> {
    let (sender, work) = mpsc::unbounded_channel();
    let again = sender.downgrade();
    let releaser = Releaser {
        reader,
        writer,
        left_out,
        split_batches,
    };
    let mut work = WorkQueue::new(work);
    let thread = thread::Builder::new()
        .name("releases".to_owned())
        .spawn(move || {
            let mut errors = RepeatedErrors::default();
            while let Some(next) = work.wait_for_next() {
                let (task, action, done) = match &next {
                    ReleaserWork::ReleaseClosedBatches(task) => (
                        task,
                        "releasing a batch",
                        releaser.release_oldest_batch(task),
                    ),
                    ReleaserWork::DeleteReports(task, batch) => {
                        let forgotten = releaser.delete_batch_reports(task, *batch);
                        (task, "forgetting reports", forgotten.map(|()| false))
                    }
                };
                if releaser.writer_has_ended() || done.is_err() && releaser.is_task_deleted(task) {
                    work.forget_failures(&next);
                    continue;
                }
                errors.record(Some(task), action, &done);
                match done {
                    Ok(has_more) => {
                        work.forget_failures(&next);
                        // Queued behind other work. Otherwise a series of closed batches would delay
                        // that work.
                        if let Some(again) = again.upgrade().filter(|_| has_more) {
                            let _ = again.send(next);
                        }
                    }
                    Err(_) => work.retry_later(next),
                }
            }
        })?;
    Ok((sender, thread))
}

struct Releaser {
    reader: Arc<dyn StorageReader>,
    writer: mpsc::WeakSender<WriterRequest>,
    left_out: Counter,
    split_batches: Counter,
}

impl Releaser {
    /// Releases a task's oldest closed batch. Returns true if a batch was released. The task may
    /// then have more closed batches.
    fn release_oldest_batch(&self, task: &Arc<StoredTask>) -> Result<bool, String> {
        let batches = task.batches();
        let closed = batches.iter().find(|row| row.state == BatchState::Closed);
        let Some(&row) = closed else {
            return Ok(false);
        };
        let batch = row.number;
        let reader = &*self.reader;
        let Some(claim) = claim_batch(reader, task, batch).map_err(|error| error.to_string())?
        else {
            // Another process is counting this batch. The timer checks again later.
            return Ok(false);
        };
        // A separate pool, so that counting does not wait behind estimates on the shared pool.
        let pool = ThreadPoolBuilder::new().build();
        let pool = pool.map_err(|error| error.to_string())?;
        pool.install(|| match task.role() {
            ProcessRole::Shuffler => build_sealed_release(reader, task, batch)
                .map(|(release, left_out)| (release, [left_out, 0])),
            ProcessRole::Collector | ProcessRole::Analyser => build_release(reader, task, batch)
                .map(|(release, split_batches)| (release, [0, split_batches])),
        })
        .and_then(|(release, [left_out, split_batches])| {
            // Dropped before the release, since the open transaction of the claim would keep a
            // database from cleaning up after it.
            drop(claim);
            reader.store_release(task.key(), &row, release)?;
            // Only now, since a failed release is built again.
            self.left_out.inc_by(left_out);
            self.split_batches.inc_by(split_batches);
            Ok(())
        })
        .map_err(|error| error.to_string())?;
        self.notify_writer(task, batch)?;
        tracing::info!(task = task.task().id(), batch, "released");
        Ok(true)
    }

    /// Deletes the reports of a released batch, and notifies the writer.
    fn delete_batch_reports(&self, task: &Arc<StoredTask>, batch: u64) -> Result<(), String> {
        let forgotten = self.reader.delete_reports(task.key(), batch);
        forgotten.map_err(|error| error.to_string())?;
        self.notify_writer(task, batch)?;
        tracing::info!(task = task.task().id(), batch, "its reports are forgotten");
        Ok(())
    }

    /// Returns true if the task has been deleted, by this process or by another one.
    fn is_task_deleted(&self, task: &StoredTask) -> bool {
        let shared = self.reader.shared_storage();
        task.is_removed()
            || shared.is_some_and(|shared| matches!(shared.task(task.key()), Ok(None)))
    }

    /// Returns true if the writer has ended. Then nothing would process the results of further
    /// work.
    fn writer_has_ended(&self) -> bool {
        self.writer
            .upgrade()
            .is_none_or(|writer| writer.is_closed())
    }

    /// Tells the writer that a batch was released, or that its reports were deleted. If the writer
    /// has ended, the next start reads the new state from the storage.
    fn notify_writer(&self, task: &Arc<StoredTask>, batch: u64) -> Result<(), String> {
        let (reply, answer) = oneshot::channel();
        let request = WriterRequest::UpdateAfterRelease {
            task: Arc::clone(task),
            batch,
            reply,
        };
        // Upgraded for this call only, because a held sender would keep the writer from ending.
        let sent = match self.writer.upgrade() {
            Some(writer) => writer.blocking_send(request).is_ok(),
            None => false,
        };
        let settled = sent.then(|| answer.blocking_recv().ok()).flatten();
        settled
            .ok_or("the store is closed")?
            .map_err(|error| error.to_string())
    }
}

/// Claims a batch. Returns `None` if another process holds the claim. Always returns a claim if the
/// storage cannot be shared.
///
/// # Errors
/// When storage fails.
pub(super) fn claim_batch(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    batch: u64,
) -> Result<Option<BatchClaim>, EngineError> {
    match reader.shared_storage() {
        Some(shared) => shared.claim_batch(stored.key(), batch),
        None => Ok(Some(BatchClaim::new(()))),
    }
}

/// Counts a batch and returns the contents of its release. Also returns the number of shuffled
/// batches whose last blocks are not in the batch.
fn build_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    batch: u64,
) -> Result<(BatchRelease, u64), JournalError> {
    match stored.task() {
        ReportOrSumTask::Reports(task) => {
            build_reports_release(reader, stored, task, batch).map(|release| (release, 0))
        }
        ReportOrSumTask::Sums(task) => build_sums_release(reader, stored, task, batch),
    }
}

/// Counts the reports of a batch, sorts them, and splits them into blocks.
///
/// A report is stored as the bytes that the page sent. It is decoded only once, for counting.
fn build_reports_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    task: &Task,
    batch: u64,
) -> Result<BatchRelease, JournalError> {
    let (mut bodies, mut ends, mut origins) = (Vec::new(), Vec::new(), OriginCounts::default());
    let visit = |upload: EncodedUpload<'_>, origin| {
        bodies.extend(upload.encoded_reports);
        ends.push((upload.id, upload.report_count, bodies.len()));
        if let Some(origin) = origin {
            origins.add_report_count(origin, upload.report_count.into());
        }
        Ok(())
    };
    stored_reports::for_each_unreleased_upload(reader, stored, batch, visit, |_, _| {})?;
    let mut begin = 0;
    let uploads = ends.iter().map(|&(id, count, end)| {
        let reports = &bodies[mem::replace(&mut begin, end)..end];
        EncodedUpload {
            id,
            report_count: count,
            encoded_reports: reports,
        }
    });
    let uploads: Vec<EncodedUpload<'_>> = uploads.collect();
    let counted = totals_and_prefixed_reports(task, &uploads);
    let (totals, mut reports) =
        counted.map_err(|source| invalid_upload_error(task.id(), source))?;
    // Sorted by bytes, so that the order reveals nothing of the order of arrival.
    reports.par_sort_unstable();
    let blocks = (0_u128..)
        .zip(reports.chunks(MAX_BLOCK_REPORTS))
        .map(|(number, reports)| {
            // A block does not correspond to an original upload, so its number serves as its upload
            // id.
            let id = UploadId(number.to_be_bytes());
            let mut block = upload::upload_header(id, &task.fingerprint(), reports.len() as u32);
            reports.iter().for_each(|(_, bytes)| block.extend(*bytes));
            block
        });
    let mut totals = totals.encode();
    if stored.role() == ProcessRole::Analyser {
        origins.append_encoded_to(&mut totals);
    }
    Ok(BatchRelease {
        totals,
        blocks: ReleasedBlocks::InMemory(blocks.collect()),
        upload_ids: uploads.iter().map(|upload| upload.id.0).collect(),
    })
}

/// A report's [`sort_prefix`], followed by the report.
type PrefixedReport<'a> = (u64, &'a [u8]);

/// Counts the reports in uploads. Returns the totals, and each report with its sort prefix.
fn totals_and_prefixed_reports<'a>(
    task: &Task,
    uploads: &[EncodedUpload<'a>],
) -> Result<(Totals, Vec<PrefixedReport<'a>>), hushbin::Error> {
    // The work is split into single uploads. In larger chunks, a few uploads of 4,096 reports each
    // could keep one core busy while other cores are idle.
    let parts = uploads.par_iter().try_fold(
        || (Totals::new(task), Vec::new()),
        |(mut totals, mut reports), upload| {
            upload.for_each_report(task, |report, bytes| {
                totals.add_report(&report);
                reports.push((sort_prefix(bytes), bytes));
            })?;
            Ok((totals, reports))
        },
    );
    parts.try_reduce(
        || (Totals::new(task), Vec::new()),
        |(mut totals, mut reports), (others, mut more)| {
            totals.merge(&others);
            reports.append(&mut more);
            Ok((totals, reports))
        },
    )
}

/// Returns the first eight bytes of a report (its seed) as a number. Numbers have the same sort
/// order as reports. Most comparisons are decided by these numbers, without a memory access to the
/// reports.
fn sort_prefix(report: &[u8]) -> u64 {
    let bytes = report.first_chunk().expect("a report begins with its seed");
    u64::from_be_bytes(*bytes)
}

/// Counts the messages of a batch, and the people who sent them. The release keeps the counts but
/// not the messages, because the counts contain all their information. Also returns the number of
/// groups of messages whose last blocks are not in the batch.
fn build_sums_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    task: &SumTask,
    batch: u64,
) -> Result<(BatchRelease, u64), JournalError> {
    let (mut totals, mut uploads) = (SumTotals::new(task), Vec::new());
    let (mut blocks, mut messages_by_origin) = (Vec::new(), OriginCounts::default());
    let visit = |upload: EncodedUpload<'_>, origin: Option<_>| {
        let messages = task.decode_messages(&upload);
        let messages = messages.map_err(|source| invalid_upload_error(task.id(), source))?;
        uploads.push(upload.id.0);
        if let Some(origin) = origin {
            messages_by_origin.add_report_count(origin, 1);
        }
        messages.into_iter().for_each(|own| totals.add_message(own));
        Ok(())
    };
    let visit_block = |id, block: BlockRecord| blocks.push((id, block));
    stored_reports::for_each_unreleased_upload(reader, stored, batch, visit, visit_block)?;
    let (ids, blocks): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
    let sent: u64 = blocks.iter().map(|block: &BlockRecord| block.reports).sum();
    totals.add_left_out_messages(sent.saturating_sub(uploads.len() as u64));
    uploads.extend(ids);
    let mut origins = OriginCounts::default();
    for block in &blocks {
        totals.add_people(block.people());
        origins.add_report_count(block.origin, block.people());
    }
    // A shuffler counts an upload that repeats the messages of another one as a person. Only
    // distinct messages hide each other.
    let each = u64::from(*task.message_count_range().start());
    let origins = origins.at_most(&messages_by_origin, |messages| messages.div_ceil(each));
    let split = incomplete_groups(&blocks);
    for group in &split {
        tracing::warn!(
            task = task.id(),
            batch,
            shuffler = HEXLOWER.encode(&group.shuffler),
            key = HEXLOWER.encode(&group.key_id),
            "released with only the first blocks of a shuffled batch; its people are counted in \
             proportion, and the intervals of this batch alone are too narrow"
        );
    }
    let mut totals = totals.encode();
    origins.append_encoded_to(&mut totals);
    let release = BatchRelease {
        totals,
        blocks: ReleasedBlocks::InMemory(Vec::new()),
        upload_ids: uploads,
    };
    Ok((release, split.len() as u64))
}

/// Builds the release of a batch of sealed reports: blocks that are sent to the analyser unchanged.
/// Also returns the number of reports that are left out.
fn build_sealed_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    batch: u64,
) -> Result<(BatchRelease, u64), JournalError> {
    let task = stored.task();
    let length = task.sealed_report_length();
    let sorter = RecordSorter::new(length, SORT_BUFFER_BYTES, reader.temporary_directory());
    let uploads_are_people = task.sum_task().is_some();
    let mut reports = SealedReports::new(sorter, length, uploads_are_people);
    let mut uploads = Vec::new();
    let visit = |upload: EncodedUpload<'_>, _| {
        if upload.encoded_reports.len() != upload.report_count as usize * length {
            let what = format!("upload {} has no sealed reports", upload.id);
            return Err(EngineError::Damaged(what).into());
        }
        uploads.push(upload.id.0);
        let pushed = reports.push_upload(upload.encoded_reports);
        pushed.map_err(|error| EngineError::Sorting(error).into())
    };
    stored_reports::for_each_unreleased_upload(reader, stored, batch, visit, |_, _| {})?;
    uploads.sort_unstable();
    let (blocks, left_out) = reports.into_blocks(task, hash_batch_id(task, &uploads));
    let release = BatchRelease {
        totals: Vec::new(),
        blocks: ReleasedBlocks::Sealed(Arc::new(blocks)),
        upload_ids: uploads,
    };
    Ok((release, left_out))
}

/// Computes the id of a shuffled batch from the sorted ids of its uploads, so that a repeated
/// release gets the same id. The id is the first 16 bytes of a SHA-256. It does not reveal the ids
/// of uploads, which are random.
fn hash_batch_id(task: &ReportOrSumTask, sorted_ids: &[[u8; 16]]) -> UploadId {
    let mut hash = Sha256::new();
    hash.update(b"hushbin batch\0");
    hash.update(task.fingerprint().0);
    sorted_ids.iter().for_each(|id| hash.update(id));
    let digest = hash.finalize();
    UploadId(*digest.first_chunk().expect("a digest has 32 bytes"))
}
