//! Output of rows.

use super::error::ExportError;
use super::row::Row;

/// Output to which rows are written one by one.
pub(crate) trait Rows {
    /// Writes a row, possibly buffered.
    ///
    /// # Errors
    /// When the row cannot be written.
    fn write(&mut self, row: Row) -> Result<(), ExportError>;

    /// Writes the buffered rest.
    ///
    /// # Errors
    /// Same as [`Rows::write`].
    fn finish(self: Box<Self>) -> Result<(), ExportError>;
}
