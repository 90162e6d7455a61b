//! Inputs of estimates: reports or partial totals.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hushbin::{Report, Task};

use super::report_reader::ReportReader;
use crate::cli::output::Error;
use crate::estimates::partial_totals::{
    PartialTotals, TotalsAccumulator, looks_like_partial_totals,
};
use crate::export::{self, PeekedFile, ReadError};
use crate::text_file::without_byte_order_mark;

/// Format of standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum InputFormat {
    /// Binary reports. Before each report, a varint gives its length in bytes, as in a stream of
    /// Protocol Buffers messages
    Delimited,
    /// Reports in lower-case hexadecimal, one per line, as in the column 'report' of exported files
    Hex,
    /// Partial totals, one line of JSON for each part of the reports
    Totals,
}

/// Reports or partial totals of one task.
pub(super) struct ReportSource {
    pub(super) task: Task,
    kind: ReportSourceKind,
}

enum ReportSourceKind {
    Files(export::ReportFiles),
    /// Reports on standard input, in this format.
    StandardInput(InputFormat),
    PartialTotals(PartialTotals),
}

impl ReportSource {
    /// Opens the files, or standard input if `input` is given. If the source has partial totals,
    /// reads them all and adds them up.
    ///
    /// # Errors
    /// When a file cannot be read, or the task is unknown.
    pub(super) fn open(
        files: &[PathBuf],
        input: Option<InputFormat>,
        given: Option<Task>,
    ) -> Result<Self, Error> {
        let Some(input) = input else {
            return Self::from_files(files, given);
        };
        let task = require_task(given)?;
        if input != InputFormat::Totals {
            let kind = ReportSourceKind::StandardInput(input);
            return Ok(Self { task, kind });
        }
        let mut all = PartialTotals::new(&task);
        let path = Path::new("standard input");
        add_totals_from_lines(&mut all, &task, io::stdin().lock(), path)?;
        let kind = ReportSourceKind::PartialTotals(all);
        Ok(Self { task, kind })
    }

    fn from_files(files: &[PathBuf], given: Option<Task>) -> Result<Self, Error> {
        let mut paths = files.iter();
        let mut opened = Vec::new();
        while let Some(path) = paths.next() {
            let file = PeekedFile::open(path)?;
            let is_partial = looks_like_partial_totals(file.beginning());
            opened.push(file);
            if is_partial {
                let task = require_task(given)?;
                // Files are opened one by one: there may be more than the limit of open files.
                let rest = paths.map(|path| PeekedFile::open(path));
                let totals = sum_partial_totals(&task, opened.into_iter().map(Ok).chain(rest))?;
                let kind = ReportSourceKind::PartialTotals(totals);
                return Ok(Self { task, kind });
            }
        }
        let files = export::ReportFiles::new(opened, given)?;
        let task = files.task().clone();
        let kind = ReportSourceKind::Files(files);
        Ok(Self { task, kind })
    }

    /// Returns the partial totals, or `None` if the source has reports instead.
    pub(super) const fn partial_totals(&self) -> Option<&PartialTotals> {
        match &self.kind {
            ReportSourceKind::PartialTotals(totals) => Some(totals),
            ReportSourceKind::Files(_) | ReportSourceKind::StandardInput(_) => None,
        }
    }

    /// Calls `visit` with every report. Partial totals contain no reports.
    ///
    /// # Errors
    /// When a row is not a report of the task.
    pub(super) fn for_each_report(self, mut visit: impl FnMut(&Report)) -> Result<(), Error> {
        match self.kind {
            ReportSourceKind::Files(files) => Ok(files.for_each_report(visit)?),
            ReportSourceKind::StandardInput(input) => {
                let mut reports = ReportReader::new(&self.task, io::stdin().lock());
                match input {
                    InputFormat::Delimited => reports.for_each_length_prefixed(&mut visit),
                    InputFormat::Hex | InputFormat::Totals => {
                        reports.for_each_hex_report(&mut visit)
                    }
                }
            }
            ReportSourceKind::PartialTotals(_) => Ok(()),
        }
    }

    /// Returns the partial totals of the whole source. If the source has reports, reads and counts
    /// them all.
    ///
    /// # Errors
    /// As [`ReportSource::for_each_report`].
    pub(super) fn into_partial_totals(self) -> Result<PartialTotals, Error> {
        let Self { task, kind } = self;
        let kind = match kind {
            ReportSourceKind::PartialTotals(totals) => return Ok(totals),
            kind => kind,
        };
        let mut folding = TotalsAccumulator::new(&task);
        Self { task, kind }.for_each_report(|report| folding.add_report(report))?;
        Ok(folding.into_partial_totals())
    }
}

fn require_task(task: Option<Task>) -> Result<Task, Error> {
    task.ok_or_else(|| "the task is unknown: give its file with --task".into())
}

/// Returns the sum of the partial totals in all files.
fn sum_partial_totals(
    task: &Task,
    files: impl Iterator<Item = Result<PeekedFile, ReadError>>,
) -> Result<PartialTotals, Error> {
    let mut all = PartialTotals::new(task);
    for file in files {
        let file = file?;
        let path = file.path().to_owned();
        add_totals_from_lines(&mut all, task, file.into_reader(), &path)?;
    }
    Ok(all)
}

/// Reads the partial totals in every line that is not blank, and adds them to `all`.
///
/// # Errors
/// When a line is invalid, or all lines are blank. An empty input is refused, because its partial
/// totals may have been lost.
fn add_totals_from_lines(
    all: &mut PartialTotals,
    task: &Task,
    mut input: impl BufRead,
    path: &Path,
) -> Result<(), Error> {
    let path = path.display();
    let mut line = Vec::new();
    let mut added = false;
    for number in 1_u64.. {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|error| format!("{path}: {error}"))? == 0 {
            break;
        }
        if !line.trim_ascii().is_empty() {
            let at = format_args!("{path}, line {number}");
            all.add_partial_totals_line(task, without_byte_order_mark(&line), &at)?;
            added = true;
        }
    }
    match added {
        true => Ok(()),
        false => Err(format!("{path} is empty, expected lines of partial totals").into()),
    }
}
