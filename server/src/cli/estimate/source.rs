//! Reports or partial totals to estimate from.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hushbin::{Report, Task};

use super::standard_input::{self, Layout};
use crate::cli::output::Error;
use crate::estimates::partial_totals::{Folding, Partial, is_partial};
use crate::export;

/// Format of standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Input {
    /// Reports, the bytes of each after their length, a varint, as Protocol Buffers delimit
    /// messages
    Delimited,
    /// Reports, a line of lower-case hexadecimal digits for each, as in the column `report`
    Hex,
    /// Lines of partial totals
    Totals,
}

/// Reports or partial totals of one task.
pub(super) struct Source {
    pub(super) task: Task,
    kind: Kind,
}

enum Kind {
    Files(export::Files),
    StandardInput(Layout),
    Totals(Partial),
}

impl Source {
    /// Opens files, or standard input if `input` is given. Adds partial totals up.
    ///
    /// # Errors
    /// When a file cannot be read, or the task is unknown.
    pub(super) fn open(
        files: &[PathBuf],
        input: Option<Input>,
        given: Option<Task>,
    ) -> Result<Self, Error> {
        let layout = match input {
            None if is_any_partial(files)? => None,
            None => {
                let files = export::Files::open(files, given)?;
                let task = files.task().clone();
                let kind = Kind::Files(files);
                return Ok(Self { task, kind });
            }
            Some(Input::Totals) => None,
            Some(Input::Delimited) => Some(Layout::Delimited),
            Some(Input::Hex) => Some(Layout::Hex),
        };
        let unknown = "the task is unknown, expected its file with --task";
        let task = given.ok_or(unknown)?;
        let kind = match layout {
            Some(layout) => Kind::StandardInput(layout),
            None => Kind::Totals(sum(&task, files)?),
        };
        Ok(Self { task, kind })
    }

    /// Returns the partial totals, if they are what this is.
    pub(super) const fn totals(&self) -> Option<&Partial> {
        match &self.kind {
            Kind::Totals(totals) => Some(totals),
            Kind::Files(_) | Kind::StandardInput(_) => None,
        }
    }

    /// Visits every report, of which partial totals have none.
    ///
    /// # Errors
    /// When a row is not a report of the task.
    pub(super) fn for_each_report(self, mut visit: impl FnMut(&Report)) -> Result<(), Error> {
        match self.kind {
            Kind::Files(files) => Ok(files.for_each_report(visit)?),
            Kind::StandardInput(layout) => {
                standard_input::for_each_report(&self.task, layout, &mut visit)
            }
            Kind::Totals(_) => Ok(()),
        }
    }

    /// Returns the partial totals of everything.
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

fn is_any_partial(files: &[PathBuf]) -> Result<bool, Error> {
    for path in files {
        if is_partial(&mut open(path)?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn open(path: &Path) -> Result<BufReader<File>, Error> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(BufReader::new(file))
}

/// Adds up partial totals in files, or on standard input if there are none.
fn sum(task: &Task, files: &[PathBuf]) -> Result<Partial, Error> {
    let mut all = Partial::new(task);
    if files.is_empty() {
        add_lines(
            &mut all,
            task,
            io::stdin().lock(),
            Path::new("standard input"),
        )?;
    }
    for path in files {
        add_lines(&mut all, task, open(path)?, path)?;
    }
    Ok(all)
}

/// Adds every line that is not blank.
fn add_lines(
    all: &mut Partial,
    task: &Task,
    mut input: impl BufRead,
    path: &Path,
) -> Result<(), Error> {
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if !line.trim_ascii().is_empty() {
            let at = format_args!("{}, line {number}", path.display());
            all.add(task, &line, &at)?;
        }
    }
    Ok(())
}
