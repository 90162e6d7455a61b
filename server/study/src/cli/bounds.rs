//! Subcommand `hushbin-study bounds`: prints the published bounds on the central ε of a batch, and
//! draws them as a figure.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use hushbin::{Task, TaskDraft};
use hushbin_analysis::accounting::{DEFAULT_HONEST_FRACTION, ReportMixture};

use crate::bounds::{ShuffledBatch, central_epsilon_figure};
use crate::figure::figure_to_svg;
use crate::output::Error;
use crate::published::published_bounds;

/// Draw the central ε of a shuffled batch by hushbin's account and by every published bound,
/// against the number of reports and against the local ε, and print the bounds on this batch
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Task file of the reports (default any ε-locally private randomizer)
    #[arg(long, value_name = "FILE", required_unless_present = "epsilon")]
    task: Option<PathBuf>,
    /// Local ε of one report (default the ε of the task)
    #[arg(long, value_name = "E")]
    epsilon: Option<f64>,
    /// Number of reports in the batch
    #[arg(long, short = 'n', value_name = "N")]
    reports: u64,
    /// δ of the batch
    #[arg(long, value_name = "D")]
    delta: f64,
    /// Fraction of reports assumed to be honest
    #[arg(long, value_name = "F", default_value_t = DEFAULT_HONEST_FRACTION)]
    honest_fraction: f64,
    /// Output file of the figure, SVG
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let task = options.task.as_ref().map(|path| {
        let read = || -> Result<Task, Error> {
            let draft: TaskDraft = serde_json::from_str(&fs::read_to_string(path)?)?;
            Ok(draft.resolve_task()?)
        };
        read().map_err(|error| format!("{}: {error}", path.display()))
    });
    let task = task.transpose()?;
    let of_task = task.as_ref().map(Task::epsilon);
    let epsilon = options.epsilon.or(of_task);
    let batch = ShuffledBatch {
        epsilon: epsilon.expect("clap asks for --epsilon or --task"),
        report_count: options.reports,
        honest_fraction: options.honest_fraction,
        delta: options.delta,
    };
    let at = |epsilon| -> Result<ReportMixture, Error> {
        Ok(match &task {
            Some(task) => ReportMixture::for_task_at_epsilon(task, epsilon)?,
            None => ReportMixture::for_any_randomizer(epsilon)?,
        })
    };
    let ShuffledBatch {
        epsilon,
        report_count: reports,
        honest_fraction,
        delta,
    } = batch;
    let own = at(epsilon)?;
    let published = published_bounds(&own, reports, honest_fraction, delta)?;
    let picture = central_epsilon_figure(&batch, at)?;
    let path = options.out.display();
    fs::write(&options.out, figure_to_svg(&picture)?)
        .map_err(|error| format!("cannot write {path}: {error}"))?;
    for bound in published {
        let central = bound.central_epsilon;
        let central = central.map_or_else(|| "none".to_owned(), |central| format!("{central:.4e}"));
        let only = bound
            .unmet_condition
            .map(|reason| format!(": only for {reason}"));
        let (name, source, only) = (bound.name, bound.theorem_source, only.unwrap_or_default());
        writeln!(out, "{name:<31}  {central:<10}  {source}{only}")?;
    }
    writeln!(out, "{path}")?;
    Ok(())
}
