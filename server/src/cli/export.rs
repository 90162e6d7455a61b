//! `hushbin journal export`: randomised reports in files.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;

use super::location::LocationOptions;
use super::output::{Error, progress_bar};
use crate::estimates;
use crate::export::{self, Description, ExportError, Format, Row, Rows, Unfinished, beside};
use crate::store::{BatchRow, StoredReports};

/// Write the randomised reports of released batches to a file, to be estimated from elsewhere
///
/// Of open and closed batches nothing is written: until a batch is released its reports lie
/// in the order in which they came, and that would link them to whoever sent them, and when.
/// A collector may be using the directory.
///
/// A row has the batch, the question answered, the report's seed, its bucket where the
/// mechanism draws one, and the whole report as it travels, in hexadecimal digits. The
/// complete task lies beside the file, in FILE.task.json, or inside it where that is Parquet:
/// `hushbin estimate FILE` needs nothing else.
#[derive(Debug, Clone, Args)]
pub(super) struct Options {
    #[command(flatten)]
    location: LocationOptions,
    /// Id of the task
    #[arg(long, value_name = "ID")]
    task: String,
    /// Numbers and ranges of released batches, such as 1,4-6; all, if left out
    #[arg(long, value_name = "BATCHES")]
    batches: Option<String>,
    /// What to write; Parquet needs --out
    #[arg(long, value_enum)]
    format: Format,
    /// File that is not there yet: written whole, or not at all
    #[arg(long, value_name = "FILE", required_if_eq("format", "parquet"))]
    out: Option<PathBuf>,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let stored = StoredReports::open(&options.location.location()?, &options.task)?;
    let mut asked = None;
    if let Some(batches) = &options.batches {
        estimates::add_batches(batches, asked.get_or_insert_default())?;
    }
    let batches = released(&options.task, &stored.releases()?, asked.as_deref())?;
    let reports = batches.iter().map(|batch| batch.reports).sum();
    let bar = progress_bar(reports, "reports");
    let Some(path) = &options.out else {
        let rows = match options.format {
            Format::Json => export::json(out),
            // Parquet has a file.
            Format::Csv | Format::Parquet => export::csv(out),
        };
        return Ok(write(&stored, &batches, rows, &bar)?);
    };
    let described = to_file(&stored, &batches, options.format, path, &bar)?;
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

/// The batches that are asked for, or all, with their reports.
fn released(
    id: &str,
    all: &[BatchRow],
    asked: Option<&[u64]>,
) -> Result<Vec<BatchRow>, ExportError> {
    let id = id.to_owned();
    if all.is_empty() {
        return Err(ExportError::NothingReleased { id });
    }
    let mut batches = all.to_vec();
    if let Some(asked) = asked {
        let there = |batch: &&u64| !all.iter().any(|row| row.number == **batch);
        if let Some(&batch) = asked.iter().find(there) {
            let released = ranges(all);
            return Err(ExportError::NotReleased {
                id,
                batch,
                released,
            });
        }
        batches.retain(|row| asked.contains(&row.number));
    }
    let (kept, gone): (Vec<_>, Vec<_>) = batches.iter().partition(|batch| batch.kept);
    match gone.is_empty() {
        true => Ok(batches),
        false => Err(ExportError::Gone {
            id,
            gone: ranges(gone),
            kept: ranges(kept),
        }),
    }
}

/// Numbers of batches that ascend, as they are asked for.
fn ranges<'a>(batches: impl IntoIterator<Item = &'a BatchRow>) -> String {
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

/// Writes a file, and the one beside it that says what it is of, where there is one.
fn to_file(
    stored: &StoredReports,
    batches: &[BatchRow],
    format: Format,
    path: &Path,
    bar: &ProgressBar,
) -> Result<Option<PathBuf>, ExportError> {
    let file = Unfinished::create(path)?;
    let description = Description::new(stored.task(), batches);
    let beside = (format != Format::Parquet).then(|| beside(path));
    let described = beside.as_deref().map(Unfinished::create).transpose()?;
    let rows = match format {
        Format::Csv => export::csv(file.file()),
        Format::Json => export::json(file.file()),
        Format::Parquet => export::parquet(file.file(), &description)?,
    };
    write(stored, batches, rows, bar)?;
    if let Some(described) = described {
        described.file().write_all(description.write().as_bytes())?;
        described.finish()?;
    }
    // Last, so that it is never there without what says what it is.
    let finished = file.finish();
    if let (Err(_), Some(beside)) = (&finished, &beside) {
        let _ = std::fs::remove_file(beside);
    }
    finished.map(|()| beside)
}

fn write(
    stored: &StoredReports,
    batches: &[BatchRow],
    mut rows: Box<dyn Rows + '_>,
    bar: &ProgressBar,
) -> Result<(), ExportError> {
    for batch in batches {
        let (mut found, mut written) = (0, Ok(()));
        stored.for_each_released(batch.number, &mut |report| {
            written = rows.write(Row::new(stored.task(), batch.number, &report));
            found += 1;
            bar.inc(1);
            match written {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        written?;
        // They may have been deleted since the batches were listed.
        if found != batch.reports {
            return Err(ExportError::Reports {
                batch: batch.number,
                found,
                expected: batch.reports,
            });
        }
    }
    rows.finish()
}
