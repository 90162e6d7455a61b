//! Counts closed batches, on a separate thread.
//!
//! A batch is counted once, on all cores, when it is closed. Its totals, and its reports in a new
//! order, are then stored. Its uploads are deleted. A start counts only batches that a crash or
//! stop interrupted. Counting such a batch again yields the same bytes.

use std::mem;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use data_encoding::HEXLOWER;
use hushbin::sealed::{self, KEY_ID};
use hushbin::sums::SumTask;
use hushbin::upload::{self, EncodedUpload};
use hushbin::{Task, UploadId};
use hushbin_analysis::estimate::Totals;
use hushbin_analysis::sums::SumTotals;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};

use super::engine::{BatchClaim, BatchState, EngineError, Release, StorageReader};
use super::error::OpenError;
use super::fold::invalid_upload;
use super::origin::Origins;
use super::repeated_errors::RepeatedErrors;
use super::request::WriterRequest;
use super::role::Role;
use super::stored_reports;
use super::task::StoredTask;
use crate::task::CollectedTask;

/// Maximum number of reports in a block, equal to that of an upload.
const BLOCK_REPORTS: usize = hushbin::bounds::REPORTS.max as usize;

/// Maximum bytes of sealed reports in a block, unless a single report is longer.
const BLOCK_BYTES: usize = 1 << 19;

/// Pause after a failure. The most frequent failure is a full disk.
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Work for the thread.
pub(super) enum ReleaserWork {
    /// The task has closed batches.
    Closed(Arc<StoredTask>),
    /// The reports of a released batch are no longer needed.
    Forget(Arc<StoredTask>, u64),
}

/// Starts the thread. It ends when all senders of work are dropped.
pub(super) fn spawn(
    reader: Arc<dyn StorageReader>,
    writer: mpsc::WeakSender<WriterRequest>,
) -> std::io::Result<(mpsc::UnboundedSender<ReleaserWork>, JoinHandle<()>)> {
    let (sender, mut work) = mpsc::unbounded_channel();
    let again = sender.downgrade();
    let releaser = Releaser { reader, writer };
    let thread = thread::Builder::new()
        .name("releases".to_owned())
        .spawn(move || {
            let mut errors = RepeatedErrors::default();
            while let Some(next) = work.blocking_recv() {
                let (task, action, done) = match &next {
                    ReleaserWork::Closed(task) => {
                        (task, "releasing a batch", releaser.release(task))
                    }
                    ReleaserWork::Forget(task, batch) => {
                        let forgotten = releaser.forget(task, *batch);
                        (task, "forgetting reports", forgotten.map(|()| false))
                    }
                };
                if task.is_removed() || releaser.is_over() {
                    continue;
                }
                errors.record(Some(task), action, &done);
                match done {
                    Ok(false) => continue,
                    Ok(true) => {}
                    Err(_) => thread::sleep(RETRY_DELAY),
                }
                // Queued behind other work, so that a series of closed batches does not delay it.
                if let Some(again) = again.upgrade() {
                    let _ = again.send(next);
                }
            }
        })?;
    Ok((sender, thread))
}

struct Releaser {
    reader: Arc<dyn StorageReader>,
    writer: mpsc::WeakSender<WriterRequest>,
}

impl Releaser {
    /// Releases a task's oldest closed batch. Returns true if there was one, so that there may be
    /// more.
    fn release(&self, task: &Arc<StoredTask>) -> Result<bool, String> {
        let batches = task.batches();
        let closed = batches.iter().find(|row| row.state == BatchState::Closed);
        let Some(&row) = closed else {
            return Ok(false);
        };
        let batch = row.number;
        let reader = &*self.reader;
        let Some(claim) = claim(reader, task, batch).map_err(|error| error.to_string())? else {
            // Another process is counting this batch. The timer checks again later.
            return Ok(false);
        };
        // A separate pool, so that counting does not wait behind estimates on the shared pool.
        let pool = ThreadPoolBuilder::new().build();
        let pool = pool.map_err(|error| error.to_string())?;
        pool.install(|| match task.role() {
            Role::Shuffler => build_sealed_release(reader, task, batch),
            Role::Collector | Role::Analyser => build_release(reader, task, batch),
        })
        .and_then(|release| {
            drop(claim);
            // The open transaction of the claim would keep a database from cleaning up after the
            // release.
            Ok(reader.release(task.key(), &row, release)?)
        })
        .map_err(|error| error.to_string())?;
        self.notify_writer(task, batch)?;
        tracing::info!(task = task.task().id(), batch, "released");
        Ok(true)
    }

    fn forget(&self, task: &Arc<StoredTask>, batch: u64) -> Result<(), String> {
        let forgotten = self.reader.forget_reports(task.key(), batch);
        forgotten.map_err(|error| error.to_string())?;
        self.notify_writer(task, batch)?;
        tracing::info!(task = task.task().id(), batch, "its reports are forgotten");
        Ok(())
    }

    /// Returns true if the writer has ended, so that no one processes results any more.
    fn is_over(&self) -> bool {
        self.writer
            .upgrade()
            .is_none_or(|writer| writer.is_closed())
    }

    /// Asks the writer to take note of a change. If the writer has ended, the next start does so.
    fn notify_writer(&self, task: &Arc<StoredTask>, batch: u64) -> Result<(), String> {
        let (reply, answer) = oneshot::channel();
        let request = WriterRequest::SettleRelease {
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

/// Claims a batch. This always succeeds if no other process writes to the storage.
///
/// # Errors
/// When storage fails.
pub(super) fn claim(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    batch: u64,
) -> Result<Option<BatchClaim>, EngineError> {
    match reader.shared_storage() {
        Some(shared) => shared.claim(stored.key(), batch),
        None => Ok(Some(BatchClaim::new(()))),
    }
}

/// Counts a batch and returns the contents of its release.
fn build_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    batch: u64,
) -> Result<Release, OpenError> {
    match stored.task() {
        CollectedTask::Reports(task) => build_reports_release(reader, stored, task, batch),
        CollectedTask::Sums(task) => build_sums_release(reader, stored, task, batch),
    }
}

/// Counts a batch of reports and permutes them into blocks.
///
/// The reports stay the bytes that pages sent. Each is decoded once, to be counted.
fn build_reports_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    task: &Task,
    batch: u64,
) -> Result<Release, OpenError> {
    let (mut bodies, mut ends, mut origins) = (Vec::new(), Vec::new(), Origins::default());
    stored_reports::for_each_unreleased(reader, stored, batch, |upload, origin| {
        bodies.extend(upload.reports);
        ends.push((upload.id, upload.count, bodies.len()));
        if let Some(origin) = origin {
            origins.add(origin, upload.count.into());
        }
        Ok(())
    })?;
    let mut begin = 0;
    let uploads = ends.iter().map(|&(id, count, end)| {
        let reports = &bodies[mem::replace(&mut begin, end)..end];
        EncodedUpload { id, count, reports }
    });
    let uploads: Vec<EncodedUpload<'_>> = uploads.collect();
    let counted = count_uploads(task, &uploads);
    let (totals, mut reports) = counted.map_err(|source| invalid_upload(task.id(), source))?;
    // Sorted by bytes, so that the order reveals nothing of the order of arrival.
    reports.par_sort_unstable();
    let blocks = (0_u128..)
        .zip(reports.chunks(BLOCK_REPORTS))
        .map(|(number, reports)| {
            // Numbers serve as ids, since a block has nothing to do with the original uploads.
            let id = UploadId(number.to_be_bytes());
            let mut block = upload::header(id, &task.fingerprint(), reports.len() as u32);
            reports.iter().for_each(|(_, bytes)| block.extend(*bytes));
            block
        });
    let mut totals = totals.encode();
    if stored.role() == Role::Analyser {
        origins.append(&mut totals);
    }
    Ok(Release {
        totals,
        blocks: blocks.collect(),
        uploads: uploads.iter().map(|upload| upload.id.0).collect(),
    })
}

/// A report after its [`sort_prefix`].
type PrefixedReport<'a> = (u64, &'a [u8]);

/// Counts uploads. Returns the totals and the reports.
fn count_uploads<'a>(
    task: &Task,
    uploads: &[EncodedUpload<'a>],
) -> Result<(Totals, Vec<PrefixedReport<'a>>), hushbin::Error> {
    // Split by single uploads: a chunk of a few uploads with 4,096 reports each would keep one core
    // busy alone.
    let parts = uploads.par_iter().try_fold(
        || (Totals::new(task), Vec::new()),
        |(mut totals, mut reports), upload| {
            upload.for_each_report(task, |report, bytes| {
                totals.fold(&report);
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

/// Returns the first eight bytes of a report, its seed, as the number that sorts like them. Most
/// comparisons of a sort end here, without access to distant memory.
fn sort_prefix(report: &[u8]) -> u64 {
    let bytes = report.first_chunk().expect("a report begins with its seed");
    u64::from_be_bytes(*bytes)
}

/// Counts a batch of messages. The counts contain all information of the messages, which are not
/// kept.
fn build_sums_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    task: &SumTask,
    batch: u64,
) -> Result<Release, OpenError> {
    let (mut totals, mut uploads) = (SumTotals::new(task), Vec::new());
    let mut origins = Origins::default();
    stored_reports::for_each_unreleased(reader, stored, batch, |upload, origin| {
        let messages = task.decode_messages(&upload);
        let messages = messages.map_err(|source| invalid_upload(task.id(), source))?;
        uploads.push(upload.id.0);
        if let Some(origin) = origin {
            origins.add(origin, upload.count.into());
        }
        messages.into_iter().for_each(|own| totals.fold(own));
        Ok(())
    })?;
    let mut totals = totals.encode();
    origins.append(&mut totals);
    Ok(Release {
        totals,
        blocks: Vec::new(),
        uploads,
    })
}

/// Builds the release of a batch of sealed reports: blocks that are sent to the analyser unchanged.
///
/// All blocks have the same id, which identifies the batch. It is the beginning of a SHA-256 over
/// the contents.
fn build_sealed_release(
    reader: &dyn StorageReader,
    stored: &StoredTask,
    batch: u64,
) -> Result<Release, OpenError> {
    let task = stored.task();
    let length = task.sealed_bytes();
    let (mut bytes, mut uploads) = (Vec::new(), Vec::new());
    stored_reports::for_each_unreleased(reader, stored, batch, |upload, _| {
        if upload.reports.len() != upload.count as usize * length {
            let what = format!("upload {} has no sealed reports", upload.id);
            return Err(EngineError::Damaged(what).into());
        }
        uploads.push(upload.id.0);
        bytes.extend_from_slice(upload.reports);
        Ok(())
    })?;
    // Sealed bytes are random, so this order reveals nothing of the order of arrival.
    let mut reports: Vec<&[u8]> = bytes.chunks_exact(length).collect();
    reports.par_sort_unstable();
    let reports = drop_small_key_groups(&reports, task);
    // A hash of the contents, so that a release that is repeated gets the same id.
    let mut hash = Sha256::new();
    hash.update(b"hushbin batch\0");
    hash.update(task.fingerprint().0);
    reports.iter().for_each(|report| hash.update(report));
    let digest = hash.finalize();
    let id = UploadId(*digest.first_chunk().expect("a digest has 32 bytes"));
    // A single report may be longer than a block is meant to be.
    let each = (BLOCK_BYTES / length).clamp(1, BLOCK_REPORTS);
    let blocks = reports.chunks(each).map(|reports| {
        let upload = EncodedUpload {
            id,
            count: reports.len() as u32,
            reports: &reports.concat(),
        };
        sealed::encode(&upload, &task.fingerprint())
    });
    Ok(Release {
        totals: Vec::new(),
        blocks: blocks.collect(),
        uploads,
    })
}

/// Returns the sealed reports that enough reports with the same key hide, as the task demands. An
/// analyser distinguishes keys, so a report hides only among reports with its key. Reports are left
/// out if too few were sealed to the same key while keys were changing.
fn drop_small_key_groups<'a>(sorted: &[&'a [u8]], task: &CollectedTask) -> Vec<&'a [u8]> {
    let least = task.min_batch_reports();
    let mut kept = Vec::with_capacity(sorted.len());
    for group in sorted.chunk_by(|one, next| one[..KEY_ID] == next[..KEY_ID]) {
        match group.len() as u64 >= least {
            true => kept.extend(group),
            false => tracing::warn!(
                task = task.id(),
                key = HEXLOWER.encode(&group[0][..KEY_ID]),
                messages = group.len(),
                "left out, as too few were sealed by this key to hide each other"
            ),
        }
    }
    kept
}
