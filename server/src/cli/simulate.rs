//! `hushbin simulate`: how wrong the estimates of a task come out on people whose truth is known.

use std::io::{self, Write};
use std::path::PathBuf;

use chacha20::ChaCha20Rng;
use hushbin::sums::SumTask;
use rand_core::SeedableRng;

use super::output::{Error, progress_bar, write_answer};
use super::table::{write_table, write_tally};
use super::{describe, sums};
use crate::simulate::{
    Answers, Compared, ComparedText, Format, Found, FoundTexts, SumData, Survey, simulate_sums,
    survey,
};
use crate::task::task_file::ReportTaskFile;
use hushbin_analysis::estimate::{DEFAULT_CONFIDENCE, Estimand};
use hushbin_analysis::heavy_hitters::{self, DEFAULT_ALPHABET};

/// Run the randomizer and the estimator over a data set and compare with its truth.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Task file; parameters it leaves out are chosen.
    #[arg(long, value_name = "FILE")]
    task: PathBuf,
    /// Data set, .csv, .tsv, .jsonl or .ndjson: the answers of a person in each line, under a
    /// header of question names or as what a page passes to `report`.
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
    for own in &found.questions {
        write_question(out, own, *people, found.confidence)?;
    }
    for texts in &found.texts {
        write_texts(out, texts, found.confidence)?;
    }
    writeln!(
        out,
        "\nestimate, ±: of the first run, ± to the farther end of the {}% interval; error: root of \
         the mean squared error of all runs",
        100.0 * found.confidence
    )?;
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

/// What was estimated of a question beside the truth.
fn write_question(
    out: &mut dyn Write,
    found: &Found,
    people: usize,
    confidence: f64,
) -> io::Result<()> {
    let (name, reports) = (&found.question, found.reports);
    writeln!(
        out,
        "\n{name} ({}): {reports:.0} of {people} reports",
        found.kind
    )?;
    if reports == 0.0 {
        let needed = (1.0 / found.share).ceil();
        writeln!(
            out,
            "nobody answered: it takes {needed:.0} people for one answer on average"
        )?;
    } else if found.numbers.is_empty() {
        let are_shares = found.estimand == Estimand::Share;
        write_tally(out, &found.shares, are_shares, confidence)?;
        writeln!(
            out,
            "mean squared error: {} of the one stated, {} of that of answering 0",
            describe::significant(found.mse / found.stated_mse, 3),
            describe::significant(found.mse / found.zero_mse, 3)
        )?;
    } else {
        write_tally(out, &found.numbers, false, confidence)?;
        if found
            .numbers
            .estimates
            .iter()
            .any(|own| own.estimate.is_none())
        {
            writeln!(
                out,
                "-: too few of {reports:.0} reports are surely of that row"
            )?;
        }
    }
    if found.clipped > 0 {
        writeln!(
            out,
            "{} answers lay beyond the range and were moved to its end",
            found.clipped
        )?;
    }
    Ok(())
}

/// What was found of a question for a text.
fn write_texts(out: &mut dyn Write, found: &FoundTexts, confidence: f64) -> io::Result<()> {
    writeln!(
        out,
        "\n{} (text): {:.0} reports",
        found.question, found.reports
    )?;
    let compared = |ComparedText { text, truth }: &ComparedText| {
        let intervals = [text.simultaneous_interval; 2];
        let what = describe::text(text);
        Compared::new(&what, None, *truth, Some(text.estimate), intervals)
    };
    let texts: Vec<_> = found.texts.iter().map(compared).collect();
    if !texts.is_empty() {
        write_table(out, &texts, true)?;
    }
    if found.stated_share.is_finite() {
        writeln!(
            out,
            "texts of {}% of people or more are found with probability {}; there are {}, and \
             {:.2} of them were found",
            describe::significant(100.0 * found.stated_share, 3),
            found.probability,
            found.above,
            found.above_found,
        )?;
    } else {
        writeln!(
            out,
            "too few reports to find a text that everybody has; {} are enough",
            found.needed_reports
        )?;
    }
    writeln!(
        out,
        "found {:.2} in all, of which nobody has {:.3}; all intervals, together at {}%, hold in \
         {:.0}% of runs; errors are of the first",
        found.found,
        found.invented,
        100.0 * confidence,
        100.0 * found.all_covered,
    )
}
