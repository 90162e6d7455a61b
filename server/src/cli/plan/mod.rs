//! `hushbin plan`: from what is known and wanted to a task.

mod lines;
mod survey;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use hushbin::choose::{AutoLevel, ObjectiveDraft, ObjectiveName};
use hushbin::{Items, Task, ValueKind};

use super::output::{Error, spinner, write_answer};
use super::{describe, sums};
use crate::task::task_file;
use hushbin_analysis::accounting::{DEFAULT_DELTA, DEFAULT_HONEST_FRACTION};
use hushbin_analysis::estimate::DEFAULT_CONFIDENCE;
use hushbin_analysis::plan::{
    self, Answer, DEFAULT_ID, LOCAL_EPSILON, POWER, Question, Survey, Unknown,
};
use lines::{found, write_local, write_people, write_shuffled};

/// Find a task for what is known and wanted: of people, privacy and accuracy
/// give two, and get the third.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Number of items, or "open" for arbitrary strings.
    #[arg(long, value_name = "N", required_unless_present_any = ["names", "kind", "task"], value_parser = items)]
    items: Option<Items>,
    /// File with the names of the items instead, or of the options of a kind, one a line.
    #[arg(long, value_name = "FILE", conflicts_with = "items")]
    names: Option<PathBuf>,
    /// How many entries of one input are reported on.
    #[arg(long, value_name = "S", required_unless_present_any = ["entries", "kind", "task"])]
    sparsity: Option<u32>,
    /// How many people have 0, 1, 2, … entries, to weigh bias against noise; the
    /// sparsity is then chosen unless it is given.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',')]
    entries: Option<Vec<u64>>,
    #[command(flatten)]
    survey: survey::ByName,
    /// What values are.
    #[arg(long, value_enum, default_value_t = ValueName::Sign, conflicts_with_all = BY_NAME)]
    value: ValueName,
    /// What estimates are wanted for.
    #[arg(long, value_enum, default_value_t = Objective::Mean, conflicts_with_all = BY_NAME)]
    objective: Objective,
    /// What a report is to protect at least.
    #[arg(long, value_enum, default_value_t = Level::User, conflicts_with_all = BY_NAME)]
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
    #[arg(long, value_name = "SE", conflicts_with_all = BY_NAME)]
    standard_error: Option<f64>,
    /// Frequency of the rarest item worth seeing.
    #[arg(long, value_name = "F", conflicts_with_all = BY_NAME)]
    smallest: Option<f64>,
    #[arg(long, help = format!("Id of the task; {DEFAULT_ID} unless a file says one"))]
    id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write the task to a file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What asks for questions by name: each says what it is answered with.
const BY_NAME: [&str; 2] = ["kind", "task"];

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

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    if let Some(task) = options.survey.task.as_deref().and_then(sums::task) {
        return sums::plan(task?, options.out.as_deref(), options.json, out);
    }
    let by_name = options.survey.is_asked()?;
    let searching = spinner("searching for the best parameters");
    if by_name {
        let answer = plan::survey(&options.survey()?)?;
        drop(searching);
        options.write_task(&answer.task)?;
        return write_answer(out, options.json, &answer, |out| {
            survey::write_words(out, &answer)
        });
    }
    let answer = plan::plan(&options.question()?)?;
    drop(searching);
    options.write_task(&answer.task)?;
    write_answer(out, options.json, &answer, |out| write_words(out, &answer))
}

impl Options {
    fn write_task(&self, task: &Task) -> Result<(), Error> {
        if let Some(file) = &self.out {
            task_file::write(file, task)?;
        }
        Ok(())
    }

    fn id(&self, of_file: Option<String>) -> String {
        let id = self.id.clone().or(of_file);
        id.unwrap_or_else(|| DEFAULT_ID.to_owned())
    }

    fn survey(&self) -> Result<Survey, Error> {
        let asked = (self.survey).asked(
            self.names.as_deref(),
            self.sparsity,
            self.entries.as_deref(),
        )?;
        let (people, epsilon) = asked.known(self.people, self.epsilon, self.central_epsilon);
        Ok(Survey {
            id: self.id(asked.id),
            questions: asked.questions,
            budget: asked.budget,
            wanted: asked.wanted.into_iter().collect(),
            people,
            people_per_day: self.people_per_day,
            epsilon,
            central_epsilon: self.central_epsilon,
            delta: self.delta,
            honest_fraction: self.honest_fraction,
        })
    }

    fn question(&self) -> Result<Question, Error> {
        let items = match (&self.items, &self.names) {
            (Some(items), _) => items.clone(),
            (None, Some(file)) => Items::Named(survey::names(file)?),
            (None, None) => unreachable!("clap asks for one of them"),
        };
        Ok(Question {
            id: self.id(None),
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
    let (picked, solved_for) = (&answer.picked, answer.solved_for);
    write_people(out, answer.people, answer.days, solved_for)?;
    writeln!(
        out,
        "mechanism    {}",
        describe::mechanism(&picked.mechanism)
    )?;
    writeln!(out, "sparsity     {}", picked.sparsity)?;
    let epsilons = [picked.epsilon, picked.effective_epsilon];
    write_local(out, epsilons, &picked.protects, solved_for)?;
    write_shuffled(
        out,
        picked.central.as_ref(),
        picked.central_reason.as_deref(),
    )?;
    let number = |value| describe::decimals(value, 5);
    writeln!(
        out,
        "error        {} standard error, {} bias{}",
        number(picked.standard_error),
        number(picked.bias),
        found(solved_for, Unknown::Error)
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
