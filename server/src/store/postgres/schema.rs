//! The tables: made once, and of one version.

use super::rows::unsigned;
use super::session::Session;
use crate::store::engine::EngineError;

const SCHEMA: &str = include_str!("schema.sql");

/// Version of the tables.
const VERSION: u64 = 2;

/// Makes the tables where there are none.
///
/// # Errors
/// When the database fails, or has others.
pub(super) fn make(session: &mut Session) -> Result<(), EngineError> {
    if is_there(session)? {
        return check(session);
    }
    let made = session.transaction(|transaction| Ok(transaction.batch_execute(SCHEMA)?));
    // Of several nodes that start at once, one makes them and the others fail, each in its way.
    match made {
        Err(error) if !is_there(session)? => Err(error),
        _ => check(session),
    }
}

fn is_there(session: &mut Session) -> Result<bool, EngineError> {
    let query = "SELECT count(*) AS tables FROM information_schema.tables \
        WHERE table_schema = 'hushbin' AND table_name = 'journal'";
    let row = session.client().query_one(query, &[])?;
    Ok(unsigned(&row, "tables") > 0)
}

/// Checks that the tables are those that this program knows.
///
/// # Errors
/// When they are not, or the database fails.
pub(super) fn check(session: &mut Session) -> Result<(), EngineError> {
    let row = session
        .client()
        .query_one("SELECT version FROM hushbin.journal", &[])?;
    match unsigned(&row, "version") {
        VERSION => Ok(()),
        found => Err(EngineError::Version {
            path: "the schema hushbin of the database".to_owned(),
            found,
            known: VERSION,
        }),
    }
}
