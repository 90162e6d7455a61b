//! Writing and reading of files of randomised reports. Estimates can be computed from these files
//! elsewhere.
//!
//! A row is a report of a released batch:
//!
//! | column | value |
//! |---|---|
//! | `batch` | the number of the batch |
//! | `question` | the name of the question that the report answers; empty if the task's question has no name |
//! | `seed` | the report's seed, from 0 to 2⁶⁴ − 1; a string in JSON, since many JSON readers use doubles |
//! | `bucket` | the drawn bucket, for mechanisms that draw one; otherwise empty, in JSON `null` |
//! | `report` | the whole encoded report, in lower-case hexadecimal digits |
//!
//! Rows are ordered by batch, then by the bytes of the reports, as in the journal. This order
//! reveals nothing about senders or times, and the same batches always give the same file. CSV has
//! a header. JSON has one line for each row and can be read while it is written. Parquet is written
//! with one fixed type for each column. It is read from columns of any types that represent the
//! same values.
//!
//! The [`ReportsDescription`] contains everything that estimates need besides the reports. It is in
//! the footer of a Parquet file under the key `hushbin`. For CSV and JSON lines it is in a separate
//! file next to the reports ([`description_path`]), since readers of these formats expect only
//! rows.

mod atomic_file;
mod description;
mod error;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod peeked_file;
mod report_files;
mod row;
mod row_writer;
mod text_writers;

use clap::ValueEnum;

pub(crate) use self::parquet::parquet_writer;
pub(crate) use atomic_file::AtomicFile;
pub(crate) use description::{ReportsDescription, description_path};
pub(crate) use error::{ExportError, ReadError};
pub(crate) use peeked_file::PeekedFile;
pub(crate) use report_files::{ReportFiles, read_report_or_sum_tasks, read_task_from_any_file};
pub(crate) use row::ReportRow;
pub(crate) use row_writer::RowWriter;
pub(crate) use text_writers::{csv_writer, json_lines_writer};

/// Format of a file of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFileFormat {
    /// Comma-separated values (RFC 4180), with a header line
    Csv,
    /// JSON lines: one object per report
    Json,
    /// Apache Parquet, with the complete task in the same file
    Parquet,
}
