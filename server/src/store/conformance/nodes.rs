//! Tests of several nodes that share one database.

use std::ops::ControlFlow;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::storage::{DatabaseTestStorage, TestStorage};
use crate::store::engine::{
    BatchRelease, BatchState, EngineError, StorageEngine, StorageReader, TaskKey, UploadOutcome,
    UploadRecord,
};
use crate::store::test_records::{
    assert_outcomes, build_release, numbered_record, stored_contents, task_row_with_id,
};

fn shuffle<T>(rng: &mut ChaCha20Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, (rng.next_u64() % (last as u64 + 1)) as usize);
    }
}

/// Nodes append groups with the same ids in different orders. The nodes wait for each other without
/// a deadlock, even if batches are closed at the same time.
#[test]
fn nodes_that_have_the_same_ids_at_once_count_each_once() {
    const ROUNDS: u64 = 12;
    const DISTINCT_ID_COUNT: u64 = 200 * ROUNDS;
    let storage = DatabaseTestStorage::new();
    let task = storage.open().add_task(task_row_with_id("t"), 100).unwrap();
    let together = Barrier::new(4);
    let stored: u64 = thread::scope(|scope| {
        let node = |seed| {
            let mut engine = storage.open();
            let together = &together;
            move || {
                let mut rng = ChaCha20Rng::seed_from_u64(seed);
                let mut stored = 0;
                for round in 0..ROUNDS {
                    let mut numbers: Vec<u64> = (200 * round..200 * round + 200).collect();
                    shuffle(&mut rng, &mut numbers);
                    let group: Vec<UploadRecord> =
                        numbers.into_iter().map(numbered_record).collect();
                    // These ids are new, so the second node that inserts one has to wait.
                    together.wait();
                    let outcomes = engine.append_uploads(task, &group).unwrap();
                    let new = |own: &&UploadOutcome| **own == UploadOutcome::Stored;
                    stored += outcomes.iter().filter(new).count() as u64;
                    assert!(!outcomes.contains(&UploadOutcome::Conflict));
                    if round % 4 == seed {
                        let open = engine.batches(task).last().unwrap().number;
                        engine.close_batch(task, open, 200).unwrap();
                    }
                }
                stored
            }
        };
        let nodes: Vec<_> = (0..4).map(|seed| scope.spawn(node(seed))).collect();
        nodes.into_iter().map(|node| node.join().unwrap()).sum()
    });
    assert_eq!(stored, DISTINCT_ID_COUNT);
    // Statistics of a connection are complete once it is gone.
    let others = "SELECT count(*) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    while storage.query_server(others) != "0" {
        thread::sleep(Duration::from_millis(20));
    }
    let circles = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(storage.query_server(circles), "0");
    let engine = storage.open();
    let batches = engine.batches(task);
    assert!(batches.len() > 1, "{batches:?}");
    assert_eq!(
        batches.iter().map(|row| row.report_count).sum::<u64>(),
        DISTINCT_ID_COUNT
    );
    let mut expected: Vec<_> = (0..DISTINCT_ID_COUNT)
        .map(|number| numbered_record(number).body)
        .collect();
    expected.sort();
    assert_eq!(stored_contents(&*engine, task).0, expected);
}

/// Nodes append uploads while another node closes batches. Every acknowledged upload is in one
/// batch, and each batch counts exactly its uploads.
#[test]
fn nothing_slips_between_batches_that_others_close() {
    let storage = DatabaseTestStorage::new();
    let task = storage.open().add_task(task_row_with_id("t"), 100).unwrap();
    thread::scope(|scope| {
        for node in 0..3 {
            let mut engine = storage.open();
            scope.spawn(move || {
                for round in 0..60 {
                    let first = node * 10_000 + round * 10;
                    let group: Vec<UploadRecord> =
                        (first..first + 10).map(numbered_record).collect();
                    assert_outcomes(
                        UploadOutcome::Stored,
                        &engine.append_uploads(task, &group).unwrap(),
                    );
                }
            });
        }
        let mut closer = storage.open();
        scope.spawn(move || {
            for number in 1..20 {
                closer.close_batch(task, number, 200).unwrap();
            }
        });
    });
    let engine = storage.open();
    let batches = engine.batches(task);
    assert_eq!(batches.len(), 20);
    for batch in &batches {
        let mut uploads = 0;
        let count = &mut |_, _: &[u8]| {
            uploads += 1;
            ControlFlow::Continue(())
        };
        let reader = engine.reader();
        reader.for_each_upload(task, batch.number, count).unwrap();
        assert_eq!(uploads, batch.report_count, "{batch:?}");
    }
    assert_eq!(
        batches.iter().map(|row| row.report_count).sum::<u64>(),
        1800
    );
}

#[test]
fn a_batch_is_released_by_one_node_whoever_is_at_it() {
    let storage = DatabaseTestStorage::new();
    let mut first = storage.open();
    let second = storage.open();
    let task = first.add_task(task_row_with_id("t"), 100).unwrap();
    let group: Vec<UploadRecord> = (0..10).map(numbered_record).collect();
    first.append_uploads(task, &group).unwrap();
    let closed = first.close_batch(task, 1, 200).unwrap();
    let [one, two] = [first.reader(), second.reader()];
    let claim = |reader: &Arc<dyn StorageReader>| {
        reader
            .shared_storage()
            .unwrap()
            .claim_batch(task, 1)
            .unwrap()
    };
    let held = claim(&one).unwrap();
    assert!(claim(&two).is_none());
    drop(held);
    // Without claims, both nodes count. The second finds the batch released.
    let own = build_release(&*one, task, 1);
    let late = build_release(&*two, task, 1);
    let contents = |release: &BatchRelease| {
        let ids = release.upload_ids.clone();
        (release.totals.clone(), release.blocks.to_vec(), ids)
    };
    assert_eq!(contents(&own), contents(&late));
    one.store_release(task, &closed, own.clone()).unwrap();
    two.store_release(task, &closed, late).unwrap();
    // A node that starts late finds no uploads, because the batch is released.
    two.store_release(task, &closed, build_release(&*two, task, 1))
        .unwrap();
    assert_eq!(two.totals(task, 1).unwrap(), own.totals);
    // A node that dies loses its claim.
    let held = claim(&two).unwrap();
    drop((held, second, two));
    assert!(claim(&one).is_some());
}

/// A claim lasts as long as its process, and ends soon after its process is cut off.
#[test]
fn a_claim_outlives_the_limit_of_idle_transactions_but_not_its_node() {
    let storage = DatabaseTestStorage::new();
    let mut first = storage.open();
    let task = first.add_task(task_row_with_id("t"), 100).unwrap();
    let (cable, far) = storage.open_over_cable();
    let claim = |engine: &dyn StorageEngine| {
        let reader = engine.reader();
        reader
            .shared_storage()
            .unwrap()
            .claim_batch(task, 1)
            .unwrap()
    };
    let held = claim(&*far).unwrap();
    let begin = Instant::now();
    // The database ends transactions that are idle for three seconds.
    while begin.elapsed() < Duration::from_secs(5) {
        assert!(claim(&*first).is_none());
        thread::sleep(Duration::from_millis(100));
    }
    cable.pull();
    while claim(&*first).is_none() {
        assert!(begin.elapsed() < Duration::from_secs(120));
        thread::sleep(Duration::from_millis(100));
    }
    // The node notices that its claim is lost, and continues.
    cable.plug();
    drop(held);
    while claim(&*far).is_none() {
        assert!(begin.elapsed() < Duration::from_secs(240));
    }
}

/// A release that lacks counted uploads is refused.
#[test]
fn a_batch_that_lost_uploads_is_not_released() {
    let storage = DatabaseTestStorage::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    let group: Vec<UploadRecord> = (0..10).map(numbered_record).collect();
    engine.append_uploads(task, &group).unwrap();
    let closed = engine.close_batch(task, 1, 200).unwrap();
    let reader = engine.reader();
    let mut release = build_release(&*reader, task, 1);
    release.upload_ids.pop();
    let error = reader
        .store_release(task, &closed, release.clone())
        .unwrap_err();
    assert!(error.to_string().contains("expected 9 with 10"), "{error}");
    assert_eq!(engine.batches(task)[0].state, BatchState::Closed);
    assert_eq!(stored_contents(&*engine, task).0.len(), 10);
}

/// A promoted standby may lack a release that a node has seen.
#[test]
fn reports_of_an_unreleased_batch_are_not_deleted() {
    let storage = DatabaseTestStorage::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    engine.append_uploads(task, &[numbered_record(0)]).unwrap();
    let closed = engine.close_batch(task, 1, 200).unwrap();
    let reader = engine.reader();
    let error = reader.delete_reports(task, 1).unwrap_err();
    assert!(
        error.to_string().contains("batch 1 is not released"),
        "{error}"
    );
    let release = build_release(&*reader, task, 1);
    reader.store_release(task, &closed, release).unwrap();
    reader.delete_reports(task, 1).unwrap();
}

#[test]
fn a_task_that_another_node_has_is_the_same_and_another_one_is_refused() {
    let storage = DatabaseTestStorage::new();
    let [mut first, mut second] = [storage.open(), storage.open()];
    let task = first.add_task(task_row_with_id("t"), 100).unwrap();
    assert_eq!(second.add_task(task_row_with_id("t"), 300).unwrap(), task);
    assert_eq!(second.batches(task), first.batches(task));
    let mut differs = task_row_with_id("t");
    differs.fingerprint = [8; 16];
    let error = second.add_task(differs, 300).unwrap_err();
    assert!(matches!(error, EngineError::TaskExists(id) if id == "t"));
}

/// Nodes that start at the same moment create the tables only once.
#[test]
fn nodes_may_start_at_once() {
    let storage = DatabaseTestStorage::new();
    let keys: Vec<TaskKey> = thread::scope(|scope| {
        let start = || storage.open().add_task(task_row_with_id("t"), 100).unwrap();
        let nodes: Vec<_> = (0..6).map(|_| scope.spawn(start)).collect();
        nodes.into_iter().map(|node| node.join().unwrap()).collect()
    });
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}
