//! Inputs of estimates: reports or partial totals.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hushbin::{Report, Task};

use super::standard_input::Reports;
use crate::cli::output::Error;
use crate::estimates::partial_totals::{Folding, Partial, is_partial};
use crate::export::{self, Begun, ReadError};
use crate::text::unmarked;

/// Format of standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Input {
    /// Binary reports, each preceded by its length in bytes as a varint, as Protocol Buffers frame
    /// messages
    Delimited,
    /// Reports in lower-case hexadecimal, one per line, as in the column 'report' of exported files
    Hex,
    /// Partial totals, one line of JSON for each part
    Totals,
}

/// Reports or partial totals of one task.
pub(super) struct Source {
    pub(super) task: Task,
    kind: Kind,
}

enum Kind {
    Files(export::Files),
    /// Reports on standard input, in this format.
    StandardInput(Input),
    Totals(Partial),
}

impl Source {
    /// Opens the files, or standard input if `input` is given. If the source has partial totals,
    /// reads them all and adds them up.
    ///
    /// # Errors
    /// When a file cannot be read, or the task is unknown.
    pub(super) fn open(
        files: &[PathBuf],
        input: Option<Input>,
        given: Option<Task>,
    ) -> Result<Self, Error> {
        let Some(input) = input else {
            return Self::from_files(files, given);
        };
        let task = require_task(given)?;
        if input != Input::Totals {
            let kind = Kind::StandardInput(input);
            return Ok(Self { task, kind });
        }
        let mut all = Partial::new(&task);
        let path = Path::new("standard input");
        add_lines(&mut all, &task, io::stdin().lock(), path)?;
        let kind = Kind::Totals(all);
        Ok(Self { task, kind })
    }

    fn from_files(files: &[PathBuf], given: Option<Task>) -> Result<Self, Error> {
        let mut paths = files.iter();
        let mut begun = Vec::new();
        while let Some(path) = paths.next() {
            let file = Begun::open(path)?;
            let is_partial = is_partial(file.beginning());
            begun.push(file);
            if is_partial {
                let task = require_task(given)?;
                // Files are opened one by one: there may be more than the limit of open files.
                let rest = paths.map(|path| Begun::open(path));
                let totals = add_files(&task, begun.into_iter().map(Ok).chain(rest))?;
                let kind = Kind::Totals(totals);
                return Ok(Self { task, kind });
            }
        }
        let files = export::Files::new(begun, given)?;
        let task = files.task().clone();
        let kind = Kind::Files(files);
        Ok(Self { task, kind })
    }

    /// Returns the partial totals, or `None` for reports.
    pub(super) const fn totals(&self) -> Option<&Partial> {
        match &self.kind {
            Kind::Totals(totals) => Some(totals),
            Kind::Files(_) | Kind::StandardInput(_) => None,
        }
    }

    /// Calls `visit` with every report. Partial totals contain no reports.
    ///
    /// # Errors
    /// When a row is not a report of the task.
    pub(super) fn for_each_report(self, mut visit: impl FnMut(&Report)) -> Result<(), Error> {
        match self.kind {
            Kind::Files(files) => Ok(files.for_each_report(visit)?),
            Kind::StandardInput(input) => {
                let mut reports = Reports::new(&self.task, io::stdin().lock());
                match input {
                    Input::Delimited => reports.for_each_delimited(&mut visit),
                    Input::Hex | Input::Totals => reports.for_each_line(&mut visit),
                }
            }
            Kind::Totals(_) => Ok(()),
        }
    }

    /// Returns the partial totals of the whole source.
    ///
    /// # Errors
    /// As [`Source::for_each_report`].
    pub(super) fn into_totals(self) -> Result<Partial, Error> {
        let Self { task, kind } = self;
        let kind = match kind {
            Kind::Totals(totals) => return Ok(totals),
            kind => kind,
        };
        let mut folding = Folding::new(&task);
        Self { task, kind }.for_each_report(|report| folding.fold(report))?;
        Ok(folding.finish())
    }
}

fn require_task(task: Option<Task>) -> Result<Task, Error> {
    task.ok_or_else(|| "the task is unknown, expected its file with --task".into())
}

/// Returns the sum of the partial totals in all files.
fn add_files(
    task: &Task,
    files: impl Iterator<Item = Result<Begun, ReadError>>,
) -> Result<Partial, Error> {
    let mut all = Partial::new(task);
    for file in files {
        let file = file?;
        let path = file.path().to_owned();
        add_lines(&mut all, task, file.whole(), &path)?;
    }
    Ok(all)
}

/// Adds the partial totals of every line that is not blank.
///
/// # Errors
/// When a line is invalid, or all are blank: an empty input may be a part that was lost on its way.
fn add_lines(
    all: &mut Partial,
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
            all.add(task, unmarked(&line), &at)?;
            added = true;
        }
    }
    match added {
        true => Ok(()),
        false => Err(format!("{path} is empty, expected lines of partial totals").into()),
    }
}
