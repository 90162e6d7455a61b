//! `hushbin plan`: from what is known and wanted to a task.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hushbin::choose::{AutoLevel, ObjectiveDraft, ObjectiveName};
use hushbin::{Items, ValueKind};

use super::Error;
use super::describe;
use crate::task_file;
use hushbin_analysis::accounting::{DEFAULT_DELTA, DEFAULT_HONEST_FRACTION};
use hushbin_analysis::estimate::DEFAULT_CONFIDENCE;
use hushbin_analysis::plan::{
    Answer, DEFAULT_ID, LOCAL_EPSILON, Offer, POWER, Question, Unknown, plan,
};

/// Find a task for what is known and wanted: of people, privacy and accuracy
/// give two, and get the third.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Number of items, or "open" for arbitrary strings.
    #[arg(long, value_name = "N", required_unless_present = "names", value_parser = items)]
    items: Option<Items>,
    /// File with the names of the items instead, one a line.
    #[arg(long, value_name = "FILE", conflicts_with = "items")]
    names: Option<PathBuf>,
    /// How many entries of one input are reported on.
    #[arg(long, value_name = "S", required_unless_present = "entries")]
    sparsity: Option<u32>,
    /// How many people have 0, 1, 2, … entries, to weigh bias against noise; the
    /// sparsity is then chosen unless it is given.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',')]
    entries: Option<Vec<u64>>,
    /// What values are.
    #[arg(long, value_enum, default_value_t = ValueName::Sign)]
    value: ValueName,
    /// What estimates are wanted for.
    #[arg(long, value_enum, default_value_t = Objective::Mean)]
    objective: Objective,
    /// What a report is to protect at least.
    #[arg(long, value_enum, default_value_t = Level::User)]
    level: Level,
    /// How many people report, once each.
    #[arg(long, value_name = "N")]
    people: Option<u64>,
    /// How many of them a day brings.
    #[arg(long, value_name = "N")]
    people_per_day: Option<f64>,
    #[arg(
        long,
        value_name = "E",
        help = format!("Greatest local ε; {LOCAL_EPSILON} where only a central one is given")
    )]
    epsilon: Option<f64>,
    /// Greatest ε of the shuffled reports.
    #[arg(long, value_name = "E")]
    central_epsilon: Option<f64>,
    /// δ of the shuffled reports.
    #[arg(long, value_name = "D", default_value_t = DEFAULT_DELTA)]
    delta: f64,
    /// Part of the reports that are assumed to be honest.
    #[arg(long, value_name = "F", default_value_t = DEFAULT_HONEST_FRACTION)]
    honest_fraction: f64,
    /// Greatest error wanted, root mean square over all items.
    #[arg(long, value_name = "SE")]
    standard_error: Option<f64>,
    /// Frequency of the rarest item worth seeing.
    #[arg(long, value_name = "F")]
    smallest: Option<f64>,
    /// Id of the task.
    #[arg(long, default_value = DEFAULT_ID)]
    id: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write the task to a file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ValueName {
    /// -1 or 1.
    Sign,
    /// From -1 to 1.
    Real,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Objective {
    /// Means, missing entries counting as 0.
    Mean,
    /// Frequencies of either sign.
    Frequency,
    /// Non-missing frequencies: of any sign.
    Nonmissing,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
    /// A person's whole input.
    User,
    /// The value of any single item.
    Event,
}

fn items(text: &str) -> Result<Items, String> {
    let items = if text == "open" { "\"open\"" } else { text };
    let expected = "expected a number of items, or \"open\"";
    match serde_json::from_str(items) {
        Ok(items @ (Items::Count(_) | Items::Open(_))) => Ok(items),
        _ => Err(expected.to_owned()),
    }
}

fn names(path: &Path) -> Result<Items, Error> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Items::Named(text.lines().map(str::to_owned).collect()))
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let question = options.question()?;
    let searching = super::spinner("searching for the best parameters");
    let answer = plan(&question)?;
    drop(searching);
    if let Some(file) = &options.out {
        task_file::write(file, &answer.task)?;
    }
    super::write_answer(out, options.json, &answer, |out| write_words(out, &answer))
}

impl Options {
    fn question(&self) -> Result<Question, Error> {
        let items = match (&self.items, &self.names) {
            (Some(items), _) => items.clone(),
            (None, Some(file)) => names(file)?,
            (None, None) => unreachable!("clap asks for one of them"),
        };
        Ok(Question {
            id: self.id.clone(),
            items,
            sparsity: self.sparsity,
            entries: self.entries.clone(),
            value: match self.value {
                ValueName::Sign => ValueKind::Sign,
                ValueName::Real => ValueKind::Real,
            },
            objective: ObjectiveDraft::Name(match self.objective {
                Objective::Mean => ObjectiveName::Mean,
                Objective::Frequency => ObjectiveName::Frequency,
                Objective::Nonmissing => ObjectiveName::Nonmissing,
            }),
            level: match self.level {
                Level::User => AutoLevel::User,
                Level::Event => AutoLevel::Event,
            },
            people: self.people,
            people_per_day: self.people_per_day,
            epsilon: self.epsilon,
            central_epsilon: self.central_epsilon,
            delta: self.delta,
            honest_fraction: self.honest_fraction,
            standard_error: self.standard_error,
            smallest: self.smallest,
        })
    }
}

fn write_words(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    writeln!(out, "{}", answer.verdict.text)?;
    writeln!(out)?;
    write_picked(out, answer)?;
    writeln!(out)?;
    write_offers(out, answer)?;
    writeln!(out)?;
    writeln!(out, "{}", answer.assumes)
}

/// What was picked, and the quantity that was found.
fn write_picked(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    let picked = &answer.picked;
    let found = |unknown| {
        if answer.solved_for == unknown {
            "  <- found"
        } else {
            ""
        }
    };
    let days = answer
        .days
        .map_or_else(String::new, |days| format!(", {} days", days.ceil()));
    let people = answer.people;
    writeln!(out, "people       {people}{days}{}", found(Unknown::People))?;
    writeln!(
        out,
        "mechanism    {}",
        describe::mechanism(&picked.mechanism)
    )?;
    writeln!(out, "sparsity     {}", picked.sparsity)?;
    writeln!(
        out,
        "local ε      {}, {} spent by each report (rounded up); protects {}{}",
        picked.epsilon,
        picked.effective_epsilon,
        picked.protects,
        found(Unknown::Epsilon)
    )?;
    write_shuffled(out, picked)?;
    let number = |value| describe::decimals(value, 5);
    writeln!(
        out,
        "error        {} standard error, {} bias{}",
        number(picked.standard_error),
        number(picked.bias),
        found(Unknown::Error)
    )?;
    if let Some(distance) = &picked.distance {
        writeln!(out, "bound        {}", distance.text)?;
    }
    writeln!(
        out,
        "intervals    ±{} for one item, ±{} for all at once ({}%)",
        number(picked.interval),
        number(picked.simultaneous_interval),
        100.0 * DEFAULT_CONFIDENCE
    )?;
    let seen = picked.smallest.map_or_else(
        || "nothing".to_owned(),
        |smallest| {
            format!(
                "items that {:.3}% of people have, or more, in {POWER} of all cases",
                100.0 * smallest
            )
        },
    );
    writeln!(out, "seen         {seen}")?;
    writeln!(out, "fingerprint  {}", answer.task.fingerprint())
}

fn write_shuffled(out: &mut dyn Write, picked: &Offer) -> io::Result<()> {
    match (&picked.central, &picked.central_reason) {
        (Some(central), _) => writeln!(
            out,
            "shuffled ε   {:.5}, δ = {:e}, among {} reports assumed honest (rounded up)",
            (central.central_epsilon * 1e5).ceil() / 1e5,
            central.delta,
            central.honest_reports
        ),
        (None, reason) => writeln!(
            out,
            "shuffled ε   none: {}",
            reason.as_deref().unwrap_or("unknown")
        ),
    }
}

fn write_offers(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    writeln!(out, "the same, and what else there is at the same privacy:")?;
    writeln!(
        out,
        "  {:<10}  {:>8}  {:>8}  {:>8}  {:>8}  {:>22}  protects",
        "mechanism", "sparsity", "local ε", "error", "of bias", "people, for that error"
    )?;
    let offers = std::iter::once(&answer.picked).chain(&answer.others);
    for (mark, offer) in "*".chars().chain(std::iter::repeat(' ')).zip(offers) {
        let people = match offer.people {
            Some(people) => format!("{people}"),
            None => "no number".to_owned(),
        };
        writeln!(
            out,
            "{mark} {:<10}  {:>8}  {:>8.4}  {:>8}  {:>8}  {people:>22}  {}",
            offer.mechanism.name(),
            offer.sparsity,
            offer.epsilon,
            describe::decimals(offer.error, 5),
            describe::decimals(offer.bias, 5),
            offer.protects
        )?;
    }
    Ok(())
}
