//! Properties of a database that `hushbin doctor` reports.

/// Properties of a database, and of the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseDiagnosis {
    /// Version of the server, as it writes it.
    pub version: String,
    /// Clock of the server, in seconds since 1970.
    pub date: u64,
    /// True if the database has the tables of a journal. The first start creates them.
    pub has_tables: bool,
    /// Newest time at which a batch was opened or closed, in seconds since 1970.
    pub newest: Option<u64>,
}
