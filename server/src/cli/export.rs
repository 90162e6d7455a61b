//! `hushbin journal export`: export of randomised reports to files.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;

use super::journal_location::JournalLocationOptions;
use super::output::{Error, progress_bar};
use crate::estimates;
use crate::export::{
    self, AtomicFile, ExportError, ReportFileFormat, ReportRow, ReportsDescription, RowWriter,
    description_path,
};
use crate::store::{BatchRow, StoredReports};

/// Export the randomised reports of released batches, to compute estimates elsewhere
///
/// Only released batches are exported. In other batches the reports are still in order of arrival,
/// which could link reports to senders. A collector may use the journal at the same time.
///
/// Each row has the number of the batch, the name of the question, the seed and the bucket of the
/// report (the bucket only if the mechanism has one), and the whole report in hexadecimal. With
/// --out FILE, the complete task is written to FILE.task.json, or into the Parquet file. 'hushbin
/// estimate FILE' then needs no other option than its --format.
#[derive(Debug, Clone, Args)]
pub(super) struct ExportCommandOptions {
    #[command(flatten)]
    location: JournalLocationOptions,
    /// Id of the task whose reports are exported
    #[arg(long, value_name = "ID")]
    task: String,
    /// Numbers of the released batches to export, such as 1,4-6 (default all)
    #[arg(long, value_name = "BATCHES")]
    batches: Option<String>,
    /// Format of the rows; 'parquet' needs --out
    #[arg(long, value_enum)]
    format: ReportFileFormat,
    /// New file for the rows, written completely or not at all (default standard output)
    #[arg(long, value_name = "FILE", required_if_eq("format", "parquet"))]
    out: Option<PathBuf>,
}

pub(super) fn run_export_command(
    options: &ExportCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let stored = StoredReports::open(&options.location.journal_location()?, &options.task)?;
    let mut selected = None;
    if let Some(batches) = &options.batches {
        estimates::parse_batch_numbers(batches, selected.get_or_insert_default())?;
    }
    let mut batches = select_batches(
        &options.task,
        &stored.released_batches()?,
        selected.as_deref(),
    )?;
    for batch in &mut batches {
        batch.report_count = stored.kept_report_count(batch.number)?;
    }
    let reports = batches.iter().map(|batch| batch.report_count).sum();
    let bar = progress_bar(reports, "reports");
    let Some(path) = &options.out else {
        let rows = match options.format {
            ReportFileFormat::Json => export::json_lines_writer(out),
            // Parquet requires --out, so it never gets here.
            ReportFileFormat::Csv | ReportFileFormat::Parquet => export::csv_writer(out),
        };
        return Ok(write_report_rows(&stored, &batches, rows, &bar)?);
    };
    let described = write_export_files(&stored, &batches, options.format, path, &bar)?;
    bar.finish_and_clear();
    let task = described.unwrap_or_else(|| path.clone());
    writeln!(
        out,
        "{reports} reports of {} batches are in {}, the task is in {}",
        batches.len(),
        path.display(),
        task.display()
    )?;
    Ok(())
}

/// Returns the batches with the numbers `selected`, or all batches if `selected` is `None`.
///
/// # Errors
/// When no batch is released, a batch of `selected` is not released, or its reports are deleted.
fn select_batches(
    id: &str,
    all: &[BatchRow],
    selected: Option<&[u64]>,
) -> Result<Vec<BatchRow>, ExportError> {
    let id = id.to_owned();
    if all.is_empty() {
        return Err(ExportError::NothingReleased { id });
    }
    let mut batches = all.to_vec();
    if let Some(selected) = selected {
        let is_unknown = |batch: &&u64| !all.iter().any(|row| row.number == **batch);
        if let Some(&batch) = selected.iter().find(is_unknown) {
            let released = format_batch_ranges(all);
            return Err(ExportError::NotReleased {
                id,
                batch,
                released,
            });
        }
        batches.retain(|row| selected.contains(&row.number));
    }
    let (kept, gone): (Vec<_>, Vec<_>) = batches.iter().partition(|batch| batch.reports_kept);
    match gone.is_empty() {
        true => Ok(batches),
        false => Err(ExportError::ReportsDeleted {
            id,
            gone: format_batch_ranges(gone),
            kept: format_batch_ranges(kept),
        }),
    }
}

/// Formats ascending batch numbers as ranges, in the syntax of `--batches`.
fn format_batch_ranges<'a>(batches: impl IntoIterator<Item = &'a BatchRow>) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for batch in batches {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == batch.number => *last = batch.number,
            _ => ranges.push((batch.number, batch.number)),
        }
    }
    let range = |(first, last): (u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.into_iter().map(range).collect::<Vec<_>>().join(",")
}

/// Writes the rows to a new file. For CSV and JSON, also writes a second file that describes the
/// task and the batches, and returns the path of this second file.
fn write_export_files(
    stored: &StoredReports,
    batches: &[BatchRow],
    format: ReportFileFormat,
    path: &Path,
    bar: &ProgressBar,
) -> Result<Option<PathBuf>, ExportError> {
    let file = AtomicFile::create_temporary_file(path)?;
    let description = ReportsDescription::new(stored.task(), batches);
    let description_file = (format != ReportFileFormat::Parquet).then(|| description_path(path));
    let described = description_file
        .as_deref()
        .map(AtomicFile::create_temporary_file)
        .transpose()?;
    let rows = match format {
        ReportFileFormat::Csv => export::csv_writer(file.file()),
        ReportFileFormat::Json => export::json_lines_writer(file.file()),
        ReportFileFormat::Parquet => export::parquet_writer(file.file(), &description)?,
    };
    write_report_rows(stored, batches, rows, bar)?;
    if let Some(described) = described {
        described
            .file()
            .write_all(description.to_json().as_bytes())?;
        described.sync_and_rename()?;
    }
    // The file of rows is renamed last, so that a file of rows always has a description.
    let finished = file.sync_and_rename();
    if let (Err(_), Some(description_file)) = (&finished, &description_file) {
        let _ = std::fs::remove_file(description_file);
    }
    finished.map(|()| description_file)
}

fn write_report_rows(
    stored: &StoredReports,
    batches: &[BatchRow],
    mut rows: Box<dyn RowWriter + '_>,
    bar: &ProgressBar,
) -> Result<(), ExportError> {
    for batch in batches {
        let (mut found, mut written) = (0, Ok(()));
        stored.for_each_released_report(batch.number, &mut |report| {
            written = rows.write_row(ReportRow::new(stored.task(), batch.number, &report));
            found += 1;
            bar.inc(1);
            match written {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        written?;
        // Reports may have been deleted since the batches were listed.
        if found != batch.report_count {
            return Err(ExportError::WrongReportCount {
                batch: batch.number,
                found,
                expected: batch.report_count,
            });
        }
    }
    rows.finish()
}
