//! Rows in Parquet.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use super::description::Description;
use super::error::ExportError;
use super::row::{COLUMNS, Row};
use super::rows::Rows;

/// Under which the description is.
pub(super) const KEY: &str = "hushbin";

/// Rows in a group, and bytes of reports, at most: what is held until it is written.
const GROUP: usize = 1 << 17;
const GROUP_BYTES: usize = 32 << 20;

/// Rows that are read at once.
const AT_ONCE: usize = 4096;

static SCHEMA: LazyLock<TypePtr> = LazyLock::new(|| {
    let [batch, question, seed, bucket, report] = COLUMNS;
    let column = |name, physical, repetition, logical| {
        let built = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(Some(logical))
            .with_converted_type(ConvertedType::NONE)
            .build();
        Arc::new(built.expect("types go together"))
    };
    let number = |bits| LogicalType::integer(bits, false);
    let (required, optional) = (Repetition::REQUIRED, Repetition::OPTIONAL);
    let fields = vec![
        column(batch, Physical::INT64, required, number(64)),
        column(
            question,
            Physical::BYTE_ARRAY,
            required,
            LogicalType::String,
        ),
        column(seed, Physical::INT64, required, number(64)),
        column(bucket, Physical::INT32, optional, number(32)),
        column(report, Physical::BYTE_ARRAY, required, LogicalType::String),
    ];
    let schema = Type::group_type_builder("reports")
        .with_fields(fields)
        .build();
    Arc::new(schema.expect("columns go together"))
});

/// A group of rows by columns.
#[derive(Default)]
struct Group {
    batch: Vec<i64>,
    question: Vec<ByteArray>,
    seed: Vec<i64>,
    /// Of those that have one.
    bucket: Vec<i32>,
    /// 1 where a row has a bucket.
    has_bucket: Vec<i16>,
    report: Vec<ByteArray>,
    bytes: usize,
}

/// A file of Parquet that is being written.
pub(super) struct ParquetRows {
    writer: SerializedFileWriter<BufWriter<File>>,
    group: Group,
}

impl ParquetRows {
    pub(super) fn new(file: File, description: &Description) -> Result<Self, ExportError> {
        // Seeds and reports are random: no dictionary and no compression makes them shorter.
        let [batch, question, ..] = COLUMNS.map(ColumnPath::from);
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_column_dictionary_enabled(batch, true)
            .set_column_dictionary_enabled(question, true)
            .set_key_value_metadata(Some(vec![KeyValue::new(
                KEY.to_owned(),
                description.write(),
            )]))
            .build();
        let out = BufWriter::new(file);
        let writer = SerializedFileWriter::new(out, Arc::clone(&SCHEMA), Arc::new(properties))?;
        Ok(Self {
            writer,
            group: Group::default(),
        })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let group = std::mem::take(&mut self.group);
        let mut out = self.writer.next_row_group()?;
        let mut column = Column(&mut out);
        column.write::<Int64Type>(&group.batch, None)?;
        column.write::<ByteArrayType>(&group.question, None)?;
        column.write::<Int64Type>(&group.seed, None)?;
        column.write::<Int32Type>(&group.bucket, Some(&group.has_bucket))?;
        column.write::<ByteArrayType>(&group.report, None)?;
        out.close()?;
        Ok(())
    }
}

struct Column<'a, 'b>(&'a mut parquet::file::writer::SerializedRowGroupWriter<'b, BufWriter<File>>);

impl Column<'_, '_> {
    fn write<T: DataType>(
        &mut self,
        values: &[T::T],
        defined: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        let column = self.0.next_column()?;
        let mut column = column.expect("as many are written as the schema has");
        column.typed::<T>().write_batch(values, defined, None)?;
        column.close()
    }
}

impl Rows for ParquetRows {
    fn write(&mut self, row: Row<'_>) -> Result<(), ExportError> {
        let group = &mut self.group;
        group.batch.push(row.batch.cast_signed());
        group.question.push(row.question.as_ref().into());
        group.seed.push(row.seed.cast_signed());
        group.has_bucket.push(row.bucket.is_some().into());
        group.bucket.extend(row.bucket.map(u32::cast_signed));
        group.bytes += row.report.len();
        group.report.push(row.report.into_bytes().into());
        if group.batch.len() >= GROUP || group.bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        if !self.group.batch.is_empty() {
            self.write_group()?;
        }
        self.writer.finish()?;
        Ok(std::io::Write::flush(self.writer.inner_mut())?)
    }
}

/// A file of Parquet that is read.
pub(super) struct ParquetFile(SerializedFileReader<File>);

impl ParquetFile {
    pub(super) fn open(file: File) -> Result<Self, ParquetError> {
        SerializedFileReader::new(file).map(Self)
    }

    /// Whether its columns are those of [`Row`].
    pub(super) fn has_columns(&self) -> bool {
        let metadata = self.0.metadata().file_metadata();
        let leaf = |field: &TypePtr| {
            let own = field.get_basic_info();
            let physical = field.is_primitive().then(|| field.get_physical_type());
            let repetition = own.has_repetition().then(|| own.repetition());
            (own.name().to_owned(), physical, repetition)
        };
        let found = metadata.schema().get_fields().iter().map(leaf);
        found.eq(SCHEMA.get_fields().iter().map(leaf))
    }

    /// What its footer says of it.
    pub(super) fn description(&self) -> Option<&str> {
        let metadata = self.0.metadata().file_metadata();
        let pairs = metadata.key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == KEY)?.value.as_deref()
    }

    /// Visits all rows until the visitor breaks, and what cannot be one as why.
    pub(super) fn for_each<B>(
        &self,
        visit: &mut dyn FnMut(Result<Row<'static>, String>) -> ControlFlow<B>,
    ) -> Result<Option<B>, ParquetError> {
        for index in 0..self.0.num_row_groups() {
            let group = self.0.get_row_group(index)?;
            if let Some(broken) = for_each_of(&*group, visit)? {
                return Ok(Some(broken));
            }
        }
        Ok(None)
    }
}

fn for_each_of<B>(
    group: &dyn RowGroupReader,
    visit: &mut dyn FnMut(Result<Row<'static>, String>) -> ControlFlow<B>,
) -> Result<Option<B>, ParquetError> {
    let mut columns = (0..COLUMNS.len()).map(|column| group.get_column_reader(column));
    let mut next = || columns.next().expect("there are as many as the schema has");
    let mut batches = Values::<Int64Type>::new(next()?);
    let mut questions = Values::<ByteArrayType>::new(next()?);
    let mut seeds = Values::<Int64Type>::new(next()?);
    let mut buckets = Values::<Int32Type>::new(next()?);
    let mut reports = Values::<ByteArrayType>::new(next()?);
    let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    while left > 0 {
        let rows = left.min(AT_ONCE);
        batches.read(rows)?;
        questions.read(rows)?;
        seeds.read(rows)?;
        buckets.read(rows)?;
        reports.read(rows)?;
        for _ in 0..rows {
            let row = Row {
                batch: batches.required()?.cast_unsigned(),
                question: Cow::Borrowed(""),
                seed: seeds.required()?.cast_unsigned(),
                bucket: buckets.optional()?.map(i32::cast_unsigned),
                report: String::new(),
            };
            let (question, report) = (questions.required()?, reports.required()?);
            let text = |column, bytes: &ByteArray| {
                let text = std::str::from_utf8(bytes.data());
                text.map(str::to_owned)
                    .map_err(|_| format!("{column} is no text, expected UTF-8"))
            };
            let whole = text("question", &question).and_then(|question| {
                Ok(Row {
                    question: Cow::Owned(question),
                    report: text("report", &report)?,
                    ..row
                })
            });
            if let ControlFlow::Break(broken) = visit(whole) {
                return Ok(Some(broken));
            }
        }
        left -= rows;
    }
    Ok(None)
}

/// Values of a column, some rows at a time.
struct Values<T: DataType> {
    reader: parquet::column::reader::ColumnReaderImpl<T>,
    /// 1 where a row has a value; empty where all have.
    defined: std::vec::IntoIter<i16>,
    values: std::vec::IntoIter<T::T>,
}

impl<T: DataType> Values<T> {
    fn new(reader: ColumnReader) -> Self {
        Self {
            reader: get_typed_column_reader(reader),
            defined: Vec::new().into_iter(),
            values: Vec::new().into_iter(),
        }
    }

    /// Reads as many rows, or fails.
    fn read(&mut self, rows: usize) -> Result<(), ParquetError> {
        let (mut defined, mut values) = (Vec::new(), Vec::new());
        let mut found = 0;
        while found < rows {
            let more =
                self.reader
                    .read_records(rows - found, Some(&mut defined), None, &mut values)?;
            if more.0 == 0 {
                return Err(short());
            }
            found += more.0;
        }
        self.defined = defined.into_iter();
        self.values = values.into_iter();
        Ok(())
    }

    fn required(&mut self) -> Result<T::T, ParquetError> {
        self.values.next().ok_or_else(short)
    }

    fn optional(&mut self) -> Result<Option<T::T>, ParquetError> {
        match self.defined.next().ok_or_else(short)? {
            0 => Ok(None),
            _ => self.required().map(Some),
        }
    }
}

fn short() -> ParquetError {
    ParquetError::EOF("a column has fewer rows than the file".to_owned())
}
