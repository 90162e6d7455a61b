//! Releaser: a thread that counts closed batches and releases them.
//!
//! A closed batch is counted once, on all cores. Then its totals and its reports, in a new order,
//! are stored, and its uploads are deleted. After a start, the thread counts only batches whose
//! counting a crash or a stop has interrupted. Counting such a batch again yields the same bytes.

use std::mem;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use hushbin::sealed::{self, KEY_ID_BYTES};
use hushbin::sums::SumTask;
use hushbin::upload::{self, EncodedUpload};
use hushbin::{Task, UploadId};
use hushbin_analysis::estimate::Totals;
use hushbin_analysis::sums::SumTotals;
use prometheus_client::metrics::counter::Counter;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use super::engine::{BatchClaim, BatchRelease, BatchState, EngineError, StorageReader};
use super::error::JournalError;
use super::fold::invalid_upload_error;
use super::origin::OriginCounts;
use super::repeated_errors::RepeatedErrors;
use super::request::WriterRequest;
use super::role::ProcessRole;
use super::stored_reports;
use super::task::StoredTask;
use crate::task::ReportOrSumTask;

/// Maximum number of reports in a block. Blocks are encoded as uploads, so uploads have the same
/// maximum.
const MAX_BLOCK_REPORTS: usize = hushbin::bounds::REPORTS_PER_UPLOAD_RANGE.max as usize;

/// Maximum number of bytes in a block of sealed reports, unless a single report is longer.
const MAX_BLOCK_BYTES: usize = 1 << 19;

/// Pause after a first failure, before the work is tried again. The most frequent failure is a full
/// disk. The pause doubles with each failure.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(10);

/// Maximum pause after a failure. An attempt reads and counts a whole batch.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(600);

/// Interval at which the releaser looks for new work while failed work waits.
const RETRY_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Work for the releaser thread.
#[derive(Clone)]
pub(super) enum ReleaserWork {
    /// Release the closed batches of this task.
    ReleaseClosedBatches(Arc<StoredTask>),
    /// Delete the reports of the released batch with this number.
    DeleteReports(Arc<StoredTask>, u64),
}

impl ReleaserWork {
    /// Returns the number of closed batches of the task that are not released.
    fn closed_batch_count(&self) -> usize {
        let (Self::ReleaseClosedBatches(task) | Self::DeleteReports(task, _)) = self;
        let batches = task.batches();
        let closed = batches.iter().filter(|row| row.state == BatchState::Closed);
        closed.count()
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::ReleaseClosedBatches(own), Self::ReleaseClosedBatches(other)) => {
                Arc::ptr_eq(own, other)
            }
            (Self::DeleteReports(own, batch), Self::DeleteReports(other, number)) => {
                Arc::ptr_eq(own, other) && batch == number
            }
            _ => false,
        }
    }
}

/// Starts the releaser thread. Returns a sender, through which the thread receives work, and the
/// thread's handle. The thread ends when all senders are dropped. `left_out` counts the sealed
/// reports that are left out of releases.
pub(super) fn spawn(
    reader: Arc<dyn StorageReader>,
    writer: mpsc::WeakSender<WriterRequest>,
    left_out: Counter,
) -> std::io::Result<(mpsc::UnboundedSender<ReleaserWork>, JoinHandle<()>)> {
    let (sender, work) = mpsc::unbounded_channel();
    let again = sender.downgrade();
    let releaser = Releaser {
        reader,
        writer,
        left_out,
    };
    let mut work = WorkQueue {
        new: work,
        failed: Vec::new(),
    };
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

/// Queue of the releaser. Work that has failed waits for its next attempt while other tasks' work is
/// done.
struct WorkQueue {
    new: mpsc::UnboundedReceiver<ReleaserWork>,
    failed: Vec<FailedWork>,
}

/// Work whose last attempt failed.
struct FailedWork {
    work: ReleaserWork,
    /// Upper limit on the pause before the next attempt.
    delay: Duration,
    next_attempt: Instant,
    /// Number of closed batches of the task at the last attempt.
    closed_batches: usize,
}

impl FailedWork {
    /// Returns true if `work` is this work, and no batch was closed since the last attempt. A
    /// batch that was closed since, perhaps by a person who has mended the cause, is tried at once.
    fn covers(&self, work: &ReleaserWork) -> bool {
        self.work.is_same(work) && work.closed_batch_count() <= self.closed_batches
    }
}

/// Returns a random pause between half of `delay` and `delay`, so that nodes do not try at the same
/// time.
fn random_pause(delay: Duration) -> Duration {
    let mut random = [0];
    // Without random numbers, the pause is `delay`.
    let _ = getrandom::fill(&mut random);
    delay.mul_f64(1.0 - f64::from(random[0]) / 512.0)
}

impl WorkQueue {
    /// Waits for work. Returns `None` when all senders have been dropped.
    fn wait_for_next(&mut self) -> Option<ReleaserWork> {
        loop {
            if self.failed.is_empty() {
                return self.new.blocking_recv();
            }
            match self.new.try_recv() {
                // The timer asks for the same releases again and again.
                Ok(work) if self.failed.iter().any(|failed| failed.covers(&work)) => continue,
                Ok(work) => return Some(work),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => {}
            }
            let now = Instant::now();
            match self.failed.iter().find(|failed| failed.next_attempt <= now) {
                Some(due) => return Some(due.work.clone()),
                None => thread::sleep(RETRY_CHECK_INTERVAL),
            }
        }
    }

    /// Tries failed work again after a pause. Each failure doubles the pause.
    fn retry_later(&mut self, work: ReleaserWork) {
        let last = self.failed.iter().find(|failed| failed.work.is_same(&work));
        let delay = last.map_or(MIN_RETRY_DELAY, |last| {
            (2 * last.delay).min(MAX_RETRY_DELAY)
        });
        self.forget_failures(&work);
        self.failed.push(FailedWork {
            closed_batches: work.closed_batch_count(),
            work,
            delay,
            next_attempt: Instant::now() + random_pause(delay),
        });
    }

    /// Forgets the failures of work that has succeeded or is no longer needed.
    fn forget_failures(&mut self, work: &ReleaserWork) {
        self.failed.retain(|failed| !failed.work.is_same(work));
    }
}

struct Releaser {
    reader: Arc<dyn StorageReader>,
    writer: mpsc::WeakSender<WriterRequest>,
    left_out: Counter,
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
            ProcessRole::Shuffler => build_sealed_release(reader, task, batch),
            ProcessRole::Collector | ProcessRole::Analyser => {
                build_release(reader, task, batch).map(|release| (release, 0))
            }
        })
        .and_then(|(release, left_out)| {
            // Dropped before the release, since the open transaction of the claim would keep a
            // database from cleaning up after it.
            drop(claim);
            reader.store_release(task.key(), &row, release)?;
            // Only now, since a failed release is built again.
            self.left_out.inc_by(left_out);
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

/// Counts a batch and returns the contents of its release.
fn build_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    batch: u64,
) -> Result<BatchRelease, JournalError> {
    match stored.task() {
        ReportOrSumTask::Reports(task) => build_reports_release(reader, stored, task, batch),
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
    stored_reports::for_each_unreleased_upload(reader, stored, batch, |upload, origin| {
        bodies.extend(upload.encoded_reports);
        ends.push((upload.id, upload.report_count, bodies.len()));
        if let Some(origin) = origin {
            origins.add_report_count(origin, upload.report_count.into());
        }
        Ok(())
    })?;
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
        blocks: blocks.collect(),
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

/// Counts the messages of a batch. The release keeps the counts but not the messages, because the
/// counts contain all their information.
fn build_sums_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    task: &SumTask,
    batch: u64,
) -> Result<BatchRelease, JournalError> {
    let (mut totals, mut uploads) = (SumTotals::new(task), Vec::new());
    let mut origins = OriginCounts::default();
    stored_reports::for_each_unreleased_upload(reader, stored, batch, |upload, origin| {
        let messages = task.decode_messages(&upload);
        let messages = messages.map_err(|source| invalid_upload_error(task.id(), source))?;
        uploads.push(upload.id.0);
        if let Some(origin) = origin {
            origins.add_report_count(origin, upload.report_count.into());
        }
        messages.into_iter().for_each(|own| totals.add_message(own));
        Ok(())
    })?;
    let mut totals = totals.encode();
    origins.append_encoded_to(&mut totals);
    Ok(BatchRelease {
        totals,
        blocks: Vec::new(),
        upload_ids: uploads,
    })
}

/// Builds the release of a batch of sealed reports: blocks that are sent to the analyser unchanged.
/// Also returns the number of reports that are left out.
///
/// All blocks have the same upload id, which identifies the batch. The id is the first 16 bytes of
/// a SHA-256 hash of the batch's contents.
fn build_sealed_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    batch: u64,
) -> Result<(BatchRelease, u64), JournalError> {
    let task = stored.task();
    let length = task.sealed_report_length();
    let (mut bytes, mut uploads) = (Vec::new(), Vec::new());
    stored_reports::for_each_unreleased_upload(reader, stored, batch, |upload, _| {
        if upload.encoded_reports.len() != upload.report_count as usize * length {
            let what = format!("upload {} has no sealed reports", upload.id);
            return Err(EngineError::Damaged(what).into());
        }
        uploads.push(upload.id.0);
        bytes.extend_from_slice(upload.encoded_reports);
        Ok(())
    })?;
    // Sealed bytes are random, so this order reveals nothing of the order of arrival.
    let mut reports: Vec<&[u8]> = bytes.chunks_exact(length).collect();
    reports.par_sort_unstable();
    let all = reports.len();
    let reports = drop_small_key_groups(&reports, task);
    let left_out = (all - reports.len()) as u64;
    // The id is a hash of the contents, so that a repeated release gets the same id.
    let mut hash = Sha256::new();
    hash.update(b"hushbin batch\0");
    hash.update(task.fingerprint().0);
    reports.iter().for_each(|report| hash.update(report));
    let digest = hash.finalize();
    let id = UploadId(*digest.first_chunk().expect("a digest has 32 bytes"));
    // A single report may be longer than `BLOCK_BYTES`.
    let each = (MAX_BLOCK_BYTES / length).clamp(1, MAX_BLOCK_REPORTS);
    let blocks = reports.chunks(each).map(|reports| {
        let upload = EncodedUpload {
            id,
            report_count: reports.len() as u32,
            encoded_reports: &reports.concat(),
        };
        sealed::encode_upload(&upload, &task.fingerprint())
    });
    let release = BatchRelease {
        totals: Vec::new(),
        blocks: blocks.collect(),
        upload_ids: uploads,
    };
    Ok((release, left_out))
}

/// Drops all sealed reports whose key has fewer reports than the task's minimum batch size, and
/// returns the remaining reports. The analyser sees which key a report was sealed to. So a report
/// is hidden only among reports with the same key. While keys change, a key may have only a few
/// reports.
fn drop_small_key_groups<'a>(sorted: &[&'a [u8]], task: &ReportOrSumTask) -> Vec<&'a [u8]> {
    let least = task.min_batch_reports();
    let mut kept = Vec::with_capacity(sorted.len());
    // A report begins with the id of its key, so sorting has made equal keys adjacent.
    for group in sorted.chunk_by(|one, next| one[..KEY_ID_BYTES] == next[..KEY_ID_BYTES]) {
        match group.len() as u64 >= least {
            true => kept.extend(group),
            false => tracing::warn!(
                task = task.id(),
                key = HEXLOWER.encode(&group[0][..KEY_ID_BYTES]),
                messages = group.len(),
                "left out: too few reports were sealed to this key to hide each other"
            ),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use hushbin_tests::uploads::draft;

    use super::*;
    use crate::store::engine::TaskKey;
    use crate::store::settings::TaskSettings;
    use crate::task::ReportOrSumDraft;

    fn stored_task(key: u64) -> Arc<StoredTask> {
        let task = r#"{ "id": "t", "items": 8, "sparsity": 2, "epsilon": 1.0, "value": "sign" }"#;
        let task = ReportOrSumDraft::from(draft(task)).resolve_task().unwrap();
        let settings = (ProcessRole::Collector, TaskSettings::default());
        Arc::new(StoredTask::new(TaskKey(key), task, settings, &[]))
    }

    #[test]
    fn failed_work_delays_no_other_task() {
        let (sender, new) = mpsc::unbounded_channel();
        let mut queue = WorkQueue {
            new,
            failed: Vec::new(),
        };
        let [failing, other] = [1, 2].map(stored_task);
        let release = |task: &Arc<StoredTask>| ReleaserWork::ReleaseClosedBatches(Arc::clone(task));
        let begin = Instant::now();
        queue.retry_later(release(&failing));
        assert!(queue.failed[0].next_attempt >= begin + MIN_RETRY_DELAY / 2);
        queue.retry_later(ReleaserWork::DeleteReports(Arc::clone(&failing), 1));
        assert_eq!(queue.failed.len(), 2);
        // The timer asks for the failed release again.
        sender.send(release(&failing)).unwrap();
        sender.send(release(&other)).unwrap();
        assert!(queue.wait_for_next().unwrap().is_same(&release(&other)));
        // The failed work follows once it is due.
        queue.failed[0].next_attempt = Instant::now();
        assert!(queue.wait_for_next().unwrap().is_same(&release(&failing)));
        drop(sender);
        assert!(queue.wait_for_next().is_none());
    }

    #[test]
    fn pauses_grow_until_an_attempt_succeeds() {
        let mut queue = WorkQueue {
            new: mpsc::unbounded_channel().1,
            failed: Vec::new(),
        };
        let work = ReleaserWork::ReleaseClosedBatches(stored_task(1));
        let delays: Vec<u64> = (0..9)
            .map(|_| {
                let begin = Instant::now();
                queue.retry_later(work.clone());
                let FailedWork {
                    delay,
                    next_attempt,
                    ..
                } = queue.failed[0];
                assert!(next_attempt >= begin + delay / 2);
                assert!(next_attempt <= Instant::now() + delay);
                delay.as_secs()
            })
            .collect();
        assert_eq!(delays, [10, 20, 40, 80, 160, 320, 600, 600, 600]);
        queue.forget_failures(&work);
        queue.retry_later(work);
        assert_eq!(queue.failed[0].delay, MIN_RETRY_DELAY);
    }
}
