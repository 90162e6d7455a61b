//! `hushbin simulate`: how wrong the estimates of a task come out on people
//! whose truth is known.

use std::path::PathBuf;

use clap::ValueEnum;
use hushbin::Task;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::Error;
use super::task::{describe, load_draft};
use crate::evaluate::{DataSet, Outcome, Repeated, simulate};
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

pub(super) fn run(options: &Options) -> Result<(), Error> {
    let data = DataSet::open(&options.data)?;
    let mut draft = load_draft(&options.task)?;
    // A task that leaves the sparsity open is fitted to these people.
    if draft.sparsity.is_none() && draft.entries.is_none() {
        draft.entries = Some(data.entry_counts());
    }
    let named = |error| format!("{}: {error}", options.task.display());
    let task = draft.resolve().map_err(named)?;
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
    let found = Repeated::of(&outcomes).ok_or("there is nothing to sum up")?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&found)?);
    } else {
        print(&task, &found);
    }
    Ok(())
}

fn print(task: &Task, found: &Repeated) {
    let Repeated {
        runs,
        average,
        mse_standard_error,
        largest_error,
        squared_bias,
    } = found;
    let Outcome {
        people,
        reports,
        items,
        estimand,
        tve,
        max_abs_error,
        mse,
        predicted_mse,
        predicted_squared_bias,
        randomize_ns,
        decode_ns,
        replaced,
        sampled_down,
        zero_mse,
        zero_max_abs_error,
        errors: _,
    } = average;
    let times = if *runs > 1 {
        format!(", average of {runs} runs")
    } else {
        String::new()
    };
    println!(
        "{people} people, {reports} reports, {items} items, {}{times}",
        estimand.as_str()
    );
    println!(
        "{}, sparsity {}",
        describe(task.mechanism()),
        task.sparsity()
    );
    if *replaced > 0 {
        println!("{replaced} lines were replaced by a later one of the same person and item");
    }
    if *sampled_down > 0 {
        println!(
            "{sampled_down} people had more entries than the sparsity, {}",
            task.sparsity()
        );
    }
    let spread = if *runs > 1 {
        format!(" ± {mse_standard_error:.1e}")
    } else {
        String::new()
    };
    println!(
        "mean squared error    {mse:.4e}{spread}   predicted {predicted_mse:.4e}   answering 0: {zero_mse:.4e}"
    );
    if *predicted_squared_bias > 0.0 {
        let measured = squared_bias.map_or_else(
            || "several --runs measure it".to_owned(),
            |bias| format!("measured {bias:.4e}"),
        );
        println!("of it squared bias    predicted {predicted_squared_bias:.4e}   {measured}");
    }
    let most = if *runs > 1 {
        format!(" (largest of all runs {largest_error:.4e})")
    } else {
        String::new()
    };
    println!(
        "largest error         {max_abs_error:.4e}{most}   answering 0: {zero_max_abs_error:.4e}"
    );
    println!("total variation error {tve:.4e}");
    println!("these estimates are   {}", found.verdict());
    println!("randomising           {randomize_ns:.0} ns a report on one core");
    println!("decoding              {decode_ns:.0} ns a report on one core");
}
