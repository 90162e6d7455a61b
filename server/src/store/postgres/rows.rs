//! Conversion of table rows to the types of the store.

use std::collections::HashMap;

use postgres::Row;

use super::client::Client;
use crate::store::engine::{BatchRow, BatchState, EngineError, TaskKey, TaskRow};

/// Value of the column `state` for an open batch.
pub(super) const OPEN_STATE: i16 = 0;
/// Value of the column `state` for a closed batch.
pub(super) const CLOSED_STATE: i16 = 1;
/// Value of the column `state` for a released batch.
pub(super) const RELEASED_STATE: i16 = 2;

/// Converts a key or a count to the signed integer that the database stores.
pub(super) fn to_database_integer(number: u64) -> i64 {
    number.cast_signed()
}

pub(super) fn task_key(row: &Row, column: &str) -> TaskKey {
    TaskKey(row.get::<_, i64>(column).cast_unsigned())
}

pub(super) fn unsigned_column(row: &Row, column: &str) -> u64 {
    row.get::<_, i64>(column).cast_unsigned()
}

/// Query for all columns of all tasks. Callers append conditions.
pub(super) const SELECT_TASKS: &str =
    "SELECT key, id, fingerprint, parameters, settings FROM hushbin.task";

pub(super) fn task_row(row: &Row) -> Result<TaskRow, EngineError> {
    let fingerprint: &[u8] = row.get("fingerprint");
    let fingerprint = fingerprint.try_into();
    Ok(TaskRow {
        key: task_key(row, "key"),
        id: row.get("id"),
        fingerprint: fingerprint.map_err(|_| {
            EngineError::Damaged("a task's fingerprint does not have 16 bytes".into())
        })?,
        parameters: row.get("parameters"),
        settings: row.get("settings"),
    })
}

/// Query for all columns of all batches except the totals. Callers append conditions. The number of
/// reports in an open batch is the sum over its slots.
pub(super) const SELECT_BATCHES: &str = "SELECT task, number, state, opened, closed, kept, \
    CASE WHEN state = 0 THEN (SELECT coalesce(sum(slot.reports), 0)::BIGINT FROM hushbin.slot \
    WHERE slot.task = batch.task AND slot.batch = batch.number) ELSE reports END AS reports \
    FROM hushbin.batch";

pub(super) fn batch_row(row: &Row) -> Result<BatchRow, EngineError> {
    let closed: Option<i64> = row.get("closed");
    Ok(BatchRow {
        number: unsigned_column(row, "number"),
        state: match row.get("state") {
            OPEN_STATE => BatchState::Open,
            CLOSED_STATE => BatchState::Closed,
            RELEASED_STATE => BatchState::Released,
            other => {
                let found = format!("a batch has the state {other}");
                return Err(EngineError::Damaged(found));
            }
        },
        opened_at: unsigned_column(row, "opened"),
        closed_at: closed.map(i64::cast_unsigned),
        report_count: unsigned_column(row, "reports"),
        reports_kept: row.get("kept"),
    })
}

/// Returns the current batches of a task, oldest first. The result is empty if there is no such
/// task.
pub(super) fn task_batches(
    client: &mut Client,
    task: TaskKey,
) -> Result<Vec<BatchRow>, EngineError> {
    let query = format!("{SELECT_BATCHES} WHERE task = $1 ORDER BY number");
    let rows = client.query(&query, &[&to_database_integer(task.0)])?;
    rows.iter().map(batch_row).collect()
}

/// Returns all tasks, in the order in which they were stored.
pub(super) fn all_tasks(client: &mut Client) -> Result<Vec<TaskRow>, EngineError> {
    let rows = client.query(&format!("{SELECT_TASKS} ORDER BY key"), &[])?;
    rows.iter().map(task_row).collect()
}

/// Returns the batches of each task, oldest first.
pub(super) fn all_batches(
    client: &mut Client,
) -> Result<HashMap<TaskKey, Vec<BatchRow>>, EngineError> {
    let mut batches: HashMap<TaskKey, Vec<BatchRow>> = HashMap::new();
    for row in client.query(&format!("{SELECT_BATCHES} ORDER BY task, number"), &[])? {
        let of = batches.entry(task_key(&row, "task")).or_default();
        of.push(batch_row(&row)?);
    }
    Ok(batches)
}

/// Id of an upload.
pub(super) type UploadIdBytes = [u8; 16];

pub(super) fn parse_upload_id(bytes: &[u8]) -> Result<UploadIdBytes, EngineError> {
    let id = bytes.try_into();
    id.map_err(|_| EngineError::Damaged("an upload's id does not have 16 bytes".to_owned()))
}
