//! Running totals, folded on a thread of their own.
//!
//! Folding a report costs processor time and committing one costs disk time, so
//! the two overlap: the writer passes committed reports on and goes back to the
//! journal. It does so before it answers, and requests for totals stand in the
//! same queue, so totals always hold every upload acknowledged before they were
//! asked for.

use std::ops::ControlFlow;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hushbin::{Report, Upload};
use tokio::sync::{mpsc, oneshot};

use super::{OpenError, StoredTask, TaskIndex};
use crate::estimate::Totals;
use crate::store::journal::JournalReader;

/// Groups that may wait to be folded before the writer waits for the folder.
const WAITING_GROUPS: usize = 64;

/// How often rebuilding says how far it is.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// Something for the folding thread to do.
pub(super) enum Fold {
    /// Reports that are on disk now, each upload's under its task.
    Committed(Vec<(TaskIndex, Vec<Report>)>),
    /// A copy of one task's totals is wanted.
    Snapshot(TaskIndex, oneshot::Sender<Totals>),
}

/// Starts the folding thread on totals rebuilt from the journal. It ends when
/// all senders are gone.
pub(super) fn spawn(
    mut totals: Vec<Totals>,
) -> std::io::Result<(mpsc::Sender<Fold>, JoinHandle<()>)> {
    let (sender, mut receiver) = mpsc::channel(WAITING_GROUPS);
    let thread = thread::Builder::new()
        .name("totals".to_owned())
        .spawn(move || {
            while let Some(message) = receiver.blocking_recv() {
                match message {
                    Fold::Committed(uploads) => {
                        for (TaskIndex(index), reports) in uploads {
                            for report in &reports {
                                totals[index].fold(report);
                            }
                        }
                    }
                    Fold::Snapshot(TaskIndex(index), reply) => {
                        // A caller that went away needs no copy.
                        if !reply.is_closed() {
                            let _ = reply.send(totals[index].clone());
                        }
                    }
                }
            }
        })?;
    Ok((sender, thread))
}

/// Folds everything that the journal holds.
pub(super) fn rebuild(
    reader: &dyn JournalReader,
    tasks: &[StoredTask],
) -> Result<Vec<Totals>, OpenError> {
    tasks
        .iter()
        .map(|task| rebuild_task(reader, task))
        .collect()
}

fn rebuild_task(reader: &dyn JournalReader, stored: &StoredTask) -> Result<Totals, OpenError> {
    let task = stored.task();
    let mut totals = Totals::new(task);
    let mut uploads = 0_u64;
    let mut damage = None;
    let begin = Instant::now();
    let mut said = begin;
    reader.for_each_upload(stored.key(), &mut |bytes| {
        match Upload::decode(bytes, task) {
            Ok(upload) => {
                for report in &upload.reports {
                    totals.fold(report);
                }
            }
            Err(error) => {
                damage = Some(error);
                return ControlFlow::Break(());
            }
        }
        uploads += 1;
        if uploads.is_multiple_of(1024) && said.elapsed() >= PROGRESS_EVERY {
            said = Instant::now();
            tracing::info!(
                task = task.id(),
                uploads,
                reports = totals.reports(),
                "rebuilding totals"
            );
        }
        ControlFlow::Continue(())
    })?;
    if let Some(source) = damage {
        return Err(OpenError::StoredUpload {
            id: task.id().to_owned(),
            source,
        });
    }
    tracing::info!(
        task = task.id(),
        fingerprint = %task.fingerprint(),
        uploads,
        reports = totals.reports(),
        seconds = begin.elapsed().as_secs_f64(),
        "task ready"
    );
    Ok(totals)
}
