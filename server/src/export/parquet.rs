//! Rows in Parquet. Written files are compact. Files that another tool has read and saved again can
//! be read too.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, RecordWriter};
use parquet::schema::types::{ColumnPath, Type};

use parquet::errors::ParquetError;

use super::atomic_file::display_path;
use super::description::ReportsDescription;
use super::error::{ExportError, ReadError};
use super::row::{REPORT_COLUMNS, ReportRow};
use super::row_writer::RowWriter;

/// Key of the description in the footer.
const DESCRIPTION_METADATA_KEY: &str = "hushbin";

/// Maximum number of rows in a Parquet row group. A group is kept in memory until it is written.
const MAX_ROW_GROUP_ROWS: usize = 1 << 17;
const MAX_ROW_GROUP_BYTES: usize = 32 << 20;

/// Limit below which doubles hold every whole number exactly, 2⁵³.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Parquet file that is being written.
struct ParquetRowWriter {
    writer: SerializedFileWriter<BufWriter<File>>,
    buffered_rows: Vec<ReportRow>,
    buffered_bytes: usize,
}

/// Starts a Parquet file with the description in its footer.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn parquet_writer(
    file: &File,
    description: &ReportsDescription,
) -> Result<Box<dyn RowWriter>, ExportError> {
    // Seeds and reports are random, so a dictionary only adds bytes. Compression packs two
    // hexadecimal digits into a byte. Higher levels of Zstandard encode chance repetitions, which
    // takes more bytes. Statistics and indexes cost more than they save in files of this size.
    let [_, _, seed, _, report] = REPORT_COLUMNS.map(ColumnPath::from);
    let description = serde_json::to_string(description).map_err(io::Error::from)?;
    let described = KeyValue::new(DESCRIPTION_METADATA_KEY.to_owned(), description);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_column_dictionary_enabled(seed, false)
        .set_column_dictionary_enabled(report, false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![described]));
    let group = Vec::new();
    let schema = group.as_slice().schema()?;
    let out = BufWriter::new(file.try_clone()?);
    Ok(Box::new(ParquetRowWriter {
        writer: SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?,
        buffered_rows: group,
        buffered_bytes: 0,
    }))
}

impl ParquetRowWriter {
    fn write_row_group(&mut self) -> Result<(), ParquetError> {
        let mut out = self.writer.next_row_group()?;
        self.buffered_rows.as_slice().write_to_row_group(&mut out)?;
        out.close()?;
        self.buffered_rows.clear();
        self.buffered_bytes = 0;
        Ok(())
    }
}

impl RowWriter for ParquetRowWriter {
    fn write_row(&mut self, row: ReportRow) -> Result<(), ExportError> {
        self.buffered_bytes += row.report.len();
        self.buffered_rows.push(row);
        if self.buffered_rows.len() >= MAX_ROW_GROUP_ROWS
            || self.buffered_bytes >= MAX_ROW_GROUP_BYTES
        {
            self.write_row_group()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        if !self.buffered_rows.is_empty() {
            self.write_row_group()?;
        }
        self.writer.finish()?;
        Ok(self.writer.inner_mut().flush()?)
    }
}

/// Parquet file that is read.
pub(super) struct ParquetFile {
    reader: SerializedFileReader<File>,
    /// Columns of [`ReportRow`] in its order, with the types that they have in the file.
    projected_schema: Type,
}

impl ParquetFile {
    /// Opens a file and finds the columns of [`ReportRow`] by name, in any order.
    ///
    /// # Errors
    /// When the file is not Parquet, or a column is missing.
    pub(super) fn open(path: &Path, file: File) -> Result<Self, ReadError> {
        let failed = |source| ReadError::Parquet {
            path: display_path(path),
            source,
        };
        let reader = SerializedFileReader::new(file).map_err(failed)?;
        let schema = reader.metadata().file_metadata().schema();
        let found = REPORT_COLUMNS.iter().map(|&column| {
            let mut fields = schema.get_fields().iter();
            let own = fields.find(|field| field.name() == column && has_one_value_per_row(field));
            own.cloned().ok_or_else(|| ReadError::MissingColumn {
                path: display_path(path),
                column,
                expected: REPORT_COLUMNS.join(", "),
            })
        });
        let columns = Type::group_type_builder(schema.name())
            .with_fields(found.collect::<Result<_, _>>()?)
            .build()
            .map_err(failed)?;
        Ok(Self {
            reader,
            projected_schema: columns,
        })
    }

    /// Returns the description in the footer.
    pub(super) fn description(&self) -> Option<&str> {
        let metadata = self.reader.metadata().file_metadata();
        let pairs = metadata.key_value_metadata()?;
        pairs
            .iter()
            .find(|pair| pair.key == DESCRIPTION_METADATA_KEY)?
            .value
            .as_deref()
    }

    /// Returns an iterator over all rows. An error describes an invalid row. If a row cannot be
    /// read at all, its error is the last item.
    ///
    /// # Errors
    /// When two columns have the same name.
    pub(super) fn rows(
        &self,
    ) -> Result<impl Iterator<Item = Result<ReportRow, String>>, ParquetError> {
        let rows = self
            .reader
            .get_row_iter(Some(self.projected_schema.clone()))?;
        Ok(rows.map(|found| convert_row(found.map_err(|error| error.to_string())?)))
    }
}

/// Checks that a column has one value in each row, of a type that the library can read.
fn has_one_value_per_row(field: &Type) -> bool {
    let own = field.get_basic_info();
    field.is_primitive()
        && own.repetition() != Repetition::REPEATED
        && own.converted_type() != ConvertedType::INTERVAL
}

/// Converts a row of a Parquet file. Its columns may have any types that represent the same values.
fn convert_row(found: parquet::record::Row) -> Result<ReportRow, String> {
    let found = <[_; REPORT_COLUMNS.len()]>::try_from(found.into_columns());
    let [batch, question, seed, bucket, report] = found.expect("these columns are read");
    Ok(ReportRow {
        batch: exact_integer_from_field(&batch, u64::MAX)?,
        // Many tools read an empty field of CSV as null.
        question: match question.1 {
            Field::Null => String::new(),
            _ => convert_text(question)?,
        },
        seed: exact_integer_from_field(&seed, u64::MAX)?,
        // pandas turns a column of integers with nulls into doubles with NaN.
        bucket: match bucket.1 {
            Field::Null => None,
            Field::Double(none) if none.is_nan() => None,
            _ => Some(exact_integer_from_field(&bucket, u32::MAX)?),
        },
        report: convert_text(report)?,
    })
}

/// Converts a field to an integer of at most `most`. Returns an error unless the field is exactly
/// such an integer.
fn exact_integer_from_field<T>((column, field): &(String, Field), most: T) -> Result<T, String>
where
    T: Copy + TryFrom<i128> + std::fmt::Display,
{
    let exact = match field {
        Field::Byte(value) => Some((*value).into()),
        Field::Short(value) => Some((*value).into()),
        Field::Int(value) => Some((*value).into()),
        Field::Long(value) => Some((*value).into()),
        Field::UByte(value) => Some((*value).into()),
        Field::UShort(value) => Some((*value).into()),
        Field::UInt(value) => Some((*value).into()),
        Field::ULong(value) => Some((*value).into()),
        Field::Double(value) if value.fract() == 0.0 && value.abs() < MAX_EXACT_INTEGER => {
            Some(*value as i128)
        }
        // Spark has no unsigned integers.
        Field::Decimal(value) if value.scale() == 0 => {
            field.to_string().trim_end_matches('.').parse().ok()
        }
        // Polars reads seeds in CSV as 128 bits, which have no type in Parquet.
        Field::Bytes(bytes) => bytes.data().try_into().map(i128::from_le_bytes).ok(),
        // Seeds are texts in JSON lines.
        Field::Str(text) => text.parse().ok(),
        _ => None,
    };
    let number = exact.and_then(|exact: i128| exact.try_into().ok());
    number.ok_or_else(|| {
        let found = exact.map_or_else(|| format!("{field:?}"), |exact| exact.to_string());
        format!("{column} is {found}, expected 0 to {most}")
    })
}

/// Converts a field to text.
fn convert_text((column, field): (String, Field)) -> Result<String, String> {
    let text = match field {
        Field::Str(text) => return Ok(text),
        Field::Bytes(ref bytes) => bytes.as_utf8().ok(),
        _ => None,
    };
    let text = text.ok_or_else(|| format!("{column} is {field:?}, expected text in UTF-8"))?;
    Ok(text.to_owned())
}
