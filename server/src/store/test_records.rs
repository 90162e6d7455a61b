//! Records for tests of engines, and functions that inspect what an engine stored.

use std::ops::ControlFlow;

use super::engine::{
    BatchRelease, BatchState, ReleasedBlocks, StorageEngine, StorageReader, TaskKey, TaskRow,
    UploadOutcome, UploadRecord,
};

/// Returns a task row with this id. Its other fields have no meaning.
pub(super) fn task_row_with_id(id: &str) -> TaskRow {
    TaskRow {
        key: TaskKey(0),
        id: id.to_owned(),
        fingerprint: [7; 16],
        parameters: "{}".to_owned(),
        settings: "{}".to_owned(),
    }
}

/// Returns the upload record with this number. Each number has a different id and body.
pub(super) fn numbered_record(number: u64) -> UploadRecord {
    let mut id = [0; 16];
    // The factor is odd, so ids differ. The factor is large, so that ids resemble random ids, which
    // do not follow the order of arrival.
    id[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    UploadRecord {
        id,
        report_count: 1,
        body: [&[1], &number.to_le_bytes()[..], &[3]].concat(),
    }
}

/// Returns a record with the id of `numbered_record(number)` but other bytes.
pub(super) fn conflicting_record(number: u64) -> UploadRecord {
    let mut record = numbered_record(number);
    record.body.push(9);
    record
}

/// Builds a release of a closed batch, with one block for every four sorted bodies.
pub(super) fn build_release(reader: &dyn StorageReader, task: TaskKey, batch: u64) -> BatchRelease {
    let (mut bodies, mut uploads) = (Vec::new(), Vec::new());
    let visit = &mut |id, body: &[u8]| {
        uploads.push(id);
        bodies.push(body.to_vec());
        ControlFlow::Continue(())
    };
    reader.for_each_upload(task, batch, visit).unwrap();
    bodies.sort_unstable();
    BatchRelease {
        totals: bodies.len().to_le_bytes().to_vec(),
        blocks: ReleasedBlocks::InMemory(bodies.chunks(4).map(<[_]>::concat).collect()),
        upload_ids: uploads,
    }
}

/// Checks that every outcome is `outcome`.
pub(super) fn assert_outcomes(outcome: UploadOutcome, outcomes: &[UploadOutcome]) {
    assert!(outcomes.iter().all(|own| *own == outcome), "{outcomes:?}");
}

/// Returns the bodies of unreleased uploads, sorted, and the blocks of released batches.
pub(super) fn stored_contents(
    engine: &dyn StorageEngine,
    task: TaskKey,
) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
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
