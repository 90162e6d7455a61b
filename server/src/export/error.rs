//! Errors of writing and reading files of reports.

use std::io;

use hushbin::Fingerprint;
#[cfg(feature = "parquet")]
use parquet::errors::ParquetError;

#[cfg(not(feature = "parquet"))]
use crate::missing_feature::MissingFeature as ParquetError;
use crate::store::JournalError;

/// Error of exporting reports.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    #[error("{path}: {source}")]
    FileAccess { path: String, source: io::Error },
    #[error("{path} already exists and is not overwritten")]
    FileExists { path: String },
    #[error("{path} is being written by another hushbin process")]
    FileInUse { path: String },
    /// Error of an output stream that is not a file.
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    #[error(transparent)]
    JournalFailed(#[from] JournalError),
    #[error("no batch of task {id:?} is released yet")]
    NothingReleased { id: String },
    #[error("batch {batch} of task {id:?} is not released; released batches: {released}")]
    NotReleased {
        id: String,
        batch: u64,
        released: String,
    },
    /// Reports that were deleted after the retention time.
    #[error(
        "the reports of batches {gone} of task {id:?} were deleted at the end of their retention; \
         their totals are kept; {}",
        kept_batches_hint(kept)
    )]
    ReportsDeleted {
        id: String,
        gone: String,
        kept: String,
    },
    #[error("batch {batch} has {found} reports, expected {expected}; run hushbin journal check")]
    WrongReportCount {
        batch: u64,
        found: u64,
        expected: u64,
    },
}

fn kept_batches_hint(kept: &str) -> String {
    match kept {
        "" => "no batch has reports left".to_owned(),
        _ => format!("export the remaining batches with --batches {kept}"),
    }
}

impl From<csv::Error> for ExportError {
    fn from(error: csv::Error) -> Self {
        Self::Io(error.into())
    }
}

/// Error of reading files of reports.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("{path}: {source}")]
    FileAccess { path: String, source: io::Error },
    #[error("{path} is a pipe; Parquet needs a file, because it is read from its end")]
    UnseekablePipe { path: String },
    #[error(
        "{path} contains no exported reports, expected Parquet, JSON lines or the header \
         batch,question,seed,bucket,report, as hushbin journal export writes them"
    )]
    NoReports { path: String },
    #[error("{path}: {source}")]
    Parquet { path: String, source: ParquetError },
    #[error("no file with reports is given")]
    NoFiles,
    #[cfg(feature = "parquet")]
    #[error("{path} has no column {column} with a value in each row, expected {expected}")]
    MissingColumn {
        path: String,
        column: &'static str,
        expected: String,
    },
    /// Invalid line of a text file, or invalid row of a Parquet file.
    #[error("{path}, {what} {number}: {wrong}")]
    InvalidRow {
        path: String,
        what: &'static str,
        number: u64,
        wrong: String,
    },
    #[error("{path} is not a valid description of exported reports: {wrong}")]
    InvalidDescription { path: String, wrong: String },
    #[error(
        "the task of the reports in {path} is unknown: put {description_file} next to the file, \
         as hushbin journal export does, or give the task file with --task"
    )]
    UnknownReportTask {
        path: String,
        description_file: String,
    },
    #[error("{path} holds reports of a task with the fingerprint {found}, expected {expected}")]
    TaskMismatch {
        path: String,
        expected: Fingerprint,
        found: Fingerprint,
    },
    #[error("{path} and {other} both hold batch {batch}, whose reports would be counted twice")]
    DuplicateBatch {
        path: String,
        other: String,
        batch: u64,
    },
    #[error("{path} holds {found} reports of batch {batch}, expected {expected}")]
    ReportCountMismatch {
        path: String,
        batch: u64,
        found: u64,
        expected: u64,
    },
}
