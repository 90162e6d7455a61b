//! `hushbin plan`: from what is known and wanted to a task.

mod question;
mod words;

use std::io::Write;
use std::path::PathBuf;

use super::output::{Error, spinner, write_answer};
use super::sums;
use crate::task::task_file;
use hushbin_analysis::accounting::{DEFAULT_DELTA, DEFAULT_HONEST_FRACTION};
use hushbin_analysis::plan::{DEFAULT_ID, LOCAL_EPSILON, Survey, plan};
use question::QuestionOptions;

/// Find a task for what is known and wanted: of people, privacy and accuracy
/// give two, and get the third.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    question: QuestionOptions,
    /// Number of people who report, once each.
    #[arg(long, value_name = "N")]
    people: Option<u64>,
    /// Number of people who report in a day.
    #[arg(long, value_name = "N")]
    people_per_day: Option<f64>,
    #[arg(
        long,
        value_name = "E",
        help = format!("Maximum local ε (default {LOCAL_EPSILON} if only --central-epsilon is given)")
    )]
    epsilon: Option<f64>,
    /// Maximum ε of the shuffled reports.
    #[arg(long, value_name = "E")]
    central_epsilon: Option<f64>,
    /// δ of the shuffled reports.
    #[arg(long, value_name = "D", default_value_t = DEFAULT_DELTA)]
    delta: f64,
    /// Part of the reports that are assumed to be honest.
    #[arg(long, value_name = "F", default_value_t = DEFAULT_HONEST_FRACTION)]
    honest_fraction: f64,
    #[arg(long, help = format!("Id of the task (default that of the file, or {DEFAULT_ID})"))]
    id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write the task to a file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    if let Some(task) = options.question.task.as_deref().and_then(sums::task) {
        return sums::plan(task?, options.out.as_deref(), options.json, out);
    }
    let survey = options.survey()?;
    let searching = spinner("searching for the best parameters");
    let plan = plan(&survey)?;
    drop(searching);
    if let Some(file) = &options.out {
        task_file::write(file, &plan.task)?;
    }
    write_answer(out, options.json, &plan, |out| words::write(out, &plan))
}

impl Options {
    fn survey(&self) -> Result<Survey, Error> {
        let asked = self.question.asked()?;
        let (people, epsilon) = asked.known(self.people, self.epsilon, self.central_epsilon);
        let id = self.id.clone().or(asked.id);
        Ok(Survey {
            id: id.unwrap_or_else(|| DEFAULT_ID.to_owned()),
            questions: asked.questions,
            budget: asked.budget,
            wanted: asked.wanted,
            people,
            people_per_day: self.people_per_day,
            epsilon,
            central_epsilon: self.central_epsilon,
            delta: self.delta,
            honest_fraction: self.honest_fraction,
        })
    }
}
