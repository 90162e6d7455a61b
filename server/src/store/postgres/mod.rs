//! Storage engine in a database, for several processes of one role. The database is PostgreSQL, or
//! another database that speaks the protocol of PostgreSQL. The processes are called nodes. No node
//! owns a task or a batch.
//!
//! `schema.sql` describes each table. Every change is one transaction, at the level "read
//! committed": each of its statements sees what was committed before.
//!
//! # Why each upload is counted once
//!
//! - A node has a slot in the open batch: a table row that counts the reports that the node has
//!   stored. A group of uploads is one transaction. It first locks the node's slot. Then it inserts
//!   the ids, sorted. An id is new if no other transaction has inserted it. New uploads are stored,
//!   and their reports are added to the slot. Two nodes that insert the same ids wait for each
//!   other in the order of ids, so they cannot deadlock.
//! - Closing a batch locks the batch's row and all slots in the batch, so it waits for the groups
//!   in progress. A later group finds no open slot. It locks the row of the next batch, and then
//!   inserts a slot in that batch. Slots are locked after a batch, and ids after a slot.
//! - A release is one transaction. It does nothing unless the batch is closed. It fails unless the
//!   uploads have exactly the number of reports that the slots have counted. Batches are released
//!   oldest first.
//! - A group is acknowledged after a commit that writes, even if all its uploads were known. Such a
//!   commit follows the commits of all data that its transaction has read, on the standby as well.
//!
//! A process that dies leaves its slots behind. The database rolls back the unfinished transactions
//! of the process.

mod address;
mod append;
mod client;
mod diagnose;
mod reader;
mod rows;
mod schema;
mod session;
mod task_log;
mod tls;

use std::collections::HashMap;
use std::sync::Arc;

use super::engine::{
    BatchRow, EngineError, StorageEngine, StorageReader, TaskKey, TaskRow, UploadOutcome,
    UploadRecord,
};
use super::shuffled_block::{BLOCK_ID_PREFIX, BlockRecord};
use super::task_log::TaskLogEntry;
pub use address::DatabaseAddress;
use append::AppendStatements;
use client::Client;
pub(crate) use diagnose::diagnose_database;
use reader::PostgresReader;
pub(super) use reader::{open_existing, stored_tasks};
use rows::{
    SELECT_TASKS, all_batches, all_tasks, task_batches, task_key, task_row, to_database_integer,
};
use session::ReconnectingSession;
pub(crate) use session::{Session, SessionPool};

/// Storage engine in a database.
pub(super) struct PostgresEngine {
    write_session: ReconnectingSession<AppendStatements>,
    session_pool: Arc<SessionPool>,
    /// Random number that identifies this process in the table of slots, new at every start.
    node_id: i64,
    /// Batches of each task, as this node last read them.
    batches: HashMap<TaskKey, Vec<BatchRow>>,
}

/// Inserts an open batch, and a second row. A claim to the batch locks the second row.
fn add_batch(
    transaction: &mut Client,
    task: TaskKey,
    number: u64,
    now: u64,
) -> Result<(), EngineError> {
    let [task, number, now] = [task.0, number, now].map(to_database_integer);
    let insert = "INSERT INTO hushbin.batch (task, number, state, opened, reports, kept) \
        VALUES ($1, $2, 0, $3, 0, true)";
    transaction.execute(insert, &[&task, &number, &now])?;
    // A claim locks this row, so every batch needs such a row.
    let insert = "INSERT INTO hushbin.claim (task, batch) VALUES ($1, $2)";
    transaction.execute(insert, &[&task, &number])?;
    Ok(())
}

/// Creates a pool of sessions with a database, and creates the tables if the database has none.
/// This call blocks.
///
/// # Errors
/// When the database cannot be reached, refuses access, or has tables of another version.
pub(crate) fn open_pool(database: &DatabaseAddress) -> Result<SessionPool, EngineError> {
    let sessions = SessionPool::open(database, false)?;
    sessions.with_session(schema::create_tables_if_missing)?;
    Ok(sessions)
}

/// Creates a pool of sessions with a database that already has the tables. This call blocks.
///
/// # Errors
/// When the database cannot be reached, refuses access, or has no tables of this version.
pub(crate) fn open_existing_pool(database: &DatabaseAddress) -> Result<SessionPool, EngineError> {
    let sessions = SessionPool::open(database, false)?;
    sessions.with_session(schema::check_schema_version)?;
    Ok(sessions)
}

/// Opens the engine in a database, as [`PostgresEngine::open`] does. This call blocks.
///
/// # Errors
/// Those of [`PostgresEngine::open`].
pub(super) fn open(database: &DatabaseAddress) -> Result<Box<dyn StorageEngine>, EngineError> {
    Ok(Box::new(PostgresEngine::open(database)?))
}

impl PostgresEngine {
    /// Opens the engine in a database, and creates the tables if there are none. This call blocks.
    ///
    /// # Errors
    /// When the database cannot be reached, refuses access, or has tables of another version.
    pub(super) fn open(database: &DatabaseAddress) -> Result<Self, EngineError> {
        let sessions = Arc::new(open_pool(database)?);
        let mut node = [0; 8];
        getrandom::fill(&mut node).map_err(EngineError::NoRandomNumbers)?;
        let batches = sessions.with_session(|session| all_batches(session.client()))?;
        Ok(Self {
            write_session: ReconnectingSession::new(database, AppendStatements::prepare),
            session_pool: sessions,
            node_id: i64::from_le_bytes(node),
            batches,
        })
    }

    /// Reads the batches of a task again, and returns them.
    fn reload_batches(&mut self, task: TaskKey) -> Result<&[BatchRow], EngineError> {
        let batches = self
            .write_session
            .with_session(|session, _| task_batches(session.client(), task))?;
        if batches.is_empty() {
            self.batches.remove(&task);
            return Err(EngineError::TaskDeleted);
        }
        let known = self.batches.entry(task).or_default();
        *known = batches;
        Ok(known)
    }
}

impl StorageEngine for PostgresEngine {
    fn tasks(&self) -> Result<Vec<TaskRow>, EngineError> {
        self.session_pool
            .with_session(|session| all_tasks(session.client()))
    }

    fn add_task(&mut self, row: TaskRow, now: u64) -> Result<TaskKey, EngineError> {
        let add = |transaction: &mut Client| {
            let insert = "INSERT INTO hushbin.task (id, fingerprint, parameters, settings) \
                VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING key";
            let columns = (
                &row.id,
                &row.fingerprint[..],
                &row.parameters,
                &row.settings,
            );
            let (id, fingerprint, parameters, settings) = &columns;
            let added = transaction.query_opt(insert, &[id, fingerprint, parameters, settings])?;
            if let Some(added) = added {
                let key = task_key(&added, "key");
                add_batch(transaction, key, 1, now)?;
                return Ok(key);
            }
            // Another node has added the task meanwhile, or this node did so before its connection
            // broke.
            // The lock makes this commit wait for a synchronous standby, as the first one did.
            let query = format!("{SELECT_TASKS} WHERE id = $1 FOR SHARE");
            let there = transaction.query_opt(&query, &[id])?;
            match there.as_ref().map(task_row).transpose()? {
                Some(there) if there.fingerprint == row.fingerprint => Ok(there.key),
                _ => Err(EngineError::TaskExists(row.id.clone())),
            }
        };
        let key = self
            .write_session
            .with_session(|session, _| session.run_in_transaction(add))?;
        self.reload_batches(key)?;
        Ok(key)
    }

    fn configure_task(&mut self, task: TaskKey, settings: &str) -> Result<(), EngineError> {
        let update = "UPDATE hushbin.task SET settings = $2 WHERE key = $1";
        let updated = self.write_session.with_session(|session, _| {
            session.run_in_transaction(|transaction| {
                transaction.execute(update, &[&to_database_integer(task.0), &settings])
            })
        })?;
        match updated {
            0 => Err(EngineError::TaskDeleted),
            _ => Ok(()),
        }
    }

    fn remove_task(&mut self, task: TaskKey) -> Result<(), EngineError> {
        let key = to_database_integer(task.0);
        self.write_session.with_session(|session, _| {
            // A task may have many uploads.
            session.patient_client();
            session.run_in_transaction(|transaction| {
                transaction.execute("DELETE FROM hushbin.task WHERE key = $1", &[&key])?;
                // Locks rows in the order in which closing a batch does, and so waits for groups in
                // progress.
                for table in ["batch", "slot", "upload", "counted", "block"] {
                    let delete = format!("DELETE FROM hushbin.{table} WHERE task = $1");
                    transaction.execute(&delete, &[&key])?;
                }
                // Rows that a node has locked for a claim are skipped. They remain as rows without
                // a task.
                let delete = "DELETE FROM hushbin.claim WHERE task = $1 AND batch IN (SELECT batch \
                    FROM hushbin.claim WHERE task = $1 FOR UPDATE SKIP LOCKED)";
                transaction.execute(delete, &[&key])?;
                Ok(())
            })
        })?;
        self.batches.remove(&task);
        Ok(())
    }

    fn complete_task_log(&mut self, now: u64) -> Result<Vec<TaskLogEntry>, EngineError> {
        self.write_session.with_session(|session, _| {
            session.run_in_transaction(|transaction| task_log::complete(transaction, now))
        })
    }

    fn batches(&self, task: TaskKey) -> Vec<BatchRow> {
        self.batches.get(&task).cloned().unwrap_or_default()
    }

    fn append_uploads(
        &mut self,
        task: TaskKey,
        group: &[UploadRecord],
    ) -> Result<Vec<UploadOutcome>, EngineError> {
        let node = self.node_id;
        let (outcomes, batch, reports) =
            self.write_session.with_session(|session, statements| {
                session.run_in_transaction(|transaction| {
                    append::insert_uploads(transaction, statements, (task, node), group)
                })
            })?;
        match self
            .batches
            .get_mut(&task)
            .and_then(|known| known.last_mut())
        {
            Some(open) if open.number == batch => open.report_count = reports,
            // Another node has closed the batch. The group is stored, whether or not this read
            // succeeds.
            _ => drop(self.reload_batches(task)),
        }
        Ok(outcomes)
    }

    fn open_block_bodies(&mut self, task: TaskKey) -> Result<Vec<Vec<u8>>, EngineError> {
        let key = to_database_integer(task.0);
        // The primary key begins with the columns of this condition, so few rows are read.
        let query = "SELECT upload.body FROM hushbin.batch JOIN hushbin.upload \
            ON upload.task = batch.task AND upload.batch = batch.number \
            WHERE batch.task = $1 AND batch.state = 0 AND upload.id BETWEEN $2 AND $3 \
            AND octet_length(upload.body) = $4";
        let length = BlockRecord::LENGTH as i32;
        let [first, last] = [0, u8::MAX].map(|rest| {
            let mut id = [rest; 16];
            id[..BLOCK_ID_PREFIX.len()].copy_from_slice(&BLOCK_ID_PREFIX);
            id
        });
        self.write_session.with_session(|session, _| {
            let rows = session
                .client()
                .query(query, &[&key, &&first[..], &&last[..], &length])?;
            Ok(rows.iter().map(|row| row.get("body")).collect())
        })
    }

    fn close_batch(
        &mut self,
        task: TaskKey,
        batch: u64,
        now: u64,
    ) -> Result<BatchRow, EngineError> {
        let [key, number, closed] = [task.0, batch, now].map(to_database_integer);
        let close = |transaction: &mut Client| {
            // Deleting a task locks this row first, too, so that closing a batch and deleting its
            // task exclude each other.
            let lock = "SELECT key FROM hushbin.task WHERE key = $1 FOR SHARE";
            if transaction.query_opt(lock, &[&key])?.is_none() {
                return Err(EngineError::TaskDeleted);
            }
            let lock = "SELECT number FROM hushbin.batch \
                WHERE task = $1 AND number = $2 AND state = 0 FOR UPDATE";
            if transaction.query_opt(lock, &[&key, &number])?.is_none() {
                return Ok(());
            }
            // Waits for the groups in progress. Slots taken from now on belong to the next batch.
            let lock = "UPDATE hushbin.slot SET open = false WHERE task = $1 AND batch = $2";
            transaction.execute(lock, &[&key, &number])?;
            // All slots are locked now, so the sum is final.
            let close = "UPDATE hushbin.batch SET state = 1, closed = $3, reports = (SELECT \
                coalesce(sum(reports), 0)::BIGINT FROM hushbin.slot WHERE task = $1 AND batch = $2) \
                WHERE task = $1 AND number = $2";
            transaction.execute(close, &[&key, &number, &closed])?;
            add_batch(transaction, task, batch + 1, now)
        };
        self.write_session
            .with_session(|session, _| session.run_in_transaction(close))?;
        let batches = self.reload_batches(task)?;
        let row = batches.iter().find(|row| row.number == batch);
        row.copied().ok_or(EngineError::TaskDeleted)
    }

    fn refresh_changed_batch(&mut self, task: TaskKey, _batch: u64) -> Result<(), EngineError> {
        self.reload_batches(task).map(drop)
    }

    fn probe_write(&mut self) -> Result<(), EngineError> {
        // A row of this node alone. A row of all nodes would stay locked by a node that is frozen
        // in the middle of a probe. No task has the key 0.
        let insert = "INSERT INTO hushbin.slot (task, batch, node, reports, open) \
            VALUES (0, 0, $1, 0, false)";
        let delete = "DELETE FROM hushbin.slot WHERE task = 0 AND batch = 0 AND node = $1";
        let node = self.node_id;
        self.write_session.with_session(|session, _| {
            session.run_in_transaction(|transaction| {
                transaction.execute(insert, &[&node])?;
                transaction.execute(delete, &[&node]).map(drop)
            })
        })
    }

    fn reader(&self) -> Arc<dyn StorageReader> {
        Arc::new(PostgresReader::new(Arc::clone(&self.session_pool)))
    }
}
