//! Reads, releases and deletes reports in a database. Uses its own sessions, not the engine's
//! session.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use postgres::Row;
use postgres::types::Type;

use super::address::DatabaseAddress;
use super::rows::{
    CLOSED_STATE, SELECT_TASKS, all_batches, all_tasks, parse_upload_id, task_batches, task_key,
    task_row, to_database_integer, unsigned_column,
};
use super::session::{Session, SessionPool};
use super::{schema, task_log};
use crate::store::engine::{
    BatchClaim, BatchRelease, BatchRow, BlockChange, EngineError, SharedStorage, SharedTask,
    StorageReader, TaskKey, TaskRow, TaskWithBatches, UploadVisitor,
};
use crate::store::task_log::TaskLogEntry;

/// Reader of a database, independent of the engine's session and of other nodes.
pub(super) struct PostgresReader {
    sessions: Arc<SessionPool>,
}

/// Opens a database without changing anything, for reading or, unless `read_only`, for changes to
/// released batches. Returns the stored tasks, each with its batches, and
/// a reader. This call blocks.
///
/// # Errors
/// When the database cannot be reached, or does not have the tables of this version.
pub(in crate::store) fn open_existing(
    database: &DatabaseAddress,
    read_only: bool,
) -> Result<(Vec<TaskWithBatches>, Arc<dyn StorageReader>), EngineError> {
    let sessions = Arc::new(SessionPool::open(database, read_only)?);
    let rows = sessions.with_session(|session| {
        schema::check_schema_version(session)?;
        let tasks = all_tasks(session.client())?.into_iter();
        let with_batches = tasks.map(|row| {
            let batches = task_batches(session.client(), row.key)?;
            Ok((row, batches))
        });
        with_batches.collect()
    })?;
    Ok((rows, Arc::new(PostgresReader::new(sessions))))
}

/// Returns the tasks that are stored in a database, or no tasks if it has no tables yet.
///
/// # Errors
/// When the database cannot be reached, refuses access, or has tables of another version.
pub(in crate::store) fn stored_tasks(
    database: &DatabaseAddress,
) -> Result<Vec<TaskRow>, EngineError> {
    SessionPool::open(database, true)?.with_session(|session| {
        if !schema::tables_exist(session)? {
            return Ok(Vec::new());
        }
        schema::check_schema_version(session)?;
        all_tasks(session.client())
    })
}

impl PostgresReader {
    pub(super) fn new(sessions: Arc<SessionPool>) -> Self {
        Self { sessions }
    }

    /// Visits each row in the result of a query, until the visitor breaks. The parameters of the
    /// query are the key of a task and the number of a batch.
    fn for_each_row(
        &self,
        query: &str,
        (task, batch): (TaskKey, u64),
        visit: &mut dyn FnMut(&Row) -> Result<ControlFlow<()>, EngineError>,
    ) -> Result<(), EngineError> {
        let [task, batch] = [task.0, batch].map(to_database_integer);
        self.sessions.with_session(|session| {
            let values = [(&task as _, Type::INT8), (&batch as _, Type::INT8)];
            session
                .patient_client()
                .for_each_row(query, &values, &mut *visit)
        })
    }
}

/// Removes deleted rows from the file of a table. A database without VACUUM cleans up in its own way.
fn vacuum(session: &mut Session, table: &str) {
    if let Err(error) = session.client().batch_execute(&format!("VACUUM {table}")) {
        tracing::debug!(%error, table, "deleted rows are left to the database");
    }
}

impl StorageReader for PostgresReader {
    fn task_log_after(&self, number: u64) -> Result<Vec<TaskLogEntry>, EngineError> {
        self.sessions.with_session(|session| {
            // A process that may not write has not created the table.
            match schema::table_exists(session, task_log::TABLE)? {
                true => task_log::entries_after(session.client(), number),
                false => Ok(Vec::new()),
            }
        })
    }

    fn for_each_upload(
        &self,
        task: TaskKey,
        batch: u64,
        visit: &mut UploadVisitor<'_>,
    ) -> Result<(), EngineError> {
        // Sorted by id, which hides the order of arrival.
        let query =
            "SELECT id, body FROM hushbin.upload WHERE task = $1 AND batch = $2 ORDER BY id";
        self.for_each_row(query, (task, batch), &mut |row| {
            Ok(visit(parse_upload_id(row.get("id"))?, row.get("body")))
        })
    }

    fn temporary_directory(&self) -> PathBuf {
        std::env::temp_dir()
    }

    fn store_release(
        &self,
        task: TaskKey,
        row: &BatchRow,
        release: BatchRelease,
    ) -> Result<(), EngineError> {
        let [key, batch] = [task.0, row.number].map(to_database_integer);
        self.sessions.with_session(|session| {
            session.patient_client();
            session.run_in_transaction(|transaction| {
                let lock =
                    "SELECT state FROM hushbin.batch WHERE task = $1 AND number = $2 FOR UPDATE";
                let state = transaction.query_opt(lock, &[&key, &batch])?;
                match state.map(|state| state.get::<_, i16>("state")) {
                    None => return Err(EngineError::TaskDeleted),
                    Some(CLOSED_STATE) => {}
                    // Another node has released the batch, with the same contents.
                    Some(_) => return Ok(()),
                }
                let delete = "WITH gone AS (DELETE FROM hushbin.upload \
                    WHERE task = $1 AND batch = $2 RETURNING reports) \
                    SELECT count(*) AS uploads, CAST(coalesce(sum(reports), 0) AS bigint) AS reports \
                    FROM gone";
                let gone = transaction.query_one(delete, &[&key, &batch])?;
                let [uploads, reports] = ["uploads", "reports"].map(|own| unsigned_column(&gone, own));
                // The transaction is rolled back if the release does not account for all uploads.
                if (reports, uploads) != (row.report_count, release.upload_ids.len() as u64) {
                    return Err(EngineError::Damaged(format!(
                        "batch {} has {uploads} uploads with {reports} reports, expected {} with {}",
                        row.number,
                        release.upload_ids.len(),
                        row.report_count
                    )));
                }
                let insert =
                    "INSERT INTO hushbin.block (task, batch, number, body) VALUES ($1, $2, $3, $4)";
                let insert = transaction.prepare(insert, &[])?;
                let mut number = 0_i64;
                release.blocks.for_each_block(&mut |block| {
                    transaction.execute(&insert, &[&key, &batch, &number, &block])?;
                    number += 1;
                    Ok::<_, EngineError>(())
                })?;
                let update = "UPDATE hushbin.batch SET state = 2, totals = $3, kept = $4 \
                    WHERE task = $1 AND number = $2";
                // A release of sums has no blocks, so its reports are not kept.
                let kept = number > 0 || reports == 0;
                transaction.execute(update, &[&key, &batch, &release.totals, &kept])?;
                let delete = "DELETE FROM hushbin.slot WHERE task = $1 AND batch = $2";
                transaction.execute(delete, &[&key, &batch])?;
                Ok(())
            })?;
            // Deleted rows would still reveal which reports came together.
            vacuum(session, "hushbin.upload");
            Ok(())
        })
    }

    fn totals(&self, task: TaskKey, batch: u64) -> Result<Vec<u8>, EngineError> {
        let mut found = None;
        let query = "SELECT totals FROM hushbin.batch WHERE task = $1 AND number = $2";
        self.for_each_row(query, (task, batch), &mut |row| {
            found = Some(row.get::<_, Option<Vec<u8>>>("totals"));
            Ok(ControlFlow::Continue(()))
        })?;
        let none = || EngineError::Damaged(format!("batch {batch} has no totals"));
        found.ok_or(EngineError::TaskDeleted)?.ok_or_else(none)
    }

    fn for_each_block(
        &self,
        task: TaskKey,
        batch: u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let query = "SELECT body FROM hushbin.block WHERE task = $1 AND batch = $2 ORDER BY number";
        self.for_each_row(query, (task, batch), &mut |row| Ok(visit(row.get("body"))))
    }

    fn delete_reports(&self, task: TaskKey, batch: u64) -> Result<(), EngineError> {
        let [task, batch] = [task.0, batch].map(to_database_integer);
        self.sessions.with_session(|session| {
            session.patient_client();
            session.run_in_transaction(|transaction| {
                // A promoted standby may lack the release that this node has seen.
                let forget = "UPDATE hushbin.batch SET kept = false \
                    WHERE task = $1 AND number = $2 AND state = 2";
                if transaction.execute(forget, &[&task, &batch])? == 0 {
                    let what = format!("batch {batch} is not released");
                    return Err(EngineError::Damaged(what));
                }
                let delete = "DELETE FROM hushbin.block WHERE task = $1 AND batch = $2";
                transaction.execute(delete, &[&task, &batch])?;
                Ok(())
            })?;
            vacuum(session, "hushbin.block");
            Ok(())
        })
    }

    fn change_block(
        &self,
        task: TaskKey,
        batch: u64,
        change: &mut BlockChange<'_>,
    ) -> Result<bool, EngineError> {
        let [task, batch] = [task.0, batch].map(to_database_integer);
        self.sessions.with_session(|session| {
            session.patient_client();
            let changed = session.run_in_transaction(|transaction| {
                // While the row is locked, no other process deletes or changes the blocks.
                let lock =
                    "SELECT kept FROM hushbin.batch WHERE task = $1 AND number = $2 FOR UPDATE";
                transaction.query(lock, &[&task, &batch])?;
                let blocks = "SELECT number, body FROM hushbin.block WHERE task = $1 AND batch = $2 \
                              ORDER BY number";
                for row in transaction.query(blocks, &[&task, &batch])? {
                    let Some(new) = change(row.get("body")) else {
                        continue;
                    };
                    let number: i64 = row.get("number");
                    let block = "WHERE task = $1 AND batch = $2 AND number = $3";
                    if new.is_empty() {
                        let delete = format!("DELETE FROM hushbin.block {block}");
                        transaction.execute(&delete, &[&task, &batch, &number])?;
                        let empty = "UPDATE hushbin.batch SET kept = false \
                                     WHERE task = $1 AND number = $2 AND NOT EXISTS \
                                     (SELECT 1 FROM hushbin.block WHERE task = $1 AND batch = $2)";
                        transaction.execute(empty, &[&task, &batch])?;
                    } else {
                        let update = format!("UPDATE hushbin.block SET body = $4 {block}");
                        transaction.execute(&update, &[&task, &batch, &number, &new])?;
                    }
                    return Ok(true);
                }
                Ok(false)
            })?;
            vacuum(session, "hushbin.block");
            Ok(changed)
        })
    }

    fn shared_storage(&self) -> Option<&dyn SharedStorage> {
        Some(self)
    }
}

impl SharedStorage for PostgresReader {
    fn tasks(&self) -> Result<Vec<SharedTask>, EngineError> {
        self.sessions.with_session(|session| {
            // Batches are read after tasks. A task and its first batch are stored in one
            // transaction.
            let tasks = "SELECT key, settings FROM hushbin.task ORDER BY key";
            let tasks = session.client().query(tasks, &[])?;
            let mut batches = all_batches(session.client())?;
            let seen = tasks.iter().filter_map(|row| {
                let key = task_key(row, "key");
                Some(SharedTask {
                    key,
                    settings: row.get("settings"),
                    // A task without batches was deleted between the two queries.
                    batches: batches.remove(&key)?,
                })
            });
            Ok(seen.collect())
        })
    }

    fn task(&self, task: TaskKey) -> Result<Option<TaskRow>, EngineError> {
        self.sessions.with_session(|session| {
            let query = format!("{SELECT_TASKS} WHERE key = $1");
            let row = session
                .client()
                .query_opt(&query, &[&to_database_integer(task.0)])?;
            row.as_ref().map(task_row).transpose()
        })
    }

    fn batches(&self, task: TaskKey) -> Result<Vec<BatchRow>, EngineError> {
        let batches = |session: &mut Session| task_batches(session.client(), task);
        self.sessions.with_session(batches)
    }

    fn claim_batch(&self, task: TaskKey, batch: u64) -> Result<Option<BatchClaim>, EngineError> {
        let [task, batch] = [task.0, batch].map(to_database_integer);
        self.sessions.claim_locked_row(|client| {
            let lock = "SELECT batch FROM hushbin.claim WHERE task = $1 AND batch = $2 \
                FOR UPDATE SKIP LOCKED";
            Ok(client.query_opt(lock, &[&task, &batch])?.is_some())
        })
    }
}
