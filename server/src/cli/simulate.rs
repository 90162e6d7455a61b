//! `hushbin simulate`: how wrong the estimates of a task come out on people whose truth is known.

use std::io::{self, Write};
use std::path::PathBuf;

use chacha20::ChaCha20Rng;
use hushbin::sums::SumTask;
use rand_core::SeedableRng;

use super::output::{Error, progress_bar, write_answer};
use super::{describe, sums};
use crate::simulate::{
    Answers, Compared, ComparedText, Format, Found, FoundTexts, SumData, Survey, simulate_sums,
    survey,
};
use crate::task::task_file::ReportTaskFile;
use hushbin_analysis::estimate::DEFAULT_CONFIDENCE;
use hushbin_analysis::heavy_hitters::{self, DEFAULT_ALPHABET};

/// Run the randomizer and the estimator over a data set and compare with its truth.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Task file; parameters it leaves out are chosen.
    #[arg(long, value_name = "FILE")]
    task: PathBuf,
    /// Data set, .csv or .jsonl: the answers of a person in each line, under a header of
    /// question names or as what a page passes to `report`.
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Take only the first N people.
    #[arg(long, value_name = "N")]
    people: Option<usize>,
    /// Seed of the generator, to repeat a run; by default from the system.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Run so many times, with seeds counted up, and print averages.
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    runs: u64,
    /// Confidence of the intervals that are to hold the truth.
    #[arg(long, value_name = "P", default_value_t = DEFAULT_CONFIDENCE)]
    confidence: f64,
    /// Letters of texts to search for, where the task asks for a text.
    #[arg(long, value_name = "LETTERS", default_value = DEFAULT_ALPHABET)]
    alphabet: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A generator for each run.
fn rngs(options: &Options) -> Result<impl Iterator<Item = ChaCha20Rng> + use<>, Error> {
    let first = match options.seed {
        Some(seed) => seed,
        None => getrandom::u64()?,
    };
    let seeds = (0..options.runs).map(move |run| first.wrapping_add(run));
    Ok(seeds.map(ChaCha20Rng::seed_from_u64))
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let format = Format::of(&options.data)?;
    if let Some(task) = sums::task(&options.task) {
        return run_sums(options, format, &task?, out);
    }
    let task = ReportTaskFile::read(&options.task)?.resolve()?;
    let answers = Answers::open(&options.data, format, &task)?;
    let people = options.people.unwrap_or(answers.people());
    let bar = progress_bar(people as u64 * options.runs, "people");
    let progress = |run: usize, done: usize| bar.set_position((people * run + done) as u64);
    let rngs = rngs(options)?;
    let search = heavy_hitters::Options {
        alphabet: options.alphabet.clone(),
        confidence: options.confidence,
        ..heavy_hitters::Options::default()
    };
    let found = survey(&task, &answers, people, &search, rngs, progress)?;
    bar.finish_and_clear();
    write_answer(out, options.json, &found, |out| write_survey(out, &found))
}

/// As [`run`], of sums through a shuffler.
fn run_sums(
    options: &Options,
    format: Format,
    task: &SumTask,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let data = SumData::open(&options.data, format, task)?;
    let people = options.people.unwrap_or(data.people());
    let bar = progress_bar(people as u64 * options.runs, "people");
    let progress = |done| bar.set_position(done);
    let rngs = rngs(options)?;
    let found = simulate_sums(task, &data, people, options.confidence, rngs, progress)?;
    bar.finish_and_clear();
    write_answer(out, options.json, &found, |out| {
        sums::write_simulated(out, &found)
    })
}

fn write_survey(out: &mut dyn Write, found: &Survey) -> io::Result<()> {
    let Survey { people, runs, .. } = found;
    let times = match runs {
        1 => String::new(),
        runs => format!(", average of {runs} runs"),
    };
    writeln!(out, "{people} people{times}")?;
    if !found.questions.is_empty() {
        write_questions(out, found)?;
    }
    for texts in &found.texts {
        write_texts(out, texts, found.confidence, found.runs)?;
    }
    if found.sampled_down > 0 {
        writeln!(
            out,
            "{} people had more entries than the sparsity of the question that they answered",
            found.sampled_down
        )?;
    }
    writeln!(
        out,
        "randomising {:.0} ns a report on one core",
        found.randomize_ns
    )?;
    writeln!(
        out,
        "decoding {:.0} ns a report on one core",
        found.decode_ns
    )
}

/// A line for each question whose items are listed, and its numbers.
fn write_questions(out: &mut dyn Write, found: &Survey) -> io::Result<()> {
    let percent = 100.0 * found.confidence;
    let width = found
        .questions
        .iter()
        .map(|found| found.question.chars().count());
    let width = width.fold(8, usize::max);
    writeln!(
        out,
        "{:width$}  {:7}  {:>8}  {:>5}  {:>9}  {:>9}  {:>9}  {:>7}  {:>4}",
        "question", "kind", "reports", "items", "MSE", "stated", "zero", "covered", "all"
    )?;
    for found in &found.questions {
        writeln!(
            out,
            "{:width$}  {:7}  {:8.0}  {:5}  {:9.3e}  {:9.3e}  {:9.3e}  {:6.1}%  {:3.0}%",
            found.question,
            found.kind,
            found.reports,
            found.items,
            found.mse,
            found.stated_mse,
            found.zero_mse,
            100.0 * found.covered,
            100.0 * found.all_covered,
        )?;
    }
    for own in &found.questions {
        write_numbers(out, own, found.runs)?;
    }
    writeln!(
        out,
        "MSE: mean squared error of shares (of ratings, means) of items, stated by standard errors, of answering zero. \
         covered: items whose {percent}% interval holds the truth; all: runs in which all \
         simultaneous ones do"
    )
}

/// What stands behind what is of the first run alone, where there are others.
fn first_of(runs: usize) -> &'static str {
    match runs {
        1 => "",
        _ => " (first run)",
    }
}

/// What was found of a question for a text.
fn write_texts(
    out: &mut dyn Write,
    found: &FoundTexts,
    confidence: f64,
    runs: usize,
) -> io::Result<()> {
    let first = first_of(runs);
    let name = &found.question;
    writeln!(
        out,
        "{name}: texts of {:.3}% of people or more are found with probability {}; there are {}, \
         and {:.2} of them were found",
        100.0 * found.stated_share,
        found.probability,
        found.above,
        found.above_found,
    )?;
    writeln!(
        out,
        "{name}: found {:.2} in all, of which nobody has {:.3}; all intervals, together at {}%, \
         hold in {:.0}% of runs",
        found.found,
        found.invented,
        100.0 * confidence,
        100.0 * found.all_covered,
    )?;
    for ComparedText { text, truth } in &found.texts {
        let [share, low, high] = describe::shares(text);
        writeln!(
            out,
            "{name}: {} {share:.3}%, interval {low:.3} to {high:.3}%, truth {:.3}%{first}",
            describe::text(text),
            100.0 * truth,
        )?;
    }
    Ok(())
}

/// Mean and quantiles of a number, or means within rows, of the first run.
fn write_numbers(out: &mut dyn Write, found: &Found, runs: usize) -> io::Result<()> {
    let first = first_of(runs);
    for Compared {
        row,
        quantile,
        estimate,
        interval: [low, high],
        truth,
    } in &found.numbers
    {
        let what = match (row, quantile) {
            (None, None) => "mean".to_owned(),
            (Some(row), _) => format!("mean of {row}"),
            (None, Some(part)) => format!("quantile {part}"),
        };
        writeln!(
            out,
            "{}: {what} {estimate:.4}, interval {low:.4} to {high:.4}, truth {truth:.4}{first}",
            found.question
        )?;
    }
    if found.clipped > 0 {
        writeln!(
            out,
            "{}: {} answers lay beyond the range and were moved to its end",
            found.question, found.clipped
        )?;
    }
    Ok(())
}
