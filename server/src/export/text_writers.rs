//! Writing of rows as CSV and as JSON lines.

use std::io::Write;

use hushbin_analysis::estimate::csv_text_cell;

use super::error::ExportError;
use super::row::ReportRow;
use super::row_writer::RowWriter;

struct CsvRowWriter<W: Write>(csv::Writer<W>);

/// Returns a writer of CSV with a header.
pub(crate) fn csv_writer<'a>(out: impl Write + 'a) -> Box<dyn RowWriter + 'a> {
    Box::new(CsvRowWriter(csv::Writer::from_writer(out)))
}

impl<W: Write> RowWriter for CsvRowWriter<W> {
    fn write_row(&mut self, mut row: ReportRow) -> Result<(), ExportError> {
        row.question = csv_text_cell(&row.question).into_owned();
        Ok(self.0.serialize(row)?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        Ok(self.0.flush()?)
    }
}

struct JsonRowWriter<W: Write>(std::io::BufWriter<W>);

/// Returns a writer of JSON lines.
pub(crate) fn json_lines_writer<'a>(out: impl Write + 'a) -> Box<dyn RowWriter + 'a> {
    Box::new(JsonRowWriter(std::io::BufWriter::new(out)))
}

impl<W: Write> RowWriter for JsonRowWriter<W> {
    fn write_row(&mut self, row: ReportRow) -> Result<(), ExportError> {
        serde_json::to_writer(&mut self.0, &row).map_err(std::io::Error::from)?;
        Ok(self.0.write_all(b"\n")?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        Ok(self.0.flush()?)
    }
}
