//! `hushbin task`: what a task will cost, before anyone is asked.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hushbin::mechanism::{Candidate, hash_bin};
use hushbin::report::{BinsReport, BucketReport, Response};
use hushbin::task::Plan;
use hushbin::{Items, Mechanism, Report, Task, TaskDraft};
use serde::Serialize;

use super::Error;
use hushbin_analysis::estimate::{Estimand, Predictor, Quantiles};
use hushbin_analysis::promise::{bias, protects};

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

/// Reads a task file.
pub(super) fn load_draft(path: &Path) -> Result<TaskDraft, Error> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| named(&error))?;
    Ok(serde_json::from_str(&text).map_err(|error| named(&error))?)
}

/// Writes a complete task to a file.
pub(super) fn write_task(path: &Path, task: &Task) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(task)?;
    Ok(fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))?)
}

/// What a task will cost.
#[derive(Debug, Serialize)]
struct Cost {
    task: Task,
    fingerprint: String,
    effective_epsilon: f64,
    /// What ε is about.
    protects: String,
    /// Probability that the guarantee fails.
    #[serde(skip_serializing_if = "is_zero")]
    delta: f64,
    /// Of what is clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    bias: Option<String>,
    /// Bytes of one encoded report, at most.
    report_bytes: usize,
    /// Bytes of an upload of one report, at most.
    upload_bytes: usize,
    predictions: Vec<Prediction>,
    /// People planned for.
    planned_people: f64,
    /// The task's mechanism and what else there is, at the people planned for.
    candidates: Vec<Compared>,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The errors to expect of a mechanism at its best, over all items of people
/// with entries of ±1.
#[derive(Debug, Serialize)]
struct Compared {
    mechanism: Mechanism,
    sparsity: u32,
    protects: String,
    /// Root of the mean squared error of means.
    mean_error: Option<f64>,
    /// The part of it that is bias, in the worst case, and does not fall with
    /// the number of people.
    mean_bias: Option<f64>,
    /// Root of the mean squared error of the frequencies of either sign.
    frequency_error: Option<f64>,
}

impl From<Candidate> for Compared {
    fn from(candidate: Candidate) -> Self {
        let Candidate {
            mechanism,
            sparsity,
            predicted,
            ..
        } = candidate;
        Self {
            sparsity,
            protects: protects(mechanism.neighbours()),
            mean_error: predicted.mean.map(|error| error.total().sqrt()),
            mean_bias: predicted.mean.map(|error| error.squared_bias.sqrt()),
            frequency_error: predicted.frequency.map(|error| error.total().sqrt()),
            mechanism,
        }
    }
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
    let draft = load_draft(&options.file)?;
    let named = |error| format!("{}: {error}", options.file.display());
    let plan = draft.plan().map_err(named)?;
    if let Some(out) = &options.out {
        write_task(out, &plan.task)?;
    }
    let cost = cost(plan, &options.people)?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&cost)?);
    } else {
        print(&cost);
    }
    Ok(())
}

fn cost(plan: Plan, people: &[u64]) -> Result<Cost, Error> {
    let task = plan.task;
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
        protects: protects(task.mechanism().neighbours()),
        delta: task.mechanism().delta(),
        bias: bias(&task),
        report_bytes,
        upload_bytes: hushbin::assemble_upload(
            hushbin::UploadId([0; 16]),
            &task.fingerprint(),
            1,
            &vec![0; report_bytes],
        )
        .len(),
        predictions,
        planned_people: plan.people,
        candidates: std::iter::once(plan.picked)
            .chain(plan.others)
            .map(Compared::from)
            .collect(),
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
        Mechanism::HashBin(hash_bin) => {
            let limit = hash_bin
                .sampling(task.items().count(), task.epsilon())
                .limit();
            Report::HashBin(BinsReport {
                seed: u64::MAX,
                response: limit.map_or(Response::Sign(true), |limit| {
                    Response::Bins(vec![limit; hash_bin.bins() as usize])
                }),
            })
        }
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
    println!("protects     {}", cost.protects);
    if let Some(bias) = &cost.bias {
        println!("bias         {bias}");
    }
    if cost.delta > 0.0 {
        println!(
            "δ            {:e}, the probability that the guarantee fails, if signs are as good as random",
            cost.delta
        );
    }
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
    print_candidates(cost);
}

fn print_candidates(cost: &Cost) {
    println!();
    println!(
        "the same, and what else there is, for {} people; root mean squared errors over all items:",
        cost.planned_people
    );
    println!(
        "  {:<10}  {:>8}  {:>8}  {:>8}  {:>9}  protects",
        "mechanism", "sparsity", "mean", "of bias", "frequency"
    );
    let number = |error: Option<f64>| error.map_or_else(|| "-".to_owned(), |e| format!("{e:.4}"));
    for (index, candidate) in cost.candidates.iter().enumerate() {
        println!(
            "{} {:<10}  {:>8}  {:>8}  {:>8}  {:>9}  {}",
            if index == 0 { "*" } else { " " },
            candidate.mechanism.name(),
            candidate.sparsity,
            number(candidate.mean_error),
            number(candidate.mean_bias),
            number(candidate.frequency_error),
            candidate.protects,
        );
    }
    if cost.candidates.iter().any(|c| c.mean_bias > Some(0.0)) {
        println!(
            "  bias: of entries left out or clipped, if all people had the same items; no number of people lessens it"
        );
    }
}

pub(super) fn describe(mechanism: &Mechanism) -> String {
    let buckets = |rule: String, hashing: String, buckets: u32, favoured: Option<u32>| {
        let favoured = favoured.map_or_else(String::new, |c| format!(", {c} favoured"));
        format!("rule {rule}, {hashing} hashing, {buckets} buckets{favoured}")
    };
    let parameters = match mechanism {
        Mechanism::Collision(collision) => buckets(
            word(&collision.rule_name()),
            word(&collision.hashing()),
            collision.buckets(),
            collision.favoured(),
        ),
        Mechanism::Coco(coco) => buckets(
            word(&coco.rule_name()),
            word(&coco.hashing()),
            coco.buckets(),
            coco.favoured(),
        ),
        Mechanism::HashBin(hash_bin) => {
            let level = match hash_bin.level() {
                hash_bin::Level::Event => "level event".to_owned(),
                hash_bin::Level::Neighbouring { distance, .. } => {
                    format!("level neighbouring, distance {distance}")
                }
                hash_bin::Level::User { clip, noise } => {
                    format!(
                        "level user, {} noise, sums clipped to ±{clip}",
                        word(&noise)
                    )
                }
            };
            let bins = match hash_bin.bins() {
                1 => "1 bin".to_owned(),
                bins => format!("{bins} bins, {} hashing", word(&hash_bin.hashing())),
            };
            format!("{level}, {bins}, grid 1/{}", hash_bin.grid())
        }
    };
    format!("{}, {parameters}", mechanism.name())
}

/// The word that stands for a value in task files.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => format!("{other:?}"),
    }
}
