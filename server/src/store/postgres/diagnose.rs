//! Checks of a database for `hushbin doctor`. They change nothing.

use postgres::SimpleQueryMessage;

use super::schema;
use super::session::{DatabaseAddress, Session, SessionPool};
use crate::store::database_diagnosis::DatabaseDiagnosis;
use crate::store::engine::EngineError;

/// Sets a variable that PostgreSQL does not know, in one session only.
const MARK_SESSION: &str = "SET hushbin.doctor = 'marked'";

/// Returns the columns of the first row, as text. The query is not prepared, because a pooler in
/// transaction mode may lose prepared statements.
fn first_row<const N: usize>(
    session: &mut Session,
    query: &str,
) -> Result<[String; N], EngineError> {
    let rows = session.client().simple_query(query)?;
    let row = rows.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    Ok(std::array::from_fn(|column| {
        let value = row.and_then(|row| row.get(column));
        value.unwrap_or_default().to_owned()
    }))
}

/// Connects to a database and reads what `hushbin doctor` reports. This call blocks.
///
/// # Errors
/// When the database cannot be reached, refuses access, or has tables of another version.
pub(crate) fn diagnose_database(
    database: &DatabaseAddress,
) -> Result<DatabaseDiagnosis, EngineError> {
    let sessions = SessionPool::new(database, true);
    sessions.with_session(|first| {
        first.client().batch_execute(MARK_SESSION)?;
        // A second connection, since the first one is in use.
        let [seen] = sessions.with_session(|second| {
            first_row(second, "SELECT current_setting('hushbin.doctor', true)")
        })?;
        let query = "SELECT current_setting('server_version'), \
            current_setting('hushbin.doctor', true), \
            current_setting('default_transaction_isolation'), extract(epoch FROM now())::BIGINT";
        let [version, own, isolation, date] = first_row(first, query)?;
        let loses_settings = seen == "marked" || own != "marked" || isolation != "read committed";
        let mut newest = None;
        let has_tables = !loses_settings && schema::tables_exist(first)?;
        if has_tables {
            schema::check_schema_version(first)?;
            let query = "SELECT max(greatest(opened, closed)) FROM hushbin.batch";
            let [time] = first_row(first, query)?;
            newest = time.parse().ok();
        }
        Ok(DatabaseDiagnosis {
            version,
            date: date.parse().unwrap_or_default(),
            has_tables,
            newest,
            loses_settings,
        })
    })
}
