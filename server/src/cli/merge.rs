//! `hushbin merge`: partial totals added up, and what is estimated from them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hushbin::Task;
use hushbin_analysis::estimate::Query;

use super::output::{Error, spinner};
use super::{estimate, fold};
use crate::estimates::partial_totals::Partial;
use crate::{estimates, export};

/// Add partial totals of hushbin fold, and estimate from them
///
/// Of the same reports the answer has the bytes of `hushbin estimate` and of
/// GET /tasks/{id}/estimates, in however many parts they were folded. A part that comes twice
/// is named, and nothing is added then.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Files with lines of partial totals; standard input if there is none
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// File of the task: a task file, or an answer of GET /tasks/{id}
    #[arg(long, value_name = "FILE")]
    task: PathBuf,
    #[command(flatten)]
    asked: estimate::Asked,
    /// What to print
    #[arg(long, value_enum)]
    format: Format,
    /// File for partial totals, in place of standard output; it is not written over
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Estimates
    Csv,
    /// Estimates
    Json,
    /// The partial totals of all together, to be merged with others
    Partial,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let task = export::task_of(&options.task)?;
    let spinner = spinner("adding totals");
    let mut all = Partial::new(&task);
    if options.files.is_empty() {
        add_lines(&mut all, &task, io::stdin().lock(), Path::new("-"))?;
    }
    for path in &options.files {
        let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        add_lines(&mut all, &task, BufReader::new(file), path)?;
    }
    spinner.finish_and_clear();
    if options.format == Format::Partial {
        return fold::write_line(&all.line(&task), options.out.as_deref(), out);
    }
    if options.out.is_some() {
        return Err("--out is for --format partial; estimates go to standard output".into());
    }
    let query = Query::new(&task, &options.asked.options()?)?;
    if !estimates::is_listed(&task, &query) {
        let name = task.questions()[query.question()].name();
        return Err(format!(
            "items of question {name:?} are in no list, and partial totals count none of them: \
             hushbin estimate reads reports"
        )
        .into());
    }
    let csv = options.format == Format::Csv;
    estimate::write(task, &all.totals, &query, csv, out)
}

/// Adds every line that has something in it.
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
