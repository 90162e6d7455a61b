//! Rows written as CSV, as JSON lines and as Parquet.

use std::fs::File;
use std::io::Write;

use super::description::Description;
use super::error::ExportError;
use super::parquet::ParquetRows;
use super::row::Row;
use super::rows::Rows;

struct Csv<W: Write>(csv::Writer<W>);

/// CSV under a header.
pub(crate) fn csv<'a>(out: impl Write + 'a) -> Box<dyn Rows + 'a> {
    Box::new(Csv(csv::Writer::from_writer(out)))
}

impl<W: Write> Rows for Csv<W> {
    fn write(&mut self, row: Row<'_>) -> Result<(), ExportError> {
        Ok(self.0.serialize(row)?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        Ok(self.0.flush()?)
    }
}

struct Json<W: Write>(std::io::BufWriter<W>);

/// A line for each row.
pub(crate) fn json<'a>(out: impl Write + 'a) -> Box<dyn Rows + 'a> {
    Box::new(Json(std::io::BufWriter::new(out)))
}

impl<W: Write> Rows for Json<W> {
    fn write(&mut self, row: Row<'_>) -> Result<(), ExportError> {
        serde_json::to_writer(&mut self.0, &row).map_err(std::io::Error::from)?;
        Ok(self.0.write_all(b"\n")?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        Ok(self.0.flush()?)
    }
}

/// Parquet, with what it takes to estimate in its footer.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn parquet(
    file: &File,
    description: &Description,
) -> Result<Box<dyn Rows>, ExportError> {
    let file = file.try_clone()?;
    Ok(Box::new(ParquetRows::new(file, description)?))
}
