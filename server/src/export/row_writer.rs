//! Output of rows.

use super::error::ExportError;
use super::row::ReportRow;

/// Output to which rows are written one by one.
pub(crate) trait RowWriter {
    /// Writes a row, or buffers it.
    ///
    /// # Errors
    /// When the row cannot be written.
    fn write_row(&mut self, row: ReportRow) -> Result<(), ExportError>;

    /// Writes the rows that are still buffered.
    ///
    /// # Errors
    /// Same as [`RowWriter::write_row`].
    fn finish(self: Box<Self>) -> Result<(), ExportError>;
}
