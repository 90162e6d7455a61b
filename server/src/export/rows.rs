//! What rows are written to.

use super::error::ExportError;
use super::row::Row;

/// What rows are written to, one after the other.
pub(crate) trait Rows {
    /// Adds a row.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&mut self, row: Row) -> Result<(), ExportError>;

    /// Writes what is still held.
    ///
    /// # Errors
    /// As [`Rows::write`].
    fn finish(self: Box<Self>) -> Result<(), ExportError>;
}
