//! Test cases for every engine.

use std::ops::ControlFlow;

use super::storage::TestStorage;
use crate::store::engine::{
    BatchRelease, BatchRow, BatchState, EngineError, ReleasedBlocks, StorageEngine, StorageReader,
    TaskKey, TaskRow, UploadOutcome, UploadRecord,
};
use crate::store::shuffled_block::BlockRecord;
use crate::store::task_log::{TaskLogEvent, check_task_log};
use crate::store::test_records::{
    assert_outcomes, build_release, conflicting_record, numbered_record, stored_contents,
    task_row_with_id,
};

/// Closes and releases the task's open batch, and returns the closed batch.
fn close_and_release_batch(engine: &mut dyn StorageEngine, task: TaskKey) -> BatchRow {
    let open = engine.batches(task).last().unwrap().number;
    let closed = engine.close_batch(task, open, 200).unwrap();
    let reader = engine.reader();
    let release = build_release(&*reader, task, closed.number);
    reader.store_release(task, &closed, release).unwrap();
    engine.refresh_changed_batch(task, closed.number).unwrap();
    closed
}

/// Only the open batch's records of blocks are found. They are the uploads with the length of a
/// record, and an id that begins with eight zeros, such as that of record 0.
pub(super) fn records_of_blocks_are_found_in_the_open_batch<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    assert_eq!(engine.open_block_bodies(task).unwrap(), [] as [Vec<u8>; 0]);
    let mut group: Vec<UploadRecord> = (0..50).map(numbered_record).collect();
    group[0].body = vec![7; BlockRecord::LENGTH];
    assert!(BlockRecord::is_block(&group[0].id, &group[0].body));
    // A client chose this id.
    group[1].id = 1_u128.to_be_bytes();
    group[1].body = vec![7; BlockRecord::LENGTH + 1];
    engine.append_uploads(task, &group).unwrap();
    // Sent again, they are found once.
    engine.append_uploads(task, &group).unwrap();
    let another = engine.add_task(task_row_with_id("u"), 100).unwrap();
    let found = [group[0].body.clone()];
    assert_eq!(engine.open_block_bodies(task).unwrap(), found);
    assert_eq!(engine.open_block_bodies(another).unwrap().len(), 0);
    drop(engine);
    let mut engine = storage.open();
    assert_eq!(engine.open_block_bodies(task).unwrap(), found);
    engine.close_batch(task, 1, 200).unwrap();
    assert_eq!(engine.open_block_bodies(task).unwrap().len(), 0);
    drop(engine);
    let mut engine = storage.open();
    assert_eq!(engine.open_block_bodies(task).unwrap().len(), 0);
}

pub(super) fn an_id_counts_once_whatever_becomes_of_its_batch<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    let group: Vec<UploadRecord> = (0..50).map(numbered_record).collect();
    let twice = [&group[..], &group[..]].concat();
    let outcomes = engine.append_uploads(task, &twice).unwrap();
    assert_outcomes(UploadOutcome::Stored, &outcomes[..50]);
    assert_outcomes(UploadOutcome::Duplicate, &outcomes[50..]);
    let is_known = |engine: &mut dyn StorageEngine| {
        let backwards: Vec<UploadRecord> = group.iter().rev().cloned().collect();
        let outcomes = engine.append_uploads(task, &backwards).unwrap();
        assert_outcomes(UploadOutcome::Duplicate, &outcomes);
    };
    is_known(&mut *engine);
    engine.close_batch(task, 1, 200).unwrap();
    is_known(&mut *engine);
    let reader = engine.reader();
    let closed = engine.batches(task)[0];
    let release = build_release(&*reader, task, 1);
    reader.store_release(task, &closed, release).unwrap();
    is_known(&mut *engine);
    engine.refresh_changed_batch(task, 1).unwrap();
    is_known(&mut *engine);
    reader.delete_reports(task, 1).unwrap();
    engine.refresh_changed_batch(task, 1).unwrap();
    is_known(&mut *engine);
    assert_eq!(engine.batches(task).last().unwrap().report_count, 0);
    // Another task has its own ids.
    let another = engine.add_task(task_row_with_id("u"), 100).unwrap();
    assert_outcomes(
        UploadOutcome::Stored,
        &engine.append_uploads(another, &group).unwrap(),
    );
}

pub(super) fn other_bytes_under_an_id_are_refused_until_it_is_released<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    let outcomes = engine
        .append_uploads(
            task,
            &[
                numbered_record(1),
                conflicting_record(1),
                numbered_record(2),
            ],
        )
        .unwrap();
    let (stored, conflict) = (UploadOutcome::Stored, UploadOutcome::Conflict);
    assert_eq!(outcomes, [stored, conflict, stored]);
    let outcomes = engine
        .append_uploads(
            task,
            &[
                conflicting_record(2),
                numbered_record(3),
                numbered_record(2),
            ],
        )
        .unwrap();
    assert_eq!(outcomes, [conflict, stored, UploadOutcome::Duplicate]);
    drop(engine);
    let mut engine = storage.open();
    engine.close_batch(task, 1, 200).unwrap();
    assert_outcomes(
        conflict,
        &engine
            .append_uploads(task, &[conflicting_record(3)])
            .unwrap(),
    );
    assert_eq!(engine.batches(task)[0].report_count, 3);
    let reader = engine.reader();
    let closed = engine.batches(task)[0];
    let release = build_release(&*reader, task, 1);
    reader.store_release(task, &closed, release).unwrap();
    engine.refresh_changed_batch(task, 1).unwrap();
    // Of a released upload only the id is known.
    assert_outcomes(
        UploadOutcome::Duplicate,
        &engine
            .append_uploads(task, &[conflicting_record(3)])
            .unwrap(),
    );
}

pub(super) fn batches_are_told_as_they_are<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    let open = |number, opened, reports| BatchRow {
        number,
        state: BatchState::Open,
        opened_at: opened,
        closed_at: None,
        report_count: reports,
        reports_kept: true,
    };
    assert_eq!(engine.batches(task), [open(1, 100, 0)]);
    let mut large = numbered_record(1);
    large.report_count = 4000;
    engine
        .append_uploads(task, &[large, numbered_record(2)])
        .unwrap();
    assert_eq!(engine.batches(task), [open(1, 100, 4001)]);
    let closed = BatchRow {
        state: BatchState::Closed,
        closed_at: Some(150),
        ..open(1, 100, 4001)
    };
    assert_eq!(engine.close_batch(task, 1, 150).unwrap(), closed);
    engine.append_uploads(task, &[numbered_record(3)]).unwrap();
    let expected = [closed, open(2, 150, 1)];
    assert_eq!(engine.batches(task), expected);
    drop(engine);
    let engine = storage.open();
    assert_eq!(engine.batches(task), expected);
    assert_eq!(engine.batches(TaskKey(99)), []);
}

pub(super) fn a_batch_is_closed_once<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    engine.append_uploads(task, &[numbered_record(1)]).unwrap();
    let closed = engine.close_batch(task, 1, 200).unwrap();
    // A second call, as from a node that does not know of the first.
    assert_eq!(engine.close_batch(task, 1, 300).unwrap(), closed);
    assert_eq!(engine.batches(task).len(), 2);
    assert_eq!(engine.close_batch(task, 2, 300).unwrap().number, 2);
    assert_eq!(engine.batches(task).len(), 3);
}

pub(super) fn what_is_released_stays_and_is_forgotten_when_told<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    let group: Vec<UploadRecord> = (0..10).map(numbered_record).collect();
    engine.append_uploads(task, &group).unwrap();
    let closed = engine.close_batch(task, 1, 200).unwrap();
    let reader = engine.reader();
    let release = build_release(&*reader, task, 1);
    reader
        .store_release(task, &closed, release.clone())
        .unwrap();
    engine.refresh_changed_batch(task, 1).unwrap();
    let blocks = |reader: &dyn StorageReader| {
        let mut blocks = Vec::new();
        let visit = &mut |block: &[u8]| {
            blocks.push(block.to_vec());
            ControlFlow::Continue(())
        };
        reader.for_each_block(task, 1, visit).unwrap();
        blocks
    };
    let row = engine.batches(task)[0];
    assert_eq!((row.state, row.reports_kept), (BatchState::Released, true));
    assert_eq!(reader.totals(task, 1).unwrap(), release.totals);
    assert_eq!(blocks(&*reader), release.blocks.to_vec());
    drop(engine);
    let mut engine = storage.open();
    let reader = engine.reader();
    assert_eq!(reader.totals(task, 1).unwrap(), release.totals);
    assert_eq!(blocks(&*reader), release.blocks.to_vec());
    let mut visited = 0;
    let changed = reader.change_block(task, 1, &mut |block| {
        assert_eq!(block, release.blocks.to_vec()[visited]);
        visited += 1;
        (visited == 2).then(|| b"changed".to_vec())
    });
    assert!(changed.unwrap());
    let mut expected = release.blocks.to_vec();
    expected[1] = b"changed".to_vec();
    assert_eq!(blocks(&*reader), expected);
    let unchanged = reader.change_block(task, 1, &mut |_| None);
    assert!(!unchanged.unwrap());
    let removed = reader.change_block(task, 1, &mut |_| Some(Vec::new()));
    assert!(removed.unwrap());
    assert_eq!(blocks(&*reader), expected[1..]);
    assert_eq!(reader.totals(task, 1).unwrap(), release.totals);
    reader.delete_reports(task, 1).unwrap();
    engine.refresh_changed_batch(task, 1).unwrap();
    assert!(!engine.batches(task)[0].reports_kept);
    assert_eq!(engine.batches(task)[0].report_count, 10);
    assert_eq!(reader.totals(task, 1).unwrap(), release.totals);
    assert!(blocks(&*reader).is_empty());
}

pub(super) fn a_batch_that_is_released_without_reports_keeps_none<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    engine
        .append_uploads(task, &[numbered_record(1), numbered_record(2)])
        .unwrap();
    let closed = engine.close_batch(task, 1, 200).unwrap();
    let reader = engine.reader();
    let release = BatchRelease {
        blocks: ReleasedBlocks::InMemory(Vec::new()),
        ..build_release(&*reader, task, 1)
    };
    reader
        .store_release(task, &closed, release.clone())
        .unwrap();
    engine.refresh_changed_batch(task, 1).unwrap();
    let row = engine.batches(task)[0];
    assert_eq!(
        (row.state, row.reports_kept, row.report_count),
        (BatchState::Released, false, 2)
    );
    assert_eq!(reader.totals(task, 1).unwrap(), release.totals);
    drop(engine);
    let engine = storage.open();
    assert_eq!(engine.batches(task)[0], row);
}

pub(super) fn tasks_come_change_and_go<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let first = engine.add_task(task_row_with_id("t"), 100).unwrap();
    let second = engine.add_task(task_row_with_id("u"), 100).unwrap();
    engine.append_uploads(first, &[numbered_record(1)]).unwrap();
    close_and_release_batch(&mut *engine, first);
    engine.append_uploads(first, &[numbered_record(2)]).unwrap();
    engine
        .append_uploads(second, &[numbered_record(1)])
        .unwrap();
    engine.configure_task(second, r#"{"a":1}"#).unwrap();
    engine.remove_task(first).unwrap();
    let gone =
        |done: Result<(), EngineError>| assert!(matches!(done, Err(EngineError::TaskDeleted)));
    gone(
        engine
            .append_uploads(first, &[numbered_record(3)])
            .map(drop),
    );
    gone(engine.close_batch(first, 2, 200).map(drop));
    gone(engine.refresh_changed_batch(first, 1));
    let again = engine.add_task(task_row_with_id("t"), 300).unwrap();
    assert!(again != first && again != second);
    // Nothing of the deleted task is left.
    assert_outcomes(
        UploadOutcome::Stored,
        &engine
            .append_uploads(again, &[numbered_record(1), numbered_record(2)])
            .unwrap(),
    );
    drop(engine);
    let engine = storage.open();
    let listed = |key, id, settings: &str| TaskRow {
        key,
        settings: settings.to_owned(),
        ..task_row_with_id(id)
    };
    let expected = [listed(second, "u", r#"{"a":1}"#), listed(again, "t", "{}")];
    assert_eq!(engine.tasks().unwrap(), expected);
    assert_eq!(
        stored_contents(&*engine, second).0,
        [numbered_record(1).body]
    );
}

pub(super) fn all_is_there_after_a_restart<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    for round in 0..12 {
        let group: Vec<UploadRecord> = (10 * round..10 * round + 10).map(numbered_record).collect();
        assert_outcomes(
            UploadOutcome::Stored,
            &engine.append_uploads(task, &group).unwrap(),
        );
        if round % 2 == 0 {
            close_and_release_batch(&mut *engine, task);
        }
        let before = (engine.batches(task), stored_contents(&*engine, task));
        drop(engine);
        engine = storage.open();
        assert_eq!(
            (engine.batches(task), stored_contents(&*engine, task)),
            before
        );
    }
    let all: Vec<UploadRecord> = (0..120).map(numbered_record).collect();
    assert_outcomes(
        UploadOutcome::Duplicate,
        &engine.append_uploads(task, &all).unwrap(),
    );
}

pub(super) fn whoever_reads_may_stop<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(task_row_with_id("t"), 100).unwrap();
    let group: Vec<UploadRecord> = (0..100).map(numbered_record).collect();
    engine.append_uploads(task, &group).unwrap();
    let reader = engine.reader();
    let mut seen = 0;
    let stop = |seen: &mut i32| {
        *seen += 1;
        match *seen % 3 {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    reader
        .for_each_upload(task, 1, &mut |_, _| stop(&mut seen))
        .unwrap();
    assert_eq!(seen, 3);
    close_and_release_batch(&mut *engine, task);
    reader
        .for_each_block(task, 1, &mut |_| stop(&mut seen))
        .unwrap();
    assert_eq!(seen, 6);
}

pub(super) fn task_log_follows_the_tasks_over_restarts<S: TestStorage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let first = engine.add_task(task_row_with_id("t"), 100).unwrap();
    assert_eq!(engine.complete_task_log(100).unwrap().len(), 1);
    engine.remove_task(first).unwrap();
    let changed = TaskRow {
        fingerprint: [8; 16],
        ..task_row_with_id("t")
    };
    // The process ends before it can append to the log.
    engine.add_task(changed, 100).unwrap();
    drop(engine);
    let mut engine = storage.open();
    let entries = engine.complete_task_log(200).unwrap();
    check_task_log(&entries).unwrap();
    let found = entries
        .iter()
        .map(|own| (own.time, own.event, own.fingerprint[0]));
    let expected = [
        (100, TaskLogEvent::Added, 7),
        (200, TaskLogEvent::Removed, 7),
        (200, TaskLogEvent::Added, 8),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(engine.complete_task_log(300).unwrap(), entries);
    assert_eq!(engine.reader().task_log_after(1).unwrap(), entries[1..]);
}
