//! `hushbin estimate`: estimates from files of reports.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hushbin::Task;
use hushbin_analysis::estimate::{self, DEFAULT_CONFIDENCE, Estimator, Query, Totals};

use super::output::{Error, spinner};
use crate::{estimates, export};

/// Estimate from files of reports, as GET /tasks/{id}/estimates does of the same batches
///
/// The answer is the same to the last byte. Files are those of `hushbin journal export`, in
/// any of its formats; they are to be of one task, and no batch may be in two of them. A row
/// that is no report of the task is named, and nothing is estimated then.
#[derive(Debug, Clone, Args)]
pub(super) struct Options {
    /// Files of reports
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// File of the task, for files that do not say it: a task file, or an answer of
    /// GET /tasks/{id}
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    #[command(flatten)]
    asked: Asked,
    /// What to print
    #[arg(long, value_enum)]
    format: Format,
}

/// What to estimate.
#[derive(Debug, Clone, Args)]
pub(super) struct Asked {
    /// Name of the question; may be left out where the task asks one
    #[arg(long, value_name = "NAME")]
    question: Option<String>,
    /// Names of items, as a line of CSV: one with a comma in it stands in quotes
    #[arg(long, value_name = "ITEMS")]
    items: Option<String>,
    /// Confidence of every interval
    #[arg(long, value_name = "P", default_value_t = DEFAULT_CONFIDENCE)]
    confidence: f64,
    /// What else to make of the estimates, such as projection,shrinkage
    #[arg(long, value_name = "NAMES")]
    post: Option<String>,
    /// Quantiles of a number, such as 0.5,0.9
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    quantiles: Option<Vec<f64>>,
    /// List what stands out, at this false discovery rate
    #[arg(long, value_name = "RATE")]
    false_discovery_rate: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Json,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let task = options.task.as_deref().map(export::task_of).transpose()?;
    let files = export::Files::open(&options.files, task)?;
    let task = files.task().clone();
    let query = Query::new(&task, &options.asked.options()?)?;
    let mut totals = estimates::no_reports(&task, &query);
    let spinner = spinner("reading reports");
    files.for_each_report(|report| totals.fold(report))?;
    spinner.finish_and_clear();
    write(task, &totals, &query, options.format == Format::Csv, out)
}

/// Writes what is estimated from totals, as CSV or JSON.
pub(super) fn write(
    task: Task,
    totals: &Totals,
    query: &Query,
    csv: bool,
    mut out: &mut dyn Write,
) -> Result<(), Error> {
    let spinner = spinner("estimating");
    let estimator = Estimator::for_task(task);
    let answer = estimator.answer(totals, query);
    spinner.finish_and_clear();
    let write_csv = |out: &mut &mut dyn Write| answer.write_csv(out);
    Ok(estimates::write(csv, &answer, write_csv, &mut out)?)
}

impl Asked {
    /// Options of a query.
    ///
    /// # Errors
    /// When names are not to be read.
    pub(super) fn options(&self) -> Result<estimate::Options, Error> {
        let mut post = Vec::new();
        if let Some(names) = &self.post {
            estimates::add_post(names, &mut post)?;
        }
        Ok(estimate::Options {
            question: self.question.clone(),
            items: self.items.as_deref().map(items).transpose()?,
            confidence: self.confidence,
            post,
            quantiles: self.quantiles.clone(),
            false_discovery_rate: self.false_discovery_rate,
        })
    }
}

/// The names in a line of CSV.
fn items(line: &str) -> Result<Vec<String>, Error> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(line.as_bytes());
    let mut records = reader.records();
    let names = match (records.next().transpose()?, records.next()) {
        (Some(names), None) => names,
        _ => return Err(format!("--items is {line:?}, expected one line of names").into()),
    };
    match names.iter().any(str::is_empty) {
        true => Err("--items: a name is empty".into()),
        false => Ok(names.iter().map(str::to_owned).collect()),
    }
}
