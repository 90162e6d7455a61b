//! The one writer: takes what waits, commits it as a group, answers everybody.

use std::fs::File;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use hushbin::Report;
use tokio::sync::{mpsc, oneshot, watch};

use super::error::StoreError;
use super::journal::{Journal, JournalError, Outcome, Record};
use super::memory::Reservation;
use super::task::TaskIndex;
use super::totals::Fold;

/// Bounds of one commit, so that the first caller does not wait for a crowd.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupLimits {
    pub(super) uploads: usize,
    pub(super) bytes: usize,
}

/// A decoded upload with the caller who waits for its outcome.
pub(super) struct Waiting {
    pub(super) task: TaskIndex,
    pub(super) record: Record,
    pub(super) reports: Vec<Report>,
    pub(super) memory: Reservation,
    pub(super) reply: oneshot::Sender<Result<Outcome, StoreError>>,
}

/// Something for the writer to do.
pub(super) enum Request {
    /// Append an upload.
    Upload(Box<Waiting>),
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
    /// Held until the journal is closed.
    pub(super) lock: Option<File>,
    /// Dropped when the thread ends, in whatever way.
    pub(super) alive: watch::Sender<()>,
}

/// The requests that one commit will answer.
#[derive(Default)]
struct Group {
    records: Vec<Record>,
    reports: Vec<(TaskIndex, Vec<Report>)>,
    /// Parallel to the records; the memory is given back with the answer.
    callers: Vec<(oneshot::Sender<Result<Outcome, StoreError>>, Reservation)>,
    probes: Vec<oneshot::Sender<Result<(), StoreError>>>,
    bytes: usize,
    close: Option<oneshot::Sender<Result<(), StoreError>>>,
}

impl Group {
    fn add(&mut self, request: Request) {
        match request {
            Request::Upload(waiting) => {
                let Waiting {
                    task,
                    record,
                    reports,
                    memory,
                    reply,
                } = *waiting;
                self.bytes += record.bytes.len();
                self.records.push(record);
                self.reports.push((task, reports));
                self.callers.push((reply, memory));
            }
            Request::Probe(reply) => self.probes.push(reply),
            Request::Close(reply) => self.close = Some(reply),
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
        match self.journal.append(&group.records, prove) {
            Ok(outcomes) => self.acknowledge(group, &outcomes),
            Err(error) => {
                tracing::error!(%error, uploads = group.records.len(), "a commit failed");
                refuse(group, &Arc::new(error));
                Ok(())
            }
        }
    }

    fn acknowledge(&mut self, group: Group, outcomes: &[Outcome]) -> Result<(), FolderGone> {
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
        for ((reply, memory), outcome) in group.callers.into_iter().zip(outcomes) {
            drop(memory);
            let _ = reply.send(Ok(*outcome));
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
    for (reply, memory) in group.callers {
        drop(memory);
        let _ = reply.send(Err(StoreError::Failed(Arc::clone(error))));
    }
    for reply in group.probes {
        let _ = reply.send(Err(StoreError::Failed(Arc::clone(error))));
    }
}
