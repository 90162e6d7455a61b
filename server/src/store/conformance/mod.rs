//! What every engine has to do, whatever it stores in: the same tests over each of them.

mod model;
mod nodes;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use hushbin_tests::postgres::{Server, shared};

use super::engine::{
    BatchRow, BatchState, Engine, EngineError, Outcome, Reader, Record, Release, TaskKey, TaskRow,
};
use super::files::Files;
use super::place::Place;
use super::postgres::{Database, Postgres};

pub(super) fn row(id: &str) -> TaskRow {
    TaskRow {
        key: TaskKey(0),
        id: id.to_owned(),
        fingerprint: [7; 16],
        parameters: "{}".to_owned(),
        settings: "{}".to_owned(),
    }
}

pub(super) fn record(number: u64) -> Record {
    let mut upload = [0; 16];
    // Ids are random, so their order is not that of arrival.
    upload[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    Record {
        upload,
        reports: 1,
        body: [&[1], &number.to_le_bytes()[..], &[3]].concat(),
    }
}

/// The same id with other bytes.
fn other(number: u64) -> Record {
    let mut record = record(number);
    record.body.push(9);
    record
}

pub(super) fn release_of(reader: &dyn Reader, task: TaskKey, batch: u64) -> Release {
    let (mut bodies, mut uploads) = (Vec::new(), Vec::new());
    let visit = &mut |id, body: &[u8]| {
        uploads.push(id);
        bodies.push(body.to_vec());
        ControlFlow::Continue(())
    };
    reader.for_each_upload(task, batch, visit).unwrap();
    bodies.sort_unstable();
    Release {
        totals: bodies.len().to_le_bytes().to_vec(),
        blocks: bodies.chunks(4).map(<[_]>::concat).collect(),
        uploads,
    }
}

/// Looks that uploads all ended as `outcome` says.
pub(super) fn expect(outcome: Outcome, outcomes: &[Outcome]) {
    assert!(outcomes.iter().all(|own| *own == outcome), "{outcomes:?}");
}

/// All uploads that are in no release, and all blocks that are in one.
pub(super) fn everything(engine: &dyn Engine, task: TaskKey) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut uploads, mut blocks) = (Vec::new(), Vec::new());
    let reader = engine.reader();
    for row in engine.batches(task) {
        match row.state {
            BatchState::Released => reader
                .for_each_block(task, row.number, &mut |block| {
                    blocks.push(block.to_vec());
                    ControlFlow::Continue(())
                })
                .unwrap(),
            _ => reader
                .for_each_upload(task, row.number, &mut |_, body| {
                    uploads.push(body.to_vec());
                    ControlFlow::Continue(())
                })
                .unwrap(),
        }
    }
    uploads.sort();
    (uploads, blocks)
}

/// Somewhere to store in, which is there until this is dropped.
trait Storage {
    fn new() -> Self;
    fn place(&self) -> Place;

    /// As at a start of the process.
    fn open(&self) -> Box<dyn Engine> {
        match self.place() {
            Place::Directory(directory) => Box::new(Files::open(&directory).unwrap()),
            Place::Database(database) => Box::new(Postgres::open(&database).unwrap()),
        }
    }
}

struct InFiles(tempfile::TempDir);

impl Storage for InFiles {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn place(&self) -> Place {
        Place::Directory(PathBuf::from(self.0.path()))
    }
}

struct InDatabase {
    _server: Arc<Server>,
    database: Database,
}

impl Storage for InDatabase {
    fn new() -> Self {
        let server = shared();
        let database = Database::new(&server.database()).unwrap();
        Self {
            _server: server,
            database,
        }
    }

    fn place(&self) -> Place {
        Place::Database(self.database.clone())
    }
}

/// The same tests over either engine.
macro_rules! over_both {
    ($($test:ident),* $(,)?) => {
        mod files {
            $(#[test] fn $test() { super::$test::<super::InFiles>(); })*
        }
        mod postgres {
            $(#[test] fn $test() { super::$test::<super::InDatabase>(); })*
        }
    };
}

over_both! {
    an_id_counts_once_whatever_becomes_of_its_batch,
    other_bytes_under_an_id_are_refused_until_it_is_released,
    batches_are_told_as_they_are,
    a_batch_is_closed_once,
    what_is_released_stays_and_is_forgotten_when_told,
    tasks_come_change_and_go,
    all_is_there_after_a_restart,
    whoever_reads_may_stop,
    whatever_is_done_it_is_as_the_model_says,
}

/// Closes and releases the open batch.
fn release(engine: &mut dyn Engine, task: TaskKey) -> BatchRow {
    let open = engine.batches(task).last().unwrap().number;
    let closed = engine.close_batch(task, open, 200).unwrap();
    let reader = engine.reader();
    let release = release_of(&*reader, task, closed.number);
    reader.release(task, &closed, release).unwrap();
    engine.settle_release(task, closed.number).unwrap();
    closed
}

fn an_id_counts_once_whatever_becomes_of_its_batch<S: Storage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(row("t"), 100).unwrap();
    let group: Vec<Record> = (0..50).map(record).collect();
    let twice = [&group[..], &group[..]].concat();
    let outcomes = engine.append(task, &twice).unwrap();
    expect(Outcome::Stored, &outcomes[..50]);
    expect(Outcome::Duplicate, &outcomes[50..]);
    let is_known = |engine: &mut dyn Engine| {
        let backwards: Vec<Record> = group.iter().rev().cloned().collect();
        let outcomes = engine.append(task, &backwards).unwrap();
        expect(Outcome::Duplicate, &outcomes);
    };
    is_known(&mut *engine);
    engine.close_batch(task, 1, 200).unwrap();
    is_known(&mut *engine);
    let reader = engine.reader();
    let closed = engine.batches(task)[0];
    let release = release_of(&*reader, task, 1);
    reader.release(task, &closed, release).unwrap();
    is_known(&mut *engine);
    engine.settle_release(task, 1).unwrap();
    is_known(&mut *engine);
    reader.forget_reports(task, 1).unwrap();
    engine.settle_release(task, 1).unwrap();
    is_known(&mut *engine);
    assert_eq!(engine.batches(task).last().unwrap().reports, 0);
    // Another task has ids of its own.
    let another = engine.add_task(row("u"), 100).unwrap();
    expect(Outcome::Stored, &engine.append(another, &group).unwrap());
}

fn other_bytes_under_an_id_are_refused_until_it_is_released<S: Storage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(row("t"), 100).unwrap();
    let outcomes = engine
        .append(task, &[record(1), other(1), record(2)])
        .unwrap();
    let (stored, conflict) = (Outcome::Stored, Outcome::Conflict);
    assert_eq!(outcomes, [stored, conflict, stored]);
    let outcomes = engine
        .append(task, &[other(2), record(3), record(2)])
        .unwrap();
    assert_eq!(outcomes, [conflict, stored, Outcome::Duplicate]);
    drop(engine);
    let mut engine = storage.open();
    engine.close_batch(task, 1, 200).unwrap();
    expect(conflict, &engine.append(task, &[other(3)]).unwrap());
    assert_eq!(engine.batches(task)[0].reports, 3);
    let reader = engine.reader();
    let closed = engine.batches(task)[0];
    let release = release_of(&*reader, task, 1);
    reader.release(task, &closed, release).unwrap();
    engine.settle_release(task, 1).unwrap();
    // Nothing but its id is known.
    expect(
        Outcome::Duplicate,
        &engine.append(task, &[other(3)]).unwrap(),
    );
}

fn batches_are_told_as_they_are<S: Storage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(row("t"), 100).unwrap();
    let open = |number, opened, reports| BatchRow {
        number,
        state: BatchState::Open,
        opened,
        closed: None,
        reports,
        kept: true,
    };
    assert_eq!(engine.batches(task), [open(1, 100, 0)]);
    let mut large = record(1);
    large.reports = 4000;
    engine.append(task, &[large, record(2)]).unwrap();
    assert_eq!(engine.batches(task), [open(1, 100, 4001)]);
    let closed = BatchRow {
        state: BatchState::Closed,
        closed: Some(150),
        ..open(1, 100, 4001)
    };
    assert_eq!(engine.close_batch(task, 1, 150).unwrap(), closed);
    engine.append(task, &[record(3)]).unwrap();
    let expected = [closed, open(2, 150, 1)];
    assert_eq!(engine.batches(task), expected);
    drop(engine);
    let engine = storage.open();
    assert_eq!(engine.batches(task), expected);
    assert_eq!(engine.batches(TaskKey(99)), []);
}

fn a_batch_is_closed_once<S: Storage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(row("t"), 100).unwrap();
    engine.append(task, &[record(1)]).unwrap();
    let closed = engine.close_batch(task, 1, 200).unwrap();
    // Whoever has not heard of that.
    assert_eq!(engine.close_batch(task, 1, 300).unwrap(), closed);
    assert_eq!(engine.batches(task).len(), 2);
    assert_eq!(engine.close_batch(task, 2, 300).unwrap().number, 2);
    assert_eq!(engine.batches(task).len(), 3);
}

fn what_is_released_stays_and_is_forgotten_when_told<S: Storage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(row("t"), 100).unwrap();
    let group: Vec<Record> = (0..10).map(record).collect();
    engine.append(task, &group).unwrap();
    let closed = engine.close_batch(task, 1, 200).unwrap();
    let reader = engine.reader();
    let release = release_of(&*reader, task, 1);
    reader.release(task, &closed, release.clone()).unwrap();
    engine.settle_release(task, 1).unwrap();
    let blocks = |reader: &dyn Reader| {
        let mut blocks = Vec::new();
        let visit = &mut |block: &[u8]| {
            blocks.push(block.to_vec());
            ControlFlow::Continue(())
        };
        reader.for_each_block(task, 1, visit).unwrap();
        blocks
    };
    let row = engine.batches(task)[0];
    assert_eq!((row.state, row.kept), (BatchState::Released, true));
    assert_eq!(reader.totals(task, 1).unwrap(), release.totals);
    assert_eq!(blocks(&*reader), release.blocks);
    drop(engine);
    let mut engine = storage.open();
    let reader = engine.reader();
    assert_eq!(reader.totals(task, 1).unwrap(), release.totals);
    assert_eq!(blocks(&*reader), release.blocks);
    reader.forget_reports(task, 1).unwrap();
    engine.settle_release(task, 1).unwrap();
    assert!(!engine.batches(task)[0].kept);
    assert_eq!(engine.batches(task)[0].reports, 10);
    assert_eq!(reader.totals(task, 1).unwrap(), release.totals);
    assert!(blocks(&*reader).is_empty());
}

fn tasks_come_change_and_go<S: Storage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let first = engine.add_task(row("t"), 100).unwrap();
    let second = engine.add_task(row("u"), 100).unwrap();
    engine.append(first, &[record(1)]).unwrap();
    release(&mut *engine, first);
    engine.append(first, &[record(2)]).unwrap();
    engine.append(second, &[record(1)]).unwrap();
    engine.configure_task(second, r#"{"a":1}"#).unwrap();
    engine.remove_task(first).unwrap();
    let gone = |done: Result<(), EngineError>| assert!(matches!(done, Err(EngineError::NoTask)));
    gone(engine.append(first, &[record(3)]).map(drop));
    gone(engine.close_batch(first, 2, 200).map(drop));
    gone(engine.settle_release(first, 1));
    let again = engine.add_task(row("t"), 300).unwrap();
    assert!(again != first && again != second);
    // Nothing is left of what it had.
    expect(
        Outcome::Stored,
        &engine.append(again, &[record(1), record(2)]).unwrap(),
    );
    drop(engine);
    let engine = storage.open();
    let listed = |key, id, settings: &str| TaskRow {
        key,
        settings: settings.to_owned(),
        ..row(id)
    };
    let expected = [listed(second, "u", r#"{"a":1}"#), listed(again, "t", "{}")];
    assert_eq!(engine.tasks().unwrap(), expected);
    assert_eq!(everything(&*engine, second).0, [record(1).body]);
}

fn all_is_there_after_a_restart<S: Storage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(row("t"), 100).unwrap();
    for round in 0..12 {
        let group: Vec<Record> = (10 * round..10 * round + 10).map(record).collect();
        expect(Outcome::Stored, &engine.append(task, &group).unwrap());
        if round % 2 == 0 {
            release(&mut *engine, task);
        }
        let before = (engine.batches(task), everything(&*engine, task));
        drop(engine);
        engine = storage.open();
        assert_eq!((engine.batches(task), everything(&*engine, task)), before);
    }
    let all: Vec<Record> = (0..120).map(record).collect();
    expect(Outcome::Duplicate, &engine.append(task, &all).unwrap());
}

fn whoever_reads_may_stop<S: Storage>() {
    let storage = S::new();
    let mut engine = storage.open();
    let task = engine.add_task(row("t"), 100).unwrap();
    let group: Vec<Record> = (0..100).map(record).collect();
    engine.append(task, &group).unwrap();
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
    release(&mut *engine, task);
    reader
        .for_each_block(task, 1, &mut |_| stop(&mut seen))
        .unwrap();
    assert_eq!(seen, 6);
}

use model::whatever_is_done_it_is_as_the_model_says;
