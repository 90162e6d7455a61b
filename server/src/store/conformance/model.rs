//! Compares an engine with a model of it, through many random steps.

use std::collections::HashMap;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::storage::TestStorage;
use crate::store::engine::{BatchRow, BatchState, UploadOutcome, UploadRecord};
use crate::store::test_records::{
    build_release, conflicting_record, numbered_record, stored_contents, task_row_with_id,
};

/// Expected contents of a task in the engine under test.
#[derive(Default)]
struct ExpectedTask {
    /// Maps the number of each stored record to two values. The first value is true for the body of
    /// `numbered_record`, and false for the body of `conflicting_record`. The second value is the
    /// number of the batch.
    stored_records_by_number: HashMap<u64, (bool, u64)>,
    batches: Vec<BatchRow>,
}

impl ExpectedTask {
    fn append(&mut self, numbers: &[(u64, bool)]) -> Vec<UploadOutcome> {
        let open = self.batches.len() as u64;
        let outcome =
            |&(number, own): &(u64, bool)| match self.stored_records_by_number.get(&number) {
                None => {
                    self.stored_records_by_number.insert(number, (own, open));
                    self.batches.last_mut().unwrap().report_count += 1;
                    UploadOutcome::Stored
                }
                Some(&(held, batch)) => {
                    let released = self.batches[batch as usize - 1].state == BatchState::Released;
                    match released || held == own {
                        true => UploadOutcome::Duplicate,
                        false => UploadOutcome::Conflict,
                    }
                }
            };
        numbers.iter().map(outcome).collect()
    }

    fn open_new_batch(&mut self, now: u64) {
        self.batches.push(BatchRow {
            number: self.batches.len() as u64 + 1,
            state: BatchState::Open,
            opened_at: now,
            closed_at: None,
            report_count: 0,
            reports_kept: true,
        });
    }

    fn unreleased_bodies(&self) -> Vec<Vec<u8>> {
        let unreleased = self
            .stored_records_by_number
            .iter()
            .filter(|(_, (_, batch))| {
                self.batches[*batch as usize - 1].state != BatchState::Released
            });
        let mut bodies: Vec<_> = unreleased
            .map(|(&number, &(own, _))| match own {
                true => numbered_record(number).body,
                false => conflicting_record(number).body,
            })
            .collect();
        bodies.sort();
        bodies
    }
}

pub(super) fn whatever_is_done_it_is_as_the_model_says<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 1).unwrap();
    let mut model = ExpectedTask::default();
    model.open_new_batch(1);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let below = |rng: &mut ChaCha20Rng, most: u64| rng.next_u64() % most;
    for now in 2..300 {
        match below(&mut rng, 10) {
            0..5 => {
                let count = 1 + below(&mut rng, 20);
                let numbers: Vec<(u64, bool)> = (0..count)
                    .map(|_| (below(&mut rng, 10 * now), below(&mut rng, 8) > 0))
                    .collect();
                let group: Vec<UploadRecord> = numbers
                    .iter()
                    .map(|&(number, own)| {
                        if own {
                            numbered_record(number)
                        } else {
                            conflicting_record(number)
                        }
                    })
                    .collect();
                let outcomes = engine.append_uploads(task, &group).unwrap();
                assert_eq!(outcomes, model.append(&numbers), "step {now}");
            }
            5 => {
                let open = model.batches.last_mut().unwrap();
                open.state = BatchState::Closed;
                open.closed_at = Some(now);
                let number = open.number;
                engine.close_batch(task, number, now).unwrap();
                model.open_new_batch(now);
            }
            6 | 7 => {
                let closed = |row: &&mut BatchRow| row.state == BatchState::Closed;
                if let Some(row) = model.batches.iter_mut().find(closed) {
                    let reader = engine.reader();
                    let release = build_release(&*reader, task, row.number);
                    reader.store_release(task, row, release).unwrap();
                    engine.refresh_changed_batch(task, row.number).unwrap();
                    row.state = BatchState::Released;
                }
            }
            8 => {
                let kept =
                    |row: &&mut BatchRow| row.state == BatchState::Released && row.reports_kept;
                if let Some(row) = model.batches.iter_mut().find(kept) {
                    engine.reader().delete_reports(task, row.number).unwrap();
                    engine.refresh_changed_batch(task, row.number).unwrap();
                    row.reports_kept = false;
                }
            }
            _ => {
                drop(engine);
                engine = storage.open();
            }
        }
        let told = engine.batches(task);
        // A batch without reports has none to delete, so `kept` may differ.
        assert_eq!(told.len(), model.batches.len());
        for (told, own) in told.iter().zip(&model.batches) {
            let kept = told.report_count == 0 || told.reports_kept == own.reports_kept;
            assert!(kept, "step {now}: {told:?}");
            assert_eq!(
                BatchRow {
                    reports_kept: true,
                    ..*told
                },
                BatchRow {
                    reports_kept: true,
                    ..*own
                }
            );
        }
        if now % 10 == 0 {
            assert_eq!(
                stored_contents(&*engine, task).0,
                model.unreleased_bodies(),
                "step {now}"
            );
        }
    }
}
