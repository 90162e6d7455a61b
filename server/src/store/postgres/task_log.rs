//! Table of the task log, which all nodes append to.

use super::client::Client;
use super::rows::{all_tasks, to_database_integer, unsigned_column};
use crate::store::engine::{EngineError, TaskRow};
use crate::store::task_log::{TaskLogEntry, TaskLogEvent, check_task_log, missing_entries};

pub(super) const TABLE: &str = "task_log";

/// Statement that creates the table. It is apart from `schema.sql`, since databases of earlier
/// versions lack the table, and earlier programs ignore it.
pub(super) const CREATE_TABLE: &str = "CREATE TABLE IF NOT EXISTS hushbin.task_log (\
    number BIGINT PRIMARY KEY, time BIGINT NOT NULL, added BOOLEAN NOT NULL, task TEXT NOT NULL, \
    fingerprint BYTEA NOT NULL, hash BYTEA NOT NULL)";

/// Appends the entries that the log lacks for the stored tasks. Returns all entries.
///
/// # Errors
/// When the database fails, or the log is damaged.
pub(super) fn complete(
    transaction: &mut Client,
    now: u64,
) -> Result<Vec<TaskLogEntry>, EngineError> {
    // Nodes append one after the other. Each then sees the tasks and entries that were committed.
    transaction.execute(
        "LOCK TABLE hushbin.task_log IN SHARE ROW EXCLUSIVE MODE",
        &[],
    )?;
    let mut entries = entries_after(transaction, 0)?;
    check_task_log(&entries).map_err(|error| EngineError::Damaged(error.to_string()))?;
    let stored = all_tasks(transaction)?;
    let stored: Vec<_> = stored.iter().map(TaskRow::to_listed_task).collect();
    let missing = missing_entries(&entries, &stored, now);
    let insert = "INSERT INTO hushbin.task_log (number, time, added, task, fingerprint, hash) \
        VALUES ($1, $2, $3, $4, $5, $6)";
    for entry in &missing {
        let [number, time] = [entry.number, entry.time].map(to_database_integer);
        let added = entry.event == TaskLogEvent::Added;
        let (fingerprint, hash) = (&entry.fingerprint[..], &entry.hash[..]);
        transaction.execute(
            insert,
            &[&number, &time, &added, &entry.task, &fingerprint, &hash],
        )?;
    }
    entries.extend(missing);
    Ok(entries)
}

/// Returns the entries after the entry with this number, in order.
///
/// # Errors
/// When the database fails, or a column has another length.
pub(super) fn entries_after(
    client: &mut Client,
    number: u64,
) -> Result<Vec<TaskLogEntry>, EngineError> {
    let query = "SELECT number, time, added, task, fingerprint, hash FROM hushbin.task_log \
        WHERE number > $1 ORDER BY number";
    let rows = client.query(query, &[&to_database_integer(number)])?;
    let entry = |row: &postgres::Row| {
        let wrong = || EngineError::Damaged("the task log has a hash of another length".to_owned());
        Ok(TaskLogEntry {
            number: unsigned_column(row, "number"),
            time: unsigned_column(row, "time"),
            event: match row.get("added") {
                true => TaskLogEvent::Added,
                false => TaskLogEvent::Removed,
            },
            task: row.get("task"),
            fingerprint: <&[u8]>::try_into(row.get("fingerprint")).map_err(|_| wrong())?,
            hash: <&[u8]>::try_into(row.get("hash")).map_err(|_| wrong())?,
        })
    };
    rows.iter().map(entry).collect()
}
