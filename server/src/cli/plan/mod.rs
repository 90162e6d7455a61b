//! `hushbin plan`: plans a task from two of these: number of people, privacy and accuracy.

mod question;
mod summary;

use std::io::Write;
use std::path::PathBuf;

use super::output::{AnswerFormatOptions, Error, spinner};
use super::sums;
use crate::task::task_file;
use hushbin_analysis::accounting::{DEFAULT_DELTA, DEFAULT_HONEST_FRACTION};
use hushbin_analysis::plan::{
    DEFAULT_MAX_LOCAL_EPSILON, DEFAULT_PLANNED_TASK_ID, Survey, plan_survey,
};
use question::QuestionOptions;

/// Plan a task: compute the number of people, the privacy or the accuracy from the other two
#[derive(Debug, clap::Args)]
pub(super) struct PlanCommandOptions {
    #[command(flatten)]
    question: QuestionOptions,
    /// Number of people who send one report each, 1 to 1000000000000
    #[arg(long, value_name = "N")]
    people: Option<u64>,
    /// Number of people who report per day, at least 0.001. With this option, the plan also states
    /// the number of days that the reports take
    #[arg(long, value_name = "N")]
    people_per_day: Option<f64>,
    #[arg(
        long,
        value_name = "E",
        help = format!("Maximum local ε of a report, 0.001 to 12 (default {DEFAULT_MAX_LOCAL_EPSILON} if \
                        --central-epsilon is given)")
    )]
    epsilon: Option<f64>,
    /// Maximum central ε of the batch of all reports after shuffling, 0.001 to 12
    #[arg(long, value_name = "E")]
    central_epsilon: Option<f64>,
    /// Probability δ that the guarantee of the central ε fails, 1e-15 to 0.1 (default 1e-8)
    #[arg(long, value_name = "D", default_value_t = DEFAULT_DELTA, hide_default_value = true)]
    delta: f64,
    /// Fraction of the reports that are assumed to follow the protocol, 1e-12 to 1 (default 1)
    #[arg(long, value_name = "F", default_value_t = DEFAULT_HONEST_FRACTION, hide_default_value = true)]
    honest_fraction: f64,
    #[arg(
        long,
        help = format!("Id of the planned task (default the id in --task, or else '{DEFAULT_PLANNED_TASK_ID}')")
    )]
    id: Option<String>,
    #[command(flatten)]
    form: AnswerFormatOptions,
    /// File to write the complete task to (JSON); an existing file is overwritten
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run_plan_command(
    options: &PlanCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    if let Some(task) = options
        .question
        .task
        .as_deref()
        .and_then(sums::read_if_sum_task)
    {
        return sums::run_sum_plan_command(task?, options.out.as_deref(), options.form, out);
    }
    let (survey, labels) = options.build_survey()?;
    let searching = spinner("searching for the best parameters");
    let plan = plan_survey(&survey)?;
    drop(searching);
    if let Some(file) = &options.out {
        task_file::write_task(file, &plan.task, &labels)?;
    }
    let labels = task_file::label_fingerprints(&plan.task.clone().into(), &labels)?;
    let lines = summary::plan_summary_lines(&plan, options.out.as_deref(), &labels);
    let form = options.form;
    form.write_formatted_answer(out, &plan, &lines, |out| {
        summary::write_plan_details(out, &plan)
    })
}

impl PlanCommandOptions {
    /// Returns the survey to plan for, and the labels of its task, or none.
    fn build_survey(&self) -> Result<(Survey, Vec<String>), Error> {
        let request = self.question.read_plan_request()?;
        let (people, epsilon) =
            request.people_and_epsilon(self.people, self.epsilon, self.central_epsilon);
        let id = self.id.clone().or(request.task_id);
        let survey = Survey {
            id: id.unwrap_or_else(|| DEFAULT_PLANNED_TASK_ID.to_owned()),
            questions: request.questions,
            budget: request.budget,
            wanted: request.accuracy_goals,
            people,
            people_per_day: self.people_per_day,
            epsilon,
            central_epsilon: self.central_epsilon,
            delta: self.delta,
            honest_fraction: self.honest_fraction,
        };
        Ok((survey, request.labels))
    }
}
