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

use hushbin::{Report, Task, Upload};
use rayon::prelude::*;
use tokio::sync::mpsc;

use super::error::OpenError;
use super::journal::JournalReader;
use super::task::{StoredTask, TaskIndex};
use hushbin_analysis::estimate::Totals;

/// Groups that may wait to be folded before the writer waits for the folder.
const WAITING_GROUPS: usize = 64;

/// Bytes of uploads that rebuilding reads before it folds them on all cores.
const BATCH_BYTES: usize = 8 << 20;

/// How often rebuilding says how far it is.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// Something for the folding thread to do.
pub(super) enum Fold {
    /// Reports that are on disk now, each upload's under its task.
    Committed(Vec<(TaskIndex, Vec<Report>)>),
    /// One task's totals are to be read.
    Read(TaskIndex, Box<dyn FnOnce(&Totals) + Send>),
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
                    Fold::Read(TaskIndex(index), visit) => visit(&totals[index]),
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
    let damaged = |source| OpenError::StoredUpload {
        id: task.id().to_owned(),
        source,
    };
    let mut totals = Totals::new(task);
    let mut batch = Batch::default();
    let mut uploads = 0_u64;
    let mut damage = None;
    let begin = Instant::now();
    let mut said = begin;
    reader.for_each_upload(stored.key(), &mut |bytes| {
        uploads += 1;
        batch.push(bytes);
        if batch.bytes.len() < BATCH_BYTES {
            return ControlFlow::Continue(());
        }
        if let Err(error) = batch.fold_into(&mut totals, task) {
            damage = Some(error);
            return ControlFlow::Break(());
        }
        batch.clear();
        if said.elapsed() >= PROGRESS_EVERY {
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
        return Err(damaged(source));
    }
    batch.fold_into(&mut totals, task).map_err(damaged)?;
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

/// Uploads that were read but not yet decoded.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    /// Where each upload ends.
    ends: Vec<usize>,
}

impl Batch {
    fn push(&mut self, upload: &[u8]) {
        self.bytes.extend_from_slice(upload);
        self.ends.push(self.bytes.len());
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The bytes of the upload of this index.
    fn upload(&self, index: usize) -> &[u8] {
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..self.ends[index]]
    }

    /// Decodes and folds all, a share on each core.
    ///
    /// # Errors
    /// That of the first upload that does not decode.
    fn fold_into(&self, totals: &mut Totals, task: &Task) -> Result<(), hushbin::Error> {
        let share = self.ends.len().div_ceil(rayon::current_num_threads());
        let begins = (0..self.ends.len()).into_par_iter().step_by(share.max(1));
        let parts: Vec<_> = begins
            .map(|begin| {
                let mut part = Totals::new(task);
                for index in begin..self.ends.len().min(begin + share) {
                    for report in &Upload::decode(self.upload(index), task)?.reports {
                        part.fold(report);
                    }
                }
                Ok(part)
            })
            .collect();
        for part in parts {
            totals.merge(&part?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use hushbin::{Error, Randomizer, TaskDraft, UploadId};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;
    use hushbin_analysis::estimate::points;

    const UPLOADS: u32 = 100;

    fn task() -> Task {
        let draft: TaskDraft = serde_json::from_str(
            r#"{ "id": "t", "items": 50, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
        )
        .unwrap();
        draft.resolve().unwrap()
    }

    fn uploads(task: &Task) -> Vec<Vec<u8>> {
        let mut randomizer = Randomizer::new(task);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut upload = |number: u32| {
            let report = randomizer.randomize(&[], &mut rng).unwrap().report;
            let mut id = [0; 16];
            id[..4].copy_from_slice(&number.to_le_bytes());
            Upload {
                id: UploadId(id),
                reports: vec![report; number as usize % 3 + 1],
            }
            .encode(&task.fingerprint())
        };
        (0..UPLOADS).map(&mut upload).collect()
    }

    fn on_cores<T: Send>(cores: usize, work: impl FnOnce() -> T + Send) -> T {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(cores);
        pool.build().unwrap().install(work)
    }

    #[test]
    fn batches_hold_what_their_uploads_hold_on_any_number_of_cores() {
        let task = task();
        let uploads = uploads(&task);
        let items: Vec<u64> = (0..50).collect();
        for count in [0, 1, 2, 99, 100] {
            let mut expected = Totals::new(&task);
            let mut batch = Batch::default();
            for bytes in &uploads[..count] {
                batch.push(bytes);
                let upload = Upload::decode(bytes, &task).unwrap();
                upload.reports.iter().for_each(|r| expected.fold(r));
            }
            for cores in [1, 3, 200] {
                let mut totals = Totals::new(&task);
                on_cores(cores, || batch.fold_into(&mut totals, &task)).unwrap();
                assert_eq!(totals.reports(), expected.reports());
                let (ours, theirs) = (&totals, &expected);
                assert_eq!(points(&task, ours, &items), points(&task, theirs, &items));
            }
        }
    }

    #[test]
    fn the_first_damage_is_told() {
        let task = task();
        let mut uploads = uploads(&task);
        uploads[40] = b"?".to_vec();
        uploads[90].truncate(20);
        let error_of = |index: usize| -> Error {
            let decoded: Result<Upload, Error> = Upload::decode(&uploads[index], &task);
            decoded.unwrap_err()
        };
        assert_ne!(error_of(40), error_of(90));
        let mut batch = Batch::default();
        uploads.iter().for_each(|upload| batch.push(upload));
        for cores in [1, 3, 100] {
            let mut totals = Totals::new(&task);
            let error = on_cores(cores, || batch.fold_into(&mut totals, &task)).unwrap_err();
            assert_eq!(error, error_of(40));
        }
    }
}
