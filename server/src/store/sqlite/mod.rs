//! The journal in SQLite: write-ahead log, synchronous = FULL, one writer.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

use crate::store::journal::{
    Journal, JournalError, JournalReader, Outcome, Record, TaskKey, TaskRow,
};

/// Version of the tables below, kept in `PRAGMA user_version`.
const SCHEMA_VERSION: i32 = 1;

/// "hush" in ASCII, kept in `PRAGMA application_id`.
const APPLICATION_ID: i32 = 0x6875_7368;

/// The journal's file inside the data directory.
const FILE_NAME: &str = "journal.sqlite";

/// Pages in the write-ahead log at which a commit also checkpoints: 32 MiB.
/// Upload ids are random, so every upload dirties a page of its own; a log larger
/// than SQLite's 4 MiB lets uploads share page writes to the main file.
const CHECKPOINT_PAGES: u32 = 8192;

/// Two decisions keep the journal from telling more than the reports do. There
/// is no column for an address, an agent or a time. And uploads lie in the order
/// of their ids, which clients draw at random: a table with rowids would number
/// them in order of arrival. (Page allocation still leaves traces of order to
/// whoever reads the raw file.)
const SCHEMA: &str = "
CREATE TABLE task (
    key         INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 16),
    parameters  TEXT NOT NULL
) STRICT;
CREATE TABLE upload (
    task  INTEGER NOT NULL REFERENCES task (key),
    id    BLOB NOT NULL CHECK (length(id) = 16),
    bytes BLOB NOT NULL,
    PRIMARY KEY (task, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE probe (
    key   INTEGER PRIMARY KEY CHECK (key = 0),
    parity INTEGER NOT NULL
) STRICT;
INSERT INTO probe VALUES (0, 0);
";

/// A journal in one SQLite file, with its `-wal` and `-shm` beside it.
#[derive(Debug)]
pub struct SqliteJournal {
    connection: Connection,
    path: PathBuf,
}

impl SqliteJournal {
    /// Opens the journal of a data directory, creating it when there is none.
    ///
    /// The caller holds the directory's lock.
    ///
    /// # Errors
    /// When the file cannot be opened, belongs to another program or to a newer
    /// hushbin, or is damaged.
    pub fn open(directory: &Path) -> Result<Self, JournalError> {
        let path = directory.join(FILE_NAME);
        let connection = Connection::open_with_flags(
            &path,
            OpenFlags::SQLITE_OPEN_READ_WRITE
                | OpenFlags::SQLITE_OPEN_CREATE
                | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        let mut journal = Self { connection, path };
        journal.prepare_file()?;
        // The file's name must survive loss of power as surely as its contents.
        sync_directory(directory)?;
        Ok(journal)
    }

    fn prepare_file(&mut self) -> Result<(), JournalError> {
        let path = self.path.display().to_string();
        let connection = &mut self.connection;
        connection.busy_timeout(Duration::from_secs(5))?;
        let application: i32 =
            connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        let version: i32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let tables: u32 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let fresh = application == 0 && version == 0 && tables == 0;
        if !fresh && application != APPLICATION_ID {
            return Err(JournalError::Foreign {
                path,
                found: application,
            });
        }
        if version > SCHEMA_VERSION {
            return Err(JournalError::NewerSchema {
                path,
                found: version,
                known: SCHEMA_VERSION,
            });
        }
        let mode: String =
            connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if mode != "wal" {
            return Err(JournalError::Damaged(format!(
                "{path} cannot keep a write-ahead log (journal mode {mode}); \
                 is it on a network file system?"
            )));
        }
        // FULL syncs the log at every commit. fullfsync matters on Apple systems,
        // where fsync alone leaves data in the drive's cache.
        connection.execute_batch(&format!(
            "PRAGMA synchronous = FULL;
             PRAGMA fullfsync = ON;
             PRAGMA checkpoint_fullfsync = ON;
             PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};
             PRAGMA journal_size_limit = 67108864;
             PRAGMA cache_size = -65536;
             PRAGMA foreign_keys = OFF;
             PRAGMA trusted_schema = OFF;"
        ))?;
        if fresh {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute_batch(SCHEMA)?;
            transaction.execute_batch(&format!(
                "PRAGMA application_id = {APPLICATION_ID};
                 PRAGMA user_version = {SCHEMA_VERSION};"
            ))?;
            transaction.commit()?;
        }
        // After a kill the log may hold a commit that was written but never synced.
        // It is visible, so a resent upload would be answered as a duplicate without
        // a sync of its own. A checkpoint syncs log and file, and closes that gap.
        self.checkpoint()
    }
}

impl Journal for SqliteJournal {
    fn tasks(&self) -> Result<Vec<TaskRow>, JournalError> {
        tasks(&self.connection)
    }

    fn add_task(
        &mut self,
        id: &str,
        fingerprint: [u8; 16],
        parameters: &str,
    ) -> Result<TaskKey, JournalError> {
        self.connection.execute(
            "INSERT INTO task (id, fingerprint, parameters) VALUES (?1, ?2, ?3)",
            params![id, fingerprint, parameters],
        )?;
        Ok(TaskKey(self.connection.last_insert_rowid()))
    }

    fn append(&mut self, group: &[Record], prove: bool) -> Result<Vec<Outcome>, JournalError> {
        // An error below drops the transaction, which rolls it back. So does a failed
        // COMMIT: in WAL mode a transaction becomes visible only after its last frame
        // is synced, hence after everything that can fail has succeeded.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut outcomes = Vec::with_capacity(group.len());
        {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO upload (task, id, bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?;
            let mut lookup = transaction
                .prepare_cached("SELECT bytes = ?3 FROM upload WHERE task = ?1 AND id = ?2")?;
            for record in group {
                let row = params![record.task.0, record.upload, record.bytes];
                let outcome = if insert.execute(row)? == 1 {
                    Outcome::Stored
                } else {
                    match lookup.query_row(row, |row| row.get(0)).optional()? {
                        Some(true) => Outcome::Duplicate,
                        Some(false) => Outcome::Conflict,
                        None => {
                            return Err(JournalError::Damaged(
                                "an upload was neither stored nor found".to_owned(),
                            ));
                        }
                    }
                };
                outcomes.push(outcome);
            }
            if prove {
                transaction
                    .prepare_cached("UPDATE probe SET parity = 1 - parity")?
                    .execute([])?;
            }
        }
        transaction.commit()?;
        Ok(outcomes)
    }

    fn checkpoint(&mut self) -> Result<(), JournalError> {
        let busy: bool =
            self.connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if busy {
            tracing::debug!("checkpoint left to the next one: a reader holds the log");
        }
        Ok(())
    }

    fn reader(&self) -> Arc<dyn JournalReader> {
        Arc::new(SqliteReader {
            path: self.path.clone(),
        })
    }
}

/// The tasks of a data directory's journal, which may be in use, and a reader of it.
///
/// # Errors
/// When there is no journal, it belongs to another program or cannot be read.
pub(super) fn open_to_read(
    directory: &Path,
) -> Result<(Vec<TaskRow>, Arc<dyn JournalReader>), JournalError> {
    let path = directory.join(FILE_NAME);
    File::open(&path).map_err(|source| file_error(&path, source))?;
    let reader = SqliteReader { path };
    let connection = reader.connect()?;
    let found = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if found != APPLICATION_ID {
        let path = reader.path.display().to_string();
        return Err(JournalError::Foreign { path, found });
    }
    Ok((tasks(&connection)?, Arc::new(reader)))
}

fn tasks(connection: &Connection) -> Result<Vec<TaskRow>, JournalError> {
    let mut statement =
        connection.prepare("SELECT key, id, fingerprint, parameters FROM task ORDER BY key")?;
    let rows = statement.query_map([], |row| {
        Ok(TaskRow {
            key: TaskKey(row.get(0)?),
            id: row.get(1)?,
            fingerprint: row.get(2)?,
            parameters: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Opens a connection of its own for every scan, so that scans run side by side
/// and none of them holds the log back longer than it lasts.
#[derive(Debug)]
struct SqliteReader {
    path: PathBuf,
}

impl SqliteReader {
    fn connect(&self) -> Result<Connection, JournalError> {
        let connection = Connection::open_with_flags(
            &self.path,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        connection.busy_timeout(Duration::from_secs(5))?;
        Ok(connection)
    }
}

impl JournalReader for SqliteReader {
    fn for_each_upload(
        &self,
        task: TaskKey,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let connection = self.connect()?;
        let mut statement =
            connection.prepare("SELECT bytes FROM upload WHERE task = ?1 ORDER BY id")?;
        let mut rows = statement.query([task.0])?;
        while let Some(row) = rows.next()? {
            let bytes = row
                .get_ref(0)?
                .as_blob()
                .map_err(|error| JournalError::Damaged(error.to_string()))?;
            if visit(bytes).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Makes the directory's entries durable.
fn sync_directory(directory: &Path) -> Result<(), JournalError> {
    // Only Unix can open a directory as a file; elsewhere the file system's own
    // journal has to do.
    if cfg!(unix) {
        File::open(directory)
            .and_then(|file| file.sync_all())
            .map_err(|source| file_error(directory, source))?;
    }
    Ok(())
}

/// Creates the data directory, durably, when there is none.
///
/// # Errors
/// When it cannot be created.
pub(super) fn create_directory(directory: &Path) -> Result<(), JournalError> {
    if directory.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(directory).map_err(|source| file_error(directory, source))?;
    match directory
        .canonicalize()
        .ok()
        .as_deref()
        .and_then(Path::parent)
    {
        Some(parent) => sync_directory(parent),
        None => Ok(()),
    }
}

pub(super) fn file_error(path: &Path, source: std::io::Error) -> JournalError {
    JournalError::File {
        path: path.display().to_string(),
        source,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
