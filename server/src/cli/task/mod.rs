//! `hushbin task`: what a task will cost, before anyone is asked.

mod cost;
mod types;
mod words;

use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;

use super::output::{Error, write_answer};
use super::sums;
use crate::task::task_file::{self, ReportTaskFile, TaskFile};
use cost::Cost;

/// Look at tasks before they are used.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckOptions),
    Types(TypesOptions),
}

/// Validate a task file and say what the task will cost: privacy, bytes, error.
#[derive(Debug, clap::Args)]
struct CheckOptions {
    /// Task file; parameters it leaves out are chosen.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Predict the error at this many reports; may be repeated.
    #[arg(long, value_name = "N", default_values_t = [1_000, 10_000, 100_000, 1_000_000])]
    people: Vec<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write the complete task, with the parameters chosen, to a file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Write the complete task as a TypeScript module, for pages that import it: a typo
/// in a name, an option or a kind then does not compile.
#[derive(Debug, clap::Args)]
struct TypesOptions {
    /// Task file; parameters it leaves out are chosen.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write the module to a file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    match &options.command {
        Command::Check(options) => check(options, out),
        Command::Types(options) => types(options, out),
    }
}

fn types(options: &TypesOptions, out: &mut dyn Write) -> Result<(), Error> {
    let file = TaskFile::read(&options.file)?;
    let module = types::module(&file.resolve()?).map_err(|error| file.error(error))?;
    match &options.out {
        Some(path) => Ok(task_file::write_text(path, &module)?),
        None => Ok(out.write_all(module.as_bytes())?),
    }
}

fn check(options: &CheckOptions, out: &mut dyn Write) -> Result<(), Error> {
    if let Some(task) = sums::task(&options.file) {
        return sums::plan(task?, options.out.as_deref(), options.json, out);
    }
    let file = ReportTaskFile::read(&options.file)?;
    let (task, choices) = file.choose()?;
    if let Some(file) = &options.out {
        task_file::write(file, &task)?;
    }
    let cost = Cost::new(task, choices, &options.people)?;
    write_answer(out, options.json, &cost, |out| cost.write_words(out))
}
