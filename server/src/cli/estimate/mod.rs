//! `hushbin estimate`: estimates from reports or partial totals.

mod query;
mod report_reader;
mod source;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hushbin_analysis::estimate::{EstimateError, EstimateQuery, Estimator};
use hushbin_analysis::heavy_hitters::{self, TextSearch};

use super::output::{Error, spinner};
use crate::{estimates, export};
use query::QueryOptions;
use source::{InputFormat, ReportSource};

/// Print estimates from exported reports or from partial totals
///
/// The command reads files that 'hushbin journal export' wrote, in any format. For the same
/// batches, it prints the same bytes as GET /tasks/{id}/estimates, or for a question of kind 'text'
/// the same bytes as GET /tasks/{id}/heavy-hitters. All files must belong to one task, and no batch
/// may be in two files. A row that is not a report of the task is an error.
///
/// With --format totals, the command prints partial totals instead of estimates. Partial totals are
/// one line of JSON with everything that estimates need from the reports. So Spark, Slurm or a
/// shell can run one process for each part of the reports. Then give the lines of all parts to a
/// last 'hushbin estimate'. It prints the same bytes as one process that reads all reports. A part
/// that is given twice is an error. Reports are not held in memory.
#[derive(Debug, Clone, Args)]
pub(super) struct EstimateCommandOptions {
    /// Files of exported reports, or of partial totals
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Task file (JSON), or a saved response of GET /tasks/{id}. Needed for --input, for partial
    /// totals, and for exported reports without FILE.task.json
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// Format of standard input, which is read if no FILE is given
    #[arg(
        long,
        value_enum,
        required_unless_present = "files",
        conflicts_with = "files"
    )]
    input: Option<InputFormat>,
    #[command(flatten)]
    query: QueryOptions,
    /// Format of the output
    #[arg(long, value_enum)]
    format: OutputFormat,
    /// New file for the partial totals of --format totals (default standard output)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// Estimates as comma-separated values
    Csv,
    /// Estimates as JSON
    Json,
    /// Partial totals of these reports, to combine with the partial totals of other reports
    Totals,
}

pub(super) fn run_estimate_command(
    options: &EstimateCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    if options.format == OutputFormat::Totals {
        options.query.check_no_options_given()?;
    } else if options.out.is_some() {
        return Err("--out needs --format totals; estimates are written to standard output".into());
    }
    let given = options
        .task
        .as_deref()
        .map(export::read_task_from_any_file)
        .transpose()?;
    let reading = spinner("reading");
    let source = ReportSource::open(&options.files, options.input, given)?;
    if options.format == OutputFormat::Totals {
        let task = source.task.clone();
        let line = source.into_partial_totals()?.to_json_line(&task);
        reading.finish_and_clear();
        return write_line(&line, options.out.as_deref(), out);
    }
    let csv = options.format == OutputFormat::Csv;
    match EstimateQuery::new(&source.task, &options.query.estimate_options()?) {
        // A question for texts has no items to estimate: it needs a search.
        Err(EstimateError::TextQuestionNeedsSearch { question })
            if source.partial_totals().is_some() =>
        {
            Err(needs_reports_error(&question))
        }
        Err(EstimateError::TextQuestionNeedsSearch { .. }) => {
            write_found_texts(source, options.query.search_options()?, csv, out)
        }
        query => {
            let query = query?;
            options.query.check_no_alphabet()?;
            write_estimates(source, &query, csv, out)
        }
    }
}

/// Computes and writes the estimates for a question that has items.
fn write_estimates(
    source: ReportSource,
    query: &EstimateQuery,
    csv: bool,
    mut out: &mut dyn Write,
) -> Result<(), Error> {
    let task = source.task.clone();
    let totals = match source.partial_totals() {
        Some(_) if !estimates::is_answerable_from_totals(&task, query) => {
            let name = task.questions()[query.question_index()].name();
            return Err(needs_reports_error(name));
        }
        Some(_) => source.into_partial_totals()?.totals,
        None => {
            let mut totals = estimates::empty_totals(&task, query);
            source.for_each_report(|report| totals.add_report(report))?;
            totals
        }
    };
    let estimating = spinner("estimating");
    let estimator = Estimator::for_task(task);
    let answer = estimator.lazy_estimates(&totals, query);
    estimating.finish_and_clear();
    let write_csv = |out: &mut &mut dyn Write| answer.write_csv(out);
    Ok(estimates::write_json_or_csv_answer(
        csv, &answer, write_csv, &mut out,
    )?)
}

/// Searches for the texts that many people gave, and writes them.
fn write_found_texts(
    source: ReportSource,
    options: heavy_hitters::SearchOptions,
    csv: bool,
    mut out: &mut dyn Write,
) -> Result<(), Error> {
    let search = TextSearch::new(&source.task, options)?;
    let mut reports = search.empty_reports();
    source.for_each_report(|report| reports.add_report(report))?;
    let searching = spinner("searching");
    let found = search.find_texts(&reports, &|| false)?;
    searching.finish_and_clear();
    let write_csv = |out: &mut &mut dyn Write| found.write_csv(out);
    Ok(estimates::write_json_or_csv_answer(
        csv, &found, write_csv, &mut out,
    )?)
}

fn needs_reports_error(question: &str) -> Error {
    format!(
        "question {question:?} has no list of items, so partial totals cannot give its estimates; \
         estimate from reports"
    )
    .into()
}

/// Writes a line to a new file at `path`, completely or not at all. Without a path, writes the line
/// to `out`.
fn write_line(line: &str, path: Option<&Path>, out: &mut dyn Write) -> Result<(), Error> {
    let Some(path) = path else {
        return Ok(writeln!(out, "{line}")?);
    };
    let file = export::AtomicFile::create_temporary_file(path)?;
    let mut writer = BufWriter::<&File>::new(file.file());
    writeln!(writer, "{line}")?;
    writer.flush()?;
    drop(writer);
    Ok(file.sync_and_rename()?)
}
