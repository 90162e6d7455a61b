//! The engine in a database, PostgreSQL's or one that speaks its protocol, for several processes
//! of one role: nodes, of which none owns anything.
//!
//! What is in the database is said beside each table of `schema.sql`. Every change is one
//! transaction, at the level "read committed": each of its statements sees what was committed
//! before.
//!
//! # Why each upload is counted once
//!
//! - A group of uploads is one transaction. It begins by locking the node's own slot of the open
//!   batch; then the ids are inserted, sorted, of which those are new that no other transaction
//!   has inserted; what is new is stored, and the slot counts it. Two nodes that have an id at
//!   once wait for each other in the order of ids, so that none waits in a circle.
//! - Whoever closes a batch locks its row and all its slots, which waits for the groups under
//!   way; what comes after finds no open slot, and takes one of the next batch, for which it
//!   locks that batch's row. Slots are locked after their batch, and ids after a slot.
//! - A release is one transaction, which finds the batch closed or does nothing, and as many
//!   reports in its uploads as its slots have counted or fails. Batches are released oldest
//!   first.
//! - A group is acknowledged after a commit that writes, also where all of it was known: a commit
//!   is behind all that it has seen, on the standby as well.
//!
//! A process that dies leaves a slot behind, and transactions that the database undoes.

mod append;
mod reader;
mod rows;
mod schema;
mod session;
mod tls;

use std::collections::HashMap;
use std::sync::Arc;

use postgres::Transaction;

use super::engine::{BatchRow, Engine, EngineError, Outcome, Reader, Record, TaskKey, TaskRow};
use append::Statements;
use reader::DatabaseReader;
pub(super) use reader::open_read_only;
use rows::{TASK, all_batches, batches_of, key_of, signed, task_row, tasks};
pub use session::Database;
use session::OwnSession;
pub(crate) use session::{Session, Sessions};

/// The engine in a database.
pub(super) struct Postgres {
    session: OwnSession<Statements>,
    sessions: Arc<Sessions>,
    /// Whose slots are whose: random, and another with every start.
    node: i64,
    /// As they were last seen.
    batches: HashMap<TaskKey, Vec<BatchRow>>,
}

fn add_batch(
    transaction: &mut Transaction<'_>,
    task: TaskKey,
    number: u64,
    now: u64,
) -> Result<(), EngineError> {
    let [task, number, now] = [task.0, number, now].map(signed);
    let insert = "INSERT INTO hushbin.batch (task, number, state, opened, reports, kept) \
        VALUES ($1, $2, 0, $3, 0, true)";
    transaction.execute(insert, &[&task, &number, &now])?;
    let insert = "INSERT INTO hushbin.claim (task, batch) VALUES ($1, $2)";
    transaction.execute(insert, &[&task, &number])?;
    Ok(())
}

/// Sessions of a database, whose tables are made when there are none. Blocks.
///
/// # Errors
/// When it cannot be reached, refuses, or has tables of another version.
pub(crate) fn open_tables(database: &Database) -> Result<Sessions, EngineError> {
    let sessions = Sessions::new(database, false);
    sessions.with(schema::make)?;
    Ok(sessions)
}

/// Sessions of a database whose tables are there. Blocks.
///
/// # Errors
/// When it cannot be reached, refuses, or has none of this version.
pub(crate) fn checked_tables(database: &Database) -> Result<Sessions, EngineError> {
    let sessions = Sessions::new(database, false);
    sessions.with(schema::check)?;
    Ok(sessions)
}

/// The engine in a database, as [`Postgres::open`] opens it. Blocks.
///
/// # Errors
/// Those of [`Postgres::open`].
pub(super) fn open(database: &Database) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(Postgres::open(database)?))
}

impl Postgres {
    /// The engine in a database, whose tables are made when there are none. Blocks.
    ///
    /// # Errors
    /// When it cannot be reached, refuses, or has tables of another version.
    pub(super) fn open(database: &Database) -> Result<Self, EngineError> {
        let sessions = Arc::new(open_tables(database)?);
        let mut node = [0; 8];
        getrandom::fill(&mut node).map_err(EngineError::Entropy)?;
        let batches = sessions.with(|session| all_batches(session.client()))?;
        Ok(Self {
            session: OwnSession::new(database, Statements::prepare),
            sessions,
            node: i64::from_le_bytes(node),
            batches,
        })
    }

    /// Looks up the batches of a task.
    fn look(&mut self, task: TaskKey) -> Result<&[BatchRow], EngineError> {
        let batches = self
            .session
            .with(|session, _| batches_of(session.client(), task))?;
        if batches.is_empty() {
            self.batches.remove(&task);
            return Err(EngineError::NoTask);
        }
        let known = self.batches.entry(task).or_default();
        *known = batches;
        Ok(known)
    }
}

impl Engine for Postgres {
    fn tasks(&self) -> Result<Vec<TaskRow>, EngineError> {
        self.sessions.with(|session| tasks(session.client()))
    }

    fn add_task(&mut self, row: TaskRow, now: u64) -> Result<TaskKey, EngineError> {
        let add = |transaction: &mut Transaction<'_>| {
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
                let key = key_of(&added, "key");
                add_batch(transaction, key, 1, now)?;
                return Ok(key);
            }
            // Another node has added the same meanwhile, or this one before its connection broke.
            let query = format!("{TASK} WHERE id = $1");
            let there = transaction.query_opt(&query, &[id])?;
            match there.as_ref().map(task_row).transpose()? {
                Some(there) if there.fingerprint == row.fingerprint => Ok(there.key),
                _ => Err(EngineError::TaskThere(row.id.clone())),
            }
        };
        let key = self.session.with(|session, _| session.transaction(add))?;
        self.look(key)?;
        Ok(key)
    }

    fn configure_task(&mut self, task: TaskKey, settings: &str) -> Result<(), EngineError> {
        let update = "UPDATE hushbin.task SET settings = $2 WHERE key = $1";
        let updated = self.session.with(|session, _| {
            session.transaction(|transaction| {
                Ok(transaction.execute(update, &[&signed(task.0), &settings])?)
            })
        })?;
        match updated {
            0 => Err(EngineError::NoTask),
            _ => Ok(()),
        }
    }

    fn remove_task(&mut self, task: TaskKey) -> Result<(), EngineError> {
        let key = signed(task.0);
        self.session.with(|session, _| {
            session.transaction(|transaction| {
                transaction.execute("DELETE FROM hushbin.task WHERE key = $1", &[&key])?;
                // As whoever closes a batch, so that no group is under way behind it.
                for table in ["batch", "slot", "upload", "counted", "block"] {
                    let delete = format!("DELETE FROM hushbin.{table} WHERE task = $1");
                    transaction.execute(&delete, &[&key])?;
                }
                // But those that somebody has: they are of no task then.
                let delete = "DELETE FROM hushbin.claim WHERE task = $1 AND batch IN (SELECT batch \
                    FROM hushbin.claim WHERE task = $1 FOR UPDATE SKIP LOCKED)";
                transaction.execute(delete, &[&key])?;
                Ok(())
            })
        })?;
        self.batches.remove(&task);
        Ok(())
    }

    fn batches(&self, task: TaskKey) -> Vec<BatchRow> {
        self.batches.get(&task).cloned().unwrap_or_default()
    }

    fn append(&mut self, task: TaskKey, group: &[Record]) -> Result<Vec<Outcome>, EngineError> {
        let node = self.node;
        let (outcomes, batch, reports) = self.session.with(|session, statements| {
            session.transaction(|transaction| {
                append::append(transaction, statements, (task, node), group)
            })
        })?;
        match self
            .batches
            .get_mut(&task)
            .and_then(|known| known.last_mut())
        {
            Some(open) if open.number == batch => open.reports = reports,
            // Somebody has closed it. What is stored is stored, whether or not it can be seen.
            _ => drop(self.look(task)),
        }
        Ok(outcomes)
    }

    fn close_batch(
        &mut self,
        task: TaskKey,
        batch: u64,
        now: u64,
    ) -> Result<BatchRow, EngineError> {
        let [key, number, closed] = [task.0, batch, now].map(signed);
        let close = |transaction: &mut Transaction<'_>| {
            // Whoever deletes it locks it first, too.
            let lock = "SELECT key FROM hushbin.task WHERE key = $1 FOR SHARE";
            if transaction.query_opt(lock, &[&key])?.is_none() {
                return Err(EngineError::NoTask);
            }
            let lock = "SELECT number FROM hushbin.batch \
                WHERE task = $1 AND number = $2 AND state = 0 FOR UPDATE";
            if transaction.query_opt(lock, &[&key, &number])?.is_none() {
                return Ok(());
            }
            // Waits for the groups under way. Slots that are taken from now on are of the next.
            let lock = "UPDATE hushbin.slot SET open = false WHERE task = $1 AND batch = $2";
            transaction.execute(lock, &[&key, &number])?;
            let close = "UPDATE hushbin.batch SET state = 1, closed = $3, reports = (SELECT \
                coalesce(sum(reports), 0)::BIGINT FROM hushbin.slot WHERE task = $1 AND batch = $2) \
                WHERE task = $1 AND number = $2";
            transaction.execute(close, &[&key, &number, &closed])?;
            add_batch(transaction, task, batch + 1, now)
        };
        self.session.with(|session, _| session.transaction(close))?;
        let batches = self.look(task)?;
        let row = batches.iter().find(|row| row.number == batch);
        row.copied().ok_or(EngineError::NoTask)
    }

    fn settle_release(&mut self, task: TaskKey, _batch: u64) -> Result<(), EngineError> {
        self.look(task).map(drop)
    }

    fn probe(&mut self) -> Result<(), EngineError> {
        let update = "UPDATE hushbin.journal SET probes = probes + 1";
        self.session.with(|session, _| {
            session.transaction(|transaction| Ok(transaction.execute(update, &[]).map(drop)?))
        })
    }

    fn reader(&self) -> Arc<dyn Reader> {
        Arc::new(DatabaseReader::new(Arc::clone(&self.sessions)))
    }
}
