//! `hushbin simulate`: how wrong the estimates of a task come out on people
//! whose truth is known.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use hushbin::Task;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::Error;
use super::describe;
use crate::evaluate::{DataSet, Errors, Outcome, Repeated, simulate};
use crate::task_file::TaskFile;
use hushbin_analysis::estimate::Estimand;

/// Run the randomizer and the estimator over a data set and compare with its
/// truth.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Task file; parameters it leaves out are chosen, the sparsity by how many
    /// entries the people of the data set have.
    #[arg(long, value_name = "FILE")]
    task: PathBuf,
    /// Data set: a line `people items max`, then lines `person item value`.
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Take only the first N people.
    #[arg(long, value_name = "N")]
    people: Option<usize>,
    /// Seed of the generator, to repeat a run; by default from the system.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Run so many times, with seeds counted up, and print averages; several runs
    /// tell bias from noise.
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    runs: u64,
    /// What to estimate of each item.
    #[arg(long, value_enum, default_value_t = EstimandName::Mean)]
    estimand: EstimandName,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum EstimandName {
    /// Average value, missing entries counting as 0.
    Mean,
    /// Frequency of positive values.
    Plus,
    /// Frequency of negative values.
    Minus,
    /// Frequency of any value.
    Nonmissing,
}

impl From<EstimandName> for Estimand {
    fn from(name: EstimandName) -> Self {
        match name {
            EstimandName::Mean => Self::Mean,
            EstimandName::Plus => Self::Plus,
            EstimandName::Minus => Self::Minus,
            EstimandName::Nonmissing => Self::Nonmissing,
        }
    }
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let data = DataSet::open(&options.data)?;
    let mut file = TaskFile::read(&options.task)?;
    // A task that leaves the sparsity open is fitted to these people.
    if let [question] = &mut file.draft.questions[..]
        && question.sparsity.is_none()
        && question.entries.is_none()
    {
        question.entries = Some(data.entry_counts());
    }
    let task = file.resolve()?;
    let people = options.people.unwrap_or(data.people());
    let first = match options.seed {
        Some(seed) => seed,
        None => getrandom::u64()?,
    };
    let bar = super::progress_bar(people as u64 * options.runs, "people");
    let mut outcomes = Vec::new();
    for run in 0..options.runs {
        let rng = ChaCha20Rng::seed_from_u64(first.wrapping_add(run));
        let before = people as u64 * run;
        let progress = |done| bar.set_position(before + done as u64);
        let estimand = options.estimand.into();
        outcomes.push(simulate(&task, &data, people, estimand, &rng, progress)?);
    }
    bar.finish_and_clear();
    let found = Repeated::from_outcomes(&outcomes).ok_or("there is nothing to sum up")?;
    super::write_answer(out, options.json, &found, |out| {
        write_words(out, &task, &found)
    })
}

fn write_words(out: &mut dyn Write, task: &Task, found: &Repeated) -> io::Result<()> {
    write_subject(out, task, found)?;
    write_errors(out, found)?;
    let Outcome {
        randomize_ns,
        decode_ns,
        ..
    } = found.average;
    writeln!(out, "these estimates are   {}", found.verdict())?;
    writeln!(
        out,
        "randomising           {randomize_ns:.0} ns a report on one core"
    )?;
    writeln!(
        out,
        "decoding              {decode_ns:.0} ns a report on one core"
    )
}

/// Who reported, and how.
fn write_subject(out: &mut dyn Write, task: &Task, found: &Repeated) -> io::Result<()> {
    let Outcome {
        people,
        reports,
        items,
        estimand,
        replaced,
        sampled_down,
        ..
    } = &found.average;
    let times = match found.runs {
        1 => String::new(),
        runs => format!(", average of {runs} runs"),
    };
    writeln!(
        out,
        "{people} people, {reports} reports, {items} items, {}{times}",
        estimand.as_str()
    )?;
    let question = &task.questions()[0];
    let sparsity = question.sparsity();
    let mechanism = describe::mechanism(question.mechanism());
    writeln!(out, "{mechanism}, sparsity {sparsity}")?;
    if *replaced > 0 {
        writeln!(
            out,
            "{replaced} lines were replaced by a later one of the same person and item"
        )?;
    }
    if *sampled_down > 0 {
        writeln!(
            out,
            "{sampled_down} people had more entries than the sparsity, {sparsity}"
        )?;
    }
    Ok(())
}

/// Errors as found, beside those predicted and those of answering 0.
fn write_errors(out: &mut dyn Write, found: &Repeated) -> io::Result<()> {
    let Outcome {
        predicted_mse,
        predicted_squared_bias,
        ..
    } = found.average;
    let Errors {
        tve,
        max_abs_error,
        mse,
        zero_mse,
        zero_max_abs_error,
        ..
    } = found.average.errors;
    let (spread, largest) = match found.runs {
        1 => (String::new(), String::new()),
        _ => (
            format!(" ± {:.1e}", found.mse_standard_error),
            format!(" (largest of all runs {:.4e})", found.largest_error),
        ),
    };
    writeln!(
        out,
        "mean squared error    {mse:.4e}{spread}   predicted {predicted_mse:.4e}   answering 0: {zero_mse:.4e}"
    )?;
    if predicted_squared_bias > 0.0 {
        let measured = found.squared_bias.map_or_else(
            || "several --runs measure it".to_owned(),
            |bias| format!("measured {bias:.4e}"),
        );
        writeln!(
            out,
            "of it squared bias    predicted {predicted_squared_bias:.4e}   {measured}"
        )?;
    }
    writeln!(
        out,
        "largest error         {max_abs_error:.4e}{largest}   answering 0: {zero_max_abs_error:.4e}"
    )?;
    writeln!(out, "total variation error {tve:.4e}")
}
