//! `hushbin account`: what a shuffled batch gives away.

mod chosen;
mod plot;
mod table;

use std::path::{Path, PathBuf};
use std::time::Instant;

use hushbin::Task;
use serde::Serialize;

use super::Error;
use super::task::load_draft;
use chosen::Chosen;
use hushbin_analysis::accounting::{
    Account, Composed, Exposure, Mixture, account_exposure, compare, largest_epsilon,
    smallest_batch,
};
use table::Table;

/// Compute the central privacy of a batch of shuffled reports: the ε that is
/// proven, with δ, against someone who cannot link reports to clients.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Task file; parameters it leaves out are chosen.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rule", "s", "t", "c", "epsilon"])]
    task: Option<PathBuf>,
    #[command(flatten)]
    chosen: Chosen,
    /// Local ε of one report.
    #[arg(long, value_name = "E", required_unless_present_any = ["task", "for_central"])]
    epsilon: Option<f64>,
    /// With --n, find the largest local ε that makes the batch this central ε; of
    /// a task, rule and parameters are kept as they are for the ε that it has.
    /// Without, find the smallest batch.
    #[arg(long, value_name = "E")]
    for_central: Option<f64>,
    /// Number of reports in the batch.
    #[arg(long, value_name = "N", required_unless_present = "for_central")]
    n: Option<u64>,
    /// Number of batches, of as many reports each, that a person sends reports to.
    #[arg(long, value_name = "K", default_value_t = 1, conflicts_with_all = ["for_central", "compare", "plot"])]
    batches: u32,
    /// Number of reports that a person sends to a batch, of any inputs.
    #[arg(long, value_name = "R", default_value_t = 1, conflicts_with_all = ["for_central", "compare", "plot"])]
    reports: u32,
    /// δ of the batch.
    #[arg(long, value_name = "D")]
    delta: f64,
    /// Part of the reports that are assumed to be honest.
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    honest_fraction: f64,
    /// Print the published bounds on the same batch, too.
    #[arg(long)]
    compare: bool,
    /// Draw the account and the published bounds as an SVG file, against the
    /// number of reports and against the local ε.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Answer {
    #[serde(flatten)]
    composed: Composed,
    /// Local ε.
    epsilon: f64,
    n: u64,
    honest_fraction: f64,
    seconds: f64,
    #[serde(flatten)]
    table: Option<Table>,
}

pub(super) fn run(options: &Options) -> Result<(), Error> {
    let task = match &options.task {
        Some(file) => {
            let draft = load_draft(file)?;
            Some(draft.resolve().map_err(|error| named(file, &error))?)
        }
        None => None,
    };
    let at = |epsilon| match (&options.task, &task) {
        (Some(file), Some(task)) => {
            Mixture::of_mechanism(task.mechanism(), task.sparsity(), epsilon)
                .map_err(|error| named(file, &error).into())
        }
        _ => options.chosen.mixture(epsilon),
    };
    // Where the picture cannot be written, that is known at once.
    let plot = options.plot.as_deref().map(plot::Output::create);
    let plot = plot.transpose()?;
    let start = Instant::now();
    let (honest, delta) = (options.honest_fraction, options.delta);
    let epsilon = options.epsilon.or(task.as_ref().map(Task::epsilon));
    let (mixture, n) = match (options.n, options.for_central, epsilon) {
        (Some(_), Some(_), _) if options.epsilon.is_some() => {
            return Err("--n, --epsilon and --for-central: leave out the one to be found".into());
        }
        (Some(n), Some(central), _) => (largest_epsilon(at, n, honest, delta, central)?, n),
        (Some(n), None, Some(epsilon)) => (at(epsilon)?, n),
        (None, Some(central), Some(epsilon)) => {
            let mixture = at(epsilon)?;
            (mixture, smallest_batch(&mixture, honest, delta, central)?)
        }
        (None, Some(_), None) => {
            return Err("--for-central needs --n, or --epsilon to find the smallest --n".into());
        }
        (_, None, _) => unreachable!("clap asks for --n, and for --epsilon or --task"),
    };
    let exposure = Exposure {
        batches: options.batches,
        reports: options.reports,
    };
    let composed = account_exposure(&mixture, n, honest, delta, exposure)?;
    let seconds = start.elapsed().as_secs_f64();
    let table = if options.compare {
        let published = compare(&mixture, n, honest, delta)?;
        Some(Table::new(&composed.account, published))
    } else {
        None
    };
    let answer = Answer {
        composed,
        epsilon: mixture.epsilon(),
        n,
        honest_fraction: honest,
        seconds,
        table,
    };
    if let Some(output) = plot {
        let batch = plot::Batch {
            epsilon: answer.epsilon,
            n,
            honest,
            delta,
        };
        output.finish(&plot::svg(&batch, at)?)?;
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else {
        print(&answer);
    }
    Ok(())
}

fn named(file: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", file.display())
}

fn print(answer: &Answer) {
    let Answer {
        composed,
        epsilon,
        n,
        honest_fraction,
        seconds,
        table,
    } = answer;
    let Composed {
        account,
        exposure: Exposure { batches, reports },
        one_batch,
        basic,
        advanced,
    } = composed;
    let Account {
        epsilon_central,
        reduction,
        lower_bound,
        alpha,
        delta,
        method,
        honest_n,
    } = account;
    println!("one report  ε = {epsilon}, α = {alpha}");
    println!(
        "batch       {n} reports, {honest_n} of them assumed honest ({honest_fraction} of all)"
    );
    println!("shuffled    ε = {epsilon_central:e}, δ = {delta:e}, rounded up");
    println!("            {method}, {seconds:.3} s");
    match reduction {
        Some(reduction) => println!(
            "attained    above {lower_bound:e} by others unlike both inputs; Wang et al.'s reduction gives {reduction:e}"
        ),
        None => println!("attained    above {lower_bound:e}"),
    }
    if *batches > 1 {
        println!(
            "{batches} batches  one ε = {one_batch:e} with the same δ; basic composition {basic:e}, advanced {advanced:e}"
        );
    }
    if let Some(table) = table {
        println!();
        table.print(account);
    }
    println!();
    let each = match reports {
        1 => "one report".to_owned(),
        _ => format!("up to {reports} reports, of whatever inputs,"),
    };
    let of = match batches {
        1 => "the batch".to_owned(),
        _ => format!("each of up to {batches} such batches"),
    };
    println!("Assumed of every person: {each} in {of}. More reports give away more.");
    println!(
        "ε = {epsilon} holds for one report against everybody, the operator of the collector included. The \
         shuffled ε holds only against someone who sees the shuffled batch and nothing that links \
         a report to a client: no arrival order, address, time or stable id. A collector that \
         could link must quote ε = {epsilon} to itself."
    );
}
