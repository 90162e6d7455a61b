//! The one writer: takes what waits, commits it as a group, answers everybody.

use std::fs::File;
use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use hushbin::{Report, Upload, UploadId};
use tokio::sync::{mpsc, oneshot, watch};

use super::activity::Activity;
use super::error::StoreError;
use super::journal::{Journal, JournalError, Outcome, Record, TaskKey};
use super::memory::Reservation;
use super::task::TaskIndex;
use super::totals::Fold;

/// Bounds of one commit, so that the first caller does not wait for a crowd.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupLimits {
    pub(super) uploads: usize,
    pub(super) bytes: usize,
}

/// Uploads of one request that have been decoded under its task.
#[derive(Debug)]
pub(crate) struct Submission {
    /// The reports, and where each upload lies in the bytes.
    pub(crate) uploads: Vec<(Upload, Range<usize>)>,
    /// The bytes they were decoded from, which are what is kept.
    pub(crate) bytes: Vec<u8>,
    /// The memory reserved for them, given back with the answer.
    pub(crate) memory: Reservation,
}

/// Decoded uploads of one task, with the caller who waits for their outcomes.
pub(super) struct Waiting {
    pub(super) task: TaskIndex,
    pub(super) key: TaskKey,
    pub(super) submission: Submission,
    pub(super) reply: oneshot::Sender<Result<Receipt, StoreError>>,
}

/// What became of the uploads of one caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// Uploads submitted.
    pub(crate) uploads: usize,
    /// Reports of those that are new.
    pub(crate) reports: usize,
    /// Uploads that the journal held already, or that came twice.
    pub(crate) duplicates: usize,
    /// The first upload whose id the journal has other bytes under.
    pub(crate) conflict: Option<UploadId>,
}

impl Receipt {
    fn add(&mut self, id: UploadId, reports: usize, outcome: Outcome) {
        self.uploads += 1;
        match outcome {
            Outcome::Stored => self.reports += reports,
            Outcome::Duplicate => self.duplicates += 1,
            Outcome::Conflict => self.conflict = self.conflict.or(Some(id)),
        }
    }
}

/// Somebody who waits for the outcomes of so many records.
struct Caller {
    records: usize,
    /// Of those outcomes that are known.
    receipt: Receipt,
    /// Given back with the answer.
    memory: Reservation,
    reply: oneshot::Sender<Result<Receipt, StoreError>>,
}

/// Something for the writer to do.
pub(super) enum Request {
    /// Append uploads.
    Uploads(Waiting),
    /// Prove that a write reaches the disk.
    Probe(oneshot::Sender<Result<(), StoreError>>),
    /// Take what waits, refuse what comes, leave the journal tidy.
    Close(oneshot::Sender<Result<(), StoreError>>),
}

/// What is owned by the writer's thread.
pub(super) struct Writer {
    pub(super) journal: Box<dyn Journal>,
    pub(super) queue: mpsc::Receiver<Request>,
    pub(super) folder: mpsc::Sender<Fold>,
    pub(super) limits: GroupLimits,
    pub(super) activity: Activity,
    /// Held until the journal is closed.
    pub(super) lock: Option<File>,
    /// Dropped when the thread ends, in whatever way.
    pub(super) alive: watch::Sender<()>,
}

/// The requests that one commit will answer.
#[derive(Default)]
struct Group {
    records: Vec<Record>,
    /// Parallel to the records.
    reports: Vec<(TaskIndex, Vec<Report>)>,
    /// In the order of the records, which are theirs.
    callers: Vec<Caller>,
    probes: Vec<oneshot::Sender<Result<(), StoreError>>>,
    bytes: usize,
    close: Option<oneshot::Sender<Result<(), StoreError>>>,
}

impl Group {
    fn add(&mut self, request: Request) {
        match request {
            Request::Uploads(waiting) => self.add_uploads(waiting),
            Request::Probe(reply) => self.probes.push(reply),
            Request::Close(reply) => self.close = Some(reply),
        }
    }

    fn add_uploads(&mut self, waiting: Waiting) {
        let Waiting {
            task,
            key,
            submission,
            reply,
        } = waiting;
        let Submission {
            uploads,
            mut bytes,
            memory,
        } = submission;
        self.bytes += bytes.len();
        self.callers.push(Caller {
            records: uploads.len(),
            receipt: Receipt::default(),
            memory,
            reply,
        });
        let alone = uploads.len() == 1;
        for (upload, range) in uploads {
            // The journal keeps each by itself. Copies are as long as what they are
            // copied from, of one caller at a time.
            let bytes = match alone {
                true => mem::take(&mut bytes),
                false => bytes[range].to_vec(),
            };
            self.records.push(Record {
                task: key,
                upload: upload.id.0,
                bytes,
            });
            self.reports.push((task, upload.reports));
        }
    }

    /// Writes on each receipt what became of its caller's records.
    fn settle(&mut self, outcomes: &[Outcome]) {
        let mut fates = self.records.iter().zip(&self.reports).zip(outcomes);
        for caller in &mut self.callers {
            for ((record, (_, reports)), outcome) in fates.by_ref().take(caller.records) {
                let id = UploadId(record.upload);
                caller.receipt.add(id, reports.len(), *outcome);
            }
        }
    }

    fn has_room(&self, limits: GroupLimits) -> bool {
        self.records.len() + self.probes.len() < limits.uploads && self.bytes < limits.bytes
    }
}

impl Writer {
    /// Starts the thread. It ends after [`Request::Close`], or when all senders
    /// are gone.
    pub(super) fn spawn(self) -> std::io::Result<JoinHandle<()>> {
        thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || self.run())
    }

    fn run(mut self) {
        let mut closing = None;
        while let Some(first) = self.queue.blocking_recv() {
            let mut group = Group::default();
            group.add(first);
            while group.has_room(self.limits) {
                let Ok(next) = self.queue.try_recv() else {
                    break;
                };
                group.add(next);
            }
            if let Some(reply) = group.close.take() {
                // What waits already is still served; the loop ends behind it.
                self.queue.close();
                closing = Some(reply);
            }
            if self.commit(group).is_err() {
                tracing::error!("totals can no longer be kept: the collector has to restart");
                return;
            }
        }
        let tidy = self.journal.checkpoint();
        if let Err(error) = &tidy {
            // Nothing is lost: the log stays and is read at the next start.
            tracing::error!(%error, "the journal could not be tidied up");
        }
        drop(self.journal);
        drop(self.lock);
        if let Some(reply) = closing {
            let _ = reply.send(tidy.map_err(StoreError::failed));
        }
        drop(self.alive);
    }

    /// Commits and answers a group; fails only when nobody folds any more.
    fn commit(&mut self, group: Group) -> Result<(), FolderGone> {
        if group.records.is_empty() && group.probes.is_empty() {
            return Ok(());
        }
        let prove = !group.probes.is_empty();
        let begin = Instant::now();
        match self.journal.append(&group.records, prove) {
            Ok(outcomes) => {
                self.activity.committed(begin.elapsed());
                self.acknowledge(group, &outcomes)
            }
            Err(error) => {
                self.activity.failures.inc();
                tracing::error!(%error, uploads = group.records.len(), "a commit failed");
                refuse(group, &Arc::new(error));
                Ok(())
            }
        }
    }

    fn acknowledge(&mut self, mut group: Group, outcomes: &[Outcome]) -> Result<(), FolderGone> {
        group.settle(outcomes);
        for ((_, reports), outcome) in group.reports.iter().zip(outcomes) {
            self.activity.settled(reports.len(), *outcome);
        }
        let stored: Vec<_> = group
            .reports
            .into_iter()
            .zip(outcomes)
            .filter_map(|(reports, outcome)| (*outcome == Outcome::Stored).then_some(reports))
            .collect();
        // Before the answers, so that whoever was answered finds itself counted.
        let folded = if stored.is_empty() {
            Ok(())
        } else {
            self.folder
                .blocking_send(Fold::Committed(stored))
                .map_err(|_| FolderGone)
        };
        // A caller that went away will ask again and learn that it is a duplicate.
        for caller in group.callers {
            drop(caller.memory);
            let _ = caller.reply.send(Ok(caller.receipt));
        }
        for reply in group.probes {
            let _ = reply.send(Ok(()));
        }
        folded
    }
}

/// The folding thread has ended before the writer, which only a defect can cause.
struct FolderGone;

fn refuse(group: Group, error: &Arc<JournalError>) {
    for caller in group.callers {
        drop(caller.memory);
        let _ = caller
            .reply
            .send(Err(StoreError::Failed(Arc::clone(error))));
    }
    for reply in group.probes {
        let _ = reply.send(Err(StoreError::Failed(Arc::clone(error))));
    }
}
