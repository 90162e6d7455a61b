//! `hushbin task`: what a task will cost, before anyone is asked.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hushbin::report::BucketReport;
use hushbin::{Items, Mechanism, Report, Task, TaskDraft};
use serde::Serialize;

use super::Error;
use crate::estimate::{Estimand, Predictor, Quantiles};

/// Look at tasks before they are used.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckOptions),
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

pub(super) fn run(options: &Options) -> Result<(), Error> {
    match &options.command {
        Command::Check(options) => check(options),
    }
}

/// Reads a task file and chooses what it leaves out.
pub(super) fn load_task(path: &Path) -> Result<Task, Error> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| named(&error))?;
    let draft: TaskDraft = serde_json::from_str(&text).map_err(|error| named(&error))?;
    Ok(draft.resolve().map_err(|error| named(&error))?)
}

/// What a task will cost.
#[derive(Debug, Serialize)]
struct Cost {
    task: Task,
    fingerprint: String,
    effective_epsilon: f64,
    /// Bytes of one encoded report, at most.
    report_bytes: usize,
    /// Bytes of an upload of one report, at most.
    upload_bytes: usize,
    predictions: Vec<Prediction>,
}

#[derive(Debug, Serialize)]
struct Prediction {
    people: u64,
    /// Of the frequency of an item with one sign, where it is estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_standard_error: Option<f64>,
    /// Of the mean.
    mean_standard_error: f64,
    /// Half-width of the mean's 95% interval.
    interval: f64,
    /// The same over all items simultaneously; absent for open tasks.
    simultaneous_interval: Option<f64>,
}

/// Half-width beyond which an interval holds every value that a mean can have.
const USELESS: f64 = 1.0;

fn check(options: &CheckOptions) -> Result<(), Error> {
    let task = load_task(&options.file)?;
    if let Some(out) = &options.out {
        let text = serde_json::to_string_pretty(&task)?;
        fs::write(out, text + "\n").map_err(|error| format!("{}: {error}", out.display()))?;
    }
    let cost = cost(task, &options.people)?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&cost)?);
    } else {
        print(&cost);
    }
    Ok(())
}

fn cost(task: Task, people: &[u64]) -> Result<Cost, Error> {
    let predictor = Predictor::new(&task);
    let alone = Quantiles::new(0.95, 1)?.simultaneous();
    let together = match task.items().count() {
        Some(items) => Some(Quantiles::new(0.95, items as usize)?.simultaneous()),
        None => None,
    };
    let predictions = people
        .iter()
        .map(|&people| {
            if people == 0 {
                return Err("there is nothing to predict for 0 people");
            }
            let mean = predictor
                .standard_error(Estimand::Mean, people as f64)
                .ok_or("the mechanism estimates no means")?;
            Ok(Prediction {
                people,
                frequency_standard_error: predictor.standard_error(Estimand::Plus, people as f64),
                mean_standard_error: mean,
                interval: alone * mean,
                simultaneous_interval: together.map(|reach| reach * mean),
            })
        })
        .collect::<Result<_, _>>()?;
    let report_bytes = largest_report(&task);
    Ok(Cost {
        fingerprint: task.fingerprint().to_string(),
        effective_epsilon: task.effective_epsilon(),
        report_bytes,
        upload_bytes: hushbin::assemble_upload(
            hushbin::UploadId([0; 16]),
            &task.fingerprint(),
            1,
            &vec![0; report_bytes],
        )
        .len(),
        predictions,
        task,
    })
}

fn largest_report(task: &Task) -> usize {
    let largest = |buckets: u32| BucketReport {
        seed: u64::MAX,
        bucket: buckets - 1,
    };
    let report = match task.mechanism() {
        Mechanism::Collision(collision) => Report::Collision(largest(collision.buckets())),
        Mechanism::Coco(coco) => Report::Coco(largest(coco.buckets())),
    };
    let mut bytes = Vec::new();
    report.encode(&mut bytes);
    bytes.len()
}

fn print(cost: &Cost) {
    let task = &cost.task;
    let items = match task.items() {
        Items::Named(names) => format!("{} named items", names.len()),
        Items::Count(count) => format!("{count} items"),
        Items::Open(_) => "any strings as items".to_owned(),
    };
    println!(
        "{}: {items}, {} of them a report",
        task.id(),
        task.sparsity()
    );
    println!("fingerprint  {}", cost.fingerprint);
    println!("mechanism    {}", describe(task.mechanism()));
    println!(
        "local ε      {} asked for, {} spent by each report (rounded up)",
        task.epsilon(),
        cost.effective_epsilon
    );
    println!(
        "size         {} bytes a report, {} bytes an upload of one",
        cost.report_bytes, cost.upload_bytes
    );
    println!();
    println!("expected error of an item that few have, in means from -1 to 1:");
    println!(
        "{:>12}  {:>14}  {:>14}  {:>14}",
        "reports", "standard error", "95% interval", "all items 95%"
    );
    for prediction in &cost.predictions {
        let together = prediction
            .simultaneous_interval
            .map_or_else(|| "-".to_owned(), |half| format!("±{half:.4}"));
        let remark = if prediction.interval >= USELESS {
            "  noise: the interval holds every possible value"
        } else {
            ""
        };
        println!(
            "{:>12}  {:>14.5}  {:>14}  {together:>14}{remark}",
            prediction.people,
            prediction.mean_standard_error,
            format!("±{:.4}", prediction.interval),
        );
    }
}

fn describe(mechanism: &Mechanism) -> String {
    let (rule, hashing, buckets, favoured) = match mechanism {
        Mechanism::Collision(collision) => (
            word(&collision.rule_name()),
            collision.hashing(),
            collision.buckets(),
            collision.favoured(),
        ),
        Mechanism::Coco(coco) => (
            word(&coco.rule_name()),
            coco.hashing(),
            coco.buckets(),
            coco.favoured(),
        ),
    };
    let favoured = favoured.map_or_else(String::new, |c| format!(", {c} favoured"));
    format!(
        "{}, rule {rule}, {} hashing, {buckets} buckets{favoured}",
        mechanism.name(),
        word(&hashing),
    )
}

/// The word that stands for a value in task files.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => format!("{other:?}"),
    }
}
