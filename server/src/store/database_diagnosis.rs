//! Properties of a database that `hushbin doctor` reports.

/// Properties of a database, and of the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatabaseDiagnosis {
    /// Version of the server, as it writes it.
    pub(crate) version: String,
    /// Clock of the server, in seconds since 1970.
    pub(crate) date: u64,
    /// Newest time at which a batch was opened or closed, in seconds since 1970.
    pub(crate) newest: Option<u64>,
    /// True if a session does not keep its settings to itself, as through a pooler in transaction
    /// mode.
    pub(crate) loses_settings: bool,
}
