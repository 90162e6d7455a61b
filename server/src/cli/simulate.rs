//! `hushbin simulate`: errors of a task's estimates on a data set with known answers.

use std::io::{self, Write};
use std::path::PathBuf;

use chacha20::ChaCha20Rng;
use hushbin::sums::SumTask;
use rand_core::SeedableRng;

use super::output::{AnswerFormatOptions, Error, progress_bar};
use super::table::{error_summary_line, write_estimate_table, write_estimates_and_coverage};
use super::{describe, sums};
use crate::simulate::{
    Answers, ComparedEstimate, ComparedText, DataFormat, QuestionResult, SimulationResult, SumData,
    TextQuestionResult, simulate_sums, simulate_survey,
};
use crate::task::task_file::ReportTaskFile;
use hushbin_analysis::estimate::{DEFAULT_CONFIDENCE, Estimand};
use hushbin_analysis::heavy_hitters::{self, DEFAULT_ALPHABET};

/// Simulate a task on a data set, and compare the estimates with the true answers
#[derive(Debug, clap::Args)]
pub(super) struct SimulateCommandOptions {
    /// Task file (JSON); parameters that the file leaves out are chosen automatically
    #[arg(long, value_name = "FILE")]
    task: PathBuf,
    /// Data set with one person per line. A .csv or .tsv file starts with a line of question names.
    /// In a .jsonl or .ndjson file, each line is the object that a page would pass to 'report'
    #[arg(long, value_name = "FILE")]
    answers: PathBuf,
    /// Number of people to simulate, from the start of the data set (default all)
    #[arg(long, value_name = "N")]
    people: Option<usize>,
    /// Seed of the random generator, a whole number, to repeat a simulation (default a random seed)
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Number of runs over which errors are averaged, 1 to 100000; each run uses the next seed
    /// (default 1)
    #[arg(long, value_name = "R", default_value_t = 1, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    runs: u64,
    /// Confidence of each interval, 0.5 to 0.999999999 (default 0.95)
    #[arg(long, value_name = "P", default_value_t = DEFAULT_CONFIDENCE, hide_default_value = true)]
    confidence: f64,
    /// Letters that the texts may contain, for questions of kind 'text'; list each letter once
    /// (default a to z, 0 to 9, space and hyphen)
    #[arg(long, value_name = "LETTERS", default_value = DEFAULT_ALPHABET, hide_default_value = true)]
    alphabet: String,
    #[command(flatten)]
    form: AnswerFormatOptions,
}

/// Returns one random generator for each run, with consecutive seeds.
fn random_generators(
    options: &SimulateCommandOptions,
) -> Result<impl Iterator<Item = ChaCha20Rng> + use<>, Error> {
    let first = match options.seed {
        Some(seed) => seed,
        None => getrandom::u64()?,
    };
    // Wraps around, so that even the greatest seed permits several runs.
    let seeds = (0..options.runs).map(move |run| first.wrapping_add(run));
    Ok(seeds.map(ChaCha20Rng::seed_from_u64))
}

pub(super) fn run_simulate_command(
    options: &SimulateCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let format = DataFormat::from_path(&options.answers)?;
    if let Some(task) = sums::read_if_sum_task(&options.task) {
        return simulate_sum_task(options, format, &task?.0, out);
    }
    let task = ReportTaskFile::read(&options.task)?.resolve_task()?;
    let answers = Answers::open(&options.answers, format, &task)?;
    let people = options.people.unwrap_or(answers.person_count());
    let bar = progress_bar(people as u64 * options.runs, "people");
    let progress = |run: usize, done: usize| bar.set_position((people * run + done) as u64);
    let rngs = random_generators(options)?;
    let search = heavy_hitters::SearchOptions {
        alphabet: options.alphabet.clone(),
        confidence: options.confidence,
        ..heavy_hitters::SearchOptions::default()
    };
    let found = simulate_survey(&task, &answers, people, &search, rngs, progress)?;
    bar.finish_and_clear();
    options
        .form
        .write_formatted_answer(out, &found, &simulation_summary_lines(&found), |out| {
            write_simulation_details(out, &found)
        })
}

/// Simulates a task of sums through a shuffler, and writes the errors.
fn simulate_sum_task(
    options: &SimulateCommandOptions,
    format: DataFormat,
    task: &SumTask,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let data = SumData::open(&options.answers, format, task)?;
    let people = options.people.unwrap_or(data.person_count());
    let bar = progress_bar(people as u64 * options.runs, "people");
    let progress = |done| bar.set_position(done);
    let rngs = random_generators(options)?;
    let found = simulate_sums(task, &data, people, options.confidence, rngs, progress)?;
    bar.finish_and_clear();
    let name = if found.are_shares { "shares" } else { "sums" };
    let lines = [
        describe::simulation_runs_sentence(found.people, found.runs),
        error_summary_line(name, &found.tally, found.are_shares, found.confidence),
    ];
    options
        .form
        .write_formatted_answer(out, &found, &lines, |out| {
            sums::write_sum_simulation_errors(out, &found)
        })
}

/// Summarises the simulation: one line about the runs, and one line for each question.
fn simulation_summary_lines(found: &SimulationResult) -> Vec<String> {
    let question = |own: &QuestionResult| match own.reports > 0.0 {
        false => format!(
            "{}: no one answered; one answer takes {:.0} people on average.",
            own.question,
            (1.0 / own.share).ceil()
        ),
        true => {
            let (tally, are_shares) = match own.numbers.is_empty() {
                true => (&own.shares, own.estimand == Estimand::Share),
                false => (&own.numbers, false),
            };
            error_summary_line(&own.question, tally, are_shares, found.confidence)
        }
    };
    let texts = |own: &TextQuestionResult| match own.stated_share.is_finite() {
        true => format!(
            "{}: {:.2} of {} texts that at least {}% of people have were found, and {:.2} texts \
             that no one has.",
            own.question,
            own.above_found,
            own.above,
            describe::format_significant_digits(100.0 * own.stated_share, 3),
            own.invented
        ),
        false => format!(
            "{}: too few reports to find even a text that all people have; {} are enough.",
            own.question, own.needed_reports
        ),
    };
    let first = describe::simulation_runs_sentence(found.people, found.runs as u64);
    let questions = found.questions.iter().map(question);
    let texts = found.texts.iter().map(texts);
    [first].into_iter().chain(questions).chain(texts).collect()
}

fn write_simulation_details(out: &mut dyn Write, found: &SimulationResult) -> io::Result<()> {
    writeln!(
        out,
        "estimate: of the first run; ±: distance to the farther end of its {}% interval; error: \
         root mean squared error over all runs",
        100.0 * found.confidence
    )?;
    for own in &found.questions {
        write_question_result(out, own, found.people, found.confidence)?;
    }
    for texts in &found.texts {
        write_text_question_result(out, texts)?;
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

/// Writes the estimates of a question, and the true values.
fn write_question_result(
    out: &mut dyn Write,
    found: &QuestionResult,
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
        // The line of this question says so already.
    } else if found.numbers.is_empty() {
        let are_shares = found.estimand == Estimand::Share;
        write_estimates_and_coverage(out, &found.shares, are_shares, confidence)?;
        writeln!(
            out,
            "mean squared error: {} times the stated one, {} times that of always estimating 0",
            describe::format_significant_digits(found.mse / found.stated_mse, 3),
            describe::format_significant_digits(found.mse / found.zero_mse, 3)
        )?;
    } else {
        write_estimates_and_coverage(out, &found.numbers, false, confidence)?;
        if found
            .numbers
            .estimates
            .iter()
            .any(|own| own.estimate.is_none())
        {
            writeln!(
                out,
                "-: no estimate, since the row's share is not significantly above 0 in \
                 {reports:.0} reports"
            )?;
        }
    }
    if found.clipped > 0 {
        writeln!(
            out,
            "{} answers were outside the range and were clipped to its nearer end",
            found.clipped
        )?;
    }
    Ok(())
}

/// Writes the texts that a search found, with estimated and true shares.
fn write_text_question_result(out: &mut dyn Write, found: &TextQuestionResult) -> io::Result<()> {
    writeln!(
        out,
        "\n{} (text): {:.0} reports",
        found.question, found.reports
    )?;
    let compared = |ComparedText { text, truth }: &ComparedText| {
        let intervals = [text.simultaneous_interval; 2];
        let what = describe::found_text_phrase(text);
        ComparedEstimate::new(&what, None, *truth, Some(text.estimate), intervals)
    };
    let texts: Vec<_> = found.texts.iter().map(compared).collect();
    match texts.is_empty() {
        true => Ok(()),
        false => write_estimate_table(out, &texts, true),
    }
}
