//! Creation of the tables in the database, and check of the version.

use super::rows::unsigned_column;
use super::session::Session;
use super::task_log;
use crate::store::engine::EngineError;

const SCHEMA: &str = include_str!("schema.sql");

/// Version of the tables that this program creates and knows.
const SCHEMA_VERSION: u64 = 2;

/// Creates the tables if there are none.
///
/// # Errors
/// When the database fails, or has tables of another version.
pub(super) fn create_tables_if_missing(session: &mut Session) -> Result<(), EngineError> {
    if tables_exist(session)? {
        check_schema_version(session)?;
        return create_task_log_if_missing(session);
    }
    let made = session.run_in_transaction(|transaction| transaction.batch_execute(SCHEMA));
    // If several nodes start at once, one node creates the tables. The transactions of the other
    // nodes fail with various errors.
    match made {
        Err(error) if !tables_exist(session)? => Err(error),
        _ => check_schema_version(session),
    }?;
    create_task_log_if_missing(session)
}

/// Creates the table of the task log, which a database of an earlier version lacks.
fn create_task_log_if_missing(session: &mut Session) -> Result<(), EngineError> {
    if table_exists(session, task_log::TABLE)? {
        return Ok(());
    }
    let made = session.run_in_transaction(|own| own.batch_execute(task_log::CREATE_TABLE));
    match made {
        // Another node may have created it meanwhile.
        Err(error) if !table_exists(session, task_log::TABLE)? => Err(error),
        _ => Ok(()),
    }
}

pub(super) fn tables_exist(session: &mut Session) -> Result<bool, EngineError> {
    table_exists(session, "journal")
}

pub(super) fn table_exists(session: &mut Session, name: &str) -> Result<bool, EngineError> {
    let query = "SELECT count(*) AS tables FROM information_schema.tables \
        WHERE table_schema = 'hushbin' AND table_name = $1::TEXT";
    let row = session.client().query_one(query, &[&name])?;
    Ok(unsigned_column(&row, "tables") > 0)
}

/// Checks that the tables have the version of this program.
///
/// # Errors
/// When the tables have another version, or the database fails.
pub(super) fn check_schema_version(session: &mut Session) -> Result<(), EngineError> {
    let row = session
        .client()
        .query_one("SELECT version FROM hushbin.journal", &[])?;
    match unsigned_column(&row, "version") {
        SCHEMA_VERSION => Ok(()),
        found => Err(EngineError::UnsupportedVersion {
            path: "the schema hushbin of the database".to_owned(),
            found,
            known: SCHEMA_VERSION,
        }),
    }
}
