//! Checks of a database for `hushbin doctor`. They change nothing.

use super::address::DatabaseAddress;
use super::schema;
use super::session::SessionPool;
use crate::store::database_diagnosis::DatabaseDiagnosis;
use crate::store::engine::EngineError;

/// Connects to a database and reads what `hushbin doctor` reports. This call blocks.
///
/// # Errors
/// When the database cannot be reached, refuses access, is behind a pooler in transaction mode, or
/// has tables of another version.
pub(crate) fn diagnose_database(
    database: &DatabaseAddress,
) -> Result<DatabaseDiagnosis, EngineError> {
    SessionPool::open(database, true)?.with_session(|session| {
        let version = session.client().query_text("SHOW server_version")?;
        let date = "SELECT extract(epoch FROM now())::BIGINT";
        let date = session.client().query_text(date)?;
        let has_tables = schema::tables_exist(session)?;
        let mut newest = None;
        if has_tables {
            schema::check_schema_version(session)?;
            let query = "SELECT coalesce(max(greatest(opened, closed)), 0) FROM hushbin.batch";
            let time = session.client().query_text(query)?.parse().ok();
            newest = time.filter(|&time| time > 0);
        }
        Ok(DatabaseDiagnosis {
            version,
            date: date.parse().unwrap_or_default(),
            has_tables,
            newest,
        })
    })
}
