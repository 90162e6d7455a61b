//! Randomised reports in files, for whoever estimates elsewhere: written, and read again.
//!
//! A row is a report of a released batch:
//!
//! | column | holds |
//! |---|---|
//! | `batch` | the number of the batch |
//! | `question` | the name of the question that the report answers; empty where the task asks one without a name |
//! | `seed` | the report's seed, from 0 to 2⁶⁴ − 1; a text in JSON, whose numbers many read as doubles |
//! | `bucket` | the bucket drawn, of mechanisms that draw one; else empty, in JSON `null` |
//! | `report` | the whole report as it travels, in lower-case hexadecimal digits |
//!
//! Rows go by batch, and within one by the bytes of reports, as the journal has them: that
//! order tells nothing of who sent what when, and the same batches always give the same file.
//! CSV has a header; JSON is a line for each row, which can be read while it is written;
//! Parquet has columns of these types, and is read in any others that hold the same values.
//!
//! What it takes to estimate, the [`Description`], is in the footer of a Parquet file under
//! the key `hushbin`, and in a file beside the others ([`beside`]): neither CSV nor JSON lines
//! has a place for it that every reader skips.

mod begun;
mod description;
mod error;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod read;
mod row;
mod rows;
mod whole;
mod write;

use clap::ValueEnum;

pub(crate) use self::parquet::parquet;
pub(crate) use begun::Begun;
pub(crate) use description::{Description, beside};
pub(crate) use error::{ExportError, ReadError};
pub(crate) use read::{Files, any_task_of, task_of};
pub(crate) use row::Row;
pub(crate) use rows::Rows;
pub(crate) use whole::Unfinished;
pub(crate) use write::{csv, json};

/// What a file of reports is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Comma-separated values (RFC 4180), under a header
    Csv,
    /// JSON lines: an object for each report
    Json,
    /// Apache Parquet, with the task inside
    Parquet,
}
