//! Output of all commands for tasks through a shuffler.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use hushbin::sums::{MessageParameters, SumTask};
use hushbin_analysis::accounting::BATCH_COUNT_RANGE;
use hushbin_analysis::promise::round_up_to_three_digits;
use hushbin_analysis::sums::{
    PredictedMeanError, SumInfluence, SumPlan, epsilon_bounds_for_people,
};
use serde::Serialize;

use super::describe;
use super::output::{
    AnswerFormatOptions, Error, progress_bar, write_answer_fields, write_json_or_text_answer,
};
use super::table::write_estimates_and_coverage;
use crate::simulate::SumSimulationResult;
use crate::task::task_file::{self, LabelFingerprint, TaskFile};
use crate::task::{ReportOrSumDraft, ReportOrSumTask};
use crate::text_file;
use hushbin_analysis::audit::{AuditVerdict, SumAuditResult, TrialPlan, audit_sums};

/// Reads a complete task of sums and its labels from a file. A file contains a task of sums if it
/// has the key `trust`.
///
/// Returns `None` for any other file, and the caller then reads that file as another kind of task.
/// A pipe can be read only once, so this function returns `None` without reading it.
pub(super) fn read_if_sum_task(path: &Path) -> Option<Result<(SumTask, Vec<String>), Error>> {
    if !fs::metadata(path).is_ok_and(|own| own.is_file()) {
        return None;
    }
    let text = text_file::read_text_file(path).ok()?;
    if !ReportOrSumDraft::has_trust_key(&text) {
        return None;
    }
    let resolved =
        TaskFile::read(path).and_then(|file| Ok((file.resolve_task()?, file.labels().to_vec())));
    Some(match resolved {
        Ok((ReportOrSumTask::Sums(task), labels)) => Ok((task, labels)),
        Ok((ReportOrSumTask::Reports(_), _)) => {
            Err("a task with the key \"trust\" must be a task of sums".into())
        }
        Err(error) => Err(error.into()),
    })
}

/// Runs `hushbin plan` and `hushbin task check` for a task of sums. Writes the complete task to
/// `file` if a file is given.
pub(super) fn run_sum_plan_command(
    (task, labels): (SumTask, Vec<String>),
    file: Option<&Path>,
    form: AnswerFormatOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    if let Some(file) = file {
        task_file::write_task(file, &ReportOrSumTask::from(task.clone()), &labels)?;
    }
    let labels = task_file::label_fingerprints(&task.clone().into(), &labels)?;
    let plan = SumPlan::new(task)?;
    let lines = sum_plan_summary_lines(&plan, file, &labels);
    form.write_formatted_answer(out, &plan, &lines, |out| write_sum_plan_details(out, &plan))
}

/// Summarises the plan for a task of sums in a few lines of plain English.
fn sum_plan_summary_lines(
    plan: &SumPlan,
    file: Option<&Path>,
    labels: &[LabelFingerprint],
) -> Vec<String> {
    let (task, epsilon) = (&plan.task, plan.central_epsilon.upper);
    let yearly = task.report_budget().reports_a_year();
    let mean = |own: &PredictedMeanError| {
        let error = describe::format_significant_digits(own.standard_error, 3);
        let unit = describe::unit_suffix(own.unit.as_deref());
        format!("{} {error}{unit}", item_name_or_each(own.item.as_ref()))
    };
    let means: Vec<String> = plan.errors.iter().map(mean).collect();
    let (id, people) = (task.id(), task.min_people());
    let (kind, estimated) = match are_counted(task) {
        true => ("questions", "shares"),
        false => ("sums", "means"),
    };
    vec![
        format!(
            "{id} is a valid task of {kind}. People have to trust its shuffler: there is no local ε."
        ),
        describe::central_privacy_sentence("A batch has", "messages", epsilon, task.delta()),
        format!(
            "A person answers at most {yearly} times a year, which spends at most ε = {} in all.",
            round_up_to_three_digits(f64::from(yearly) * epsilon)
        ),
        format!(
            "Standard errors of {estimated}, in a batch of {people} people: {}.",
            means.join(", ")
        ),
        describe::task_fingerprint_sentence(file, &task.fingerprint().to_string(), labels),
    ]
}

/// Returns true if the task counts the answers to questions, and false if it adds up numbers.
fn are_counted(task: &SumTask) -> bool {
    task.summed_quantity().counted_questions().is_some()
}

fn item_name_or_each(label: Option<&impl ToString>) -> String {
    label.map_or_else(|| "each".to_owned(), ToString::to_string)
}

fn write_sum_plan_details(out: &mut dyn Write, plan: &SumPlan) -> io::Result<()> {
    let task = &plan.task;
    let cells = task.summed_quantity().coordinate_count();
    let coded = match task.message_parameters() {
        MessageParameters::UnitSteps(own) => format!(
            "{} of {cells} coordinates in {} levels",
            own.drawn_coordinate_count(),
            own.messages_per_unit()
        ),
        MessageParameters::Lottery(_) => format!("{cells} cells"),
    };
    writeln!(out, "shuffled  ε = {:.6}", plan.central_epsilon.upper)?;
    let sent = match f64::from(plan.messages) > plan.mean_messages {
        true => format!(
            "{:.3} messages on average and at most {}",
            plan.mean_messages, plan.messages
        ),
        false => format!("{} messages", plan.messages),
    };
    let bytes = match plan.bytes as f64 > plan.mean_bytes {
        true => format!(
            "{:.0} bytes sealed on average and at most {}",
            plan.mean_bytes, plan.bytes
        ),
        false => format!("{} bytes sealed", plan.bytes),
    };
    writeln!(
        out,
        "a person  {sent} of {coded}, {:.3} of noise on average; {bytes}",
        plan.noise_messages
    )?;
    for error in &plan.errors {
        writeln!(
            out,
            "error     {}: {:.4e}{}; local reports with the same ε: {:.4e}, which is {:.0} times \
             as much",
            item_name_or_each(error.item.as_ref()),
            error.standard_error,
            describe::unit_suffix(error.unit.as_deref()),
            error.local_standard_error,
            error.local_standard_error / error.standard_error
        )?;
    }
    for own in &plan.influence {
        write_sum_influence(out, own, plan.are_shares)?;
    }
    writeln!(out)?;
    writeln!(out, "{}", plan.privacy.statement)
}

fn write_sum_influence(
    out: &mut dyn Write,
    own: &SumInfluence,
    are_counts: bool,
) -> io::Result<()> {
    let moved = if are_counts { "count" } else { "sum" };
    writeln!(
        out,
        "dishonest {}: one person who breaks the protocol moves the {moved} by at most {:.4}{}; an \
         honest person by at most {:.4}",
        item_name_or_each(own.item.as_ref()),
        own.dishonest_change,
        describe::unit_suffix(own.unit.as_deref()),
        own.honest_change
    )
}

/// Central ε and δ of one batch of sums, and of all batches together.
#[derive(Debug, Serialize)]
struct SumsCentralPrivacy {
    trust: &'static str,
    central_epsilon: f64,
    lower_epsilon: f64,
    delta: f64,
    people: u64,
    honest_fraction: f64,
    batches: u32,
    /// Central ε of all batches together, by basic composition.
    all_epsilon: f64,
    /// Probability δ that the guarantee of `all_epsilon` fails.
    all_delta: f64,
}

/// Runs `hushbin account` for a task of sums, with `people` people in each batch.
pub(super) fn run_sum_account_command(
    task: &SumTask,
    (people, honest_fraction): (u64, f64),
    delta: f64,
    batches: u32,
    form: AnswerFormatOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    BATCH_COUNT_RANGE.check_in_range(f64::from(batches))?;
    let found = epsilon_bounds_for_people(task, people, honest_fraction, delta)?;
    let answer = SumsCentralPrivacy {
        trust: "shuffler",
        central_epsilon: found.upper,
        lower_epsilon: found.lower,
        delta,
        people,
        honest_fraction,
        batches,
        // Basic composition: the losses and the failure probabilities of all batches add up.
        all_epsilon: f64::from(batches) * found.upper,
        all_delta: f64::from(batches) * delta,
    };
    let batch = match batches {
        1 => "The batch has".to_owned(),
        batches => format!("All {batches} batches together have"),
    };
    let lines = [
        describe::central_privacy_sentence(
            &batch,
            "messages",
            answer.all_epsilon,
            answer.all_delta,
        ),
        "Against an attacker who can link them, nothing is guaranteed: there is no local ε."
            .to_owned(),
        format!(
            "A batch has {people} people, and a fraction {honest_fraction} of them is assumed to \
             follow the protocol."
        ),
    ];
    form.write_formatted_answer(out, &answer, &lines, |out| {
        write_answer_fields(out, &answer)
    })
}

/// Runs `hushbin audit` for a task of sums.
pub(super) fn run_sum_audit_command<R: rand_core::CryptoRng>(
    task: &SumTask,
    trials: Option<u64>,
    confidence: f64,
    rng: &mut R,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let plan = TrialPlan::for_sums(task, trials, confidence)?;
    let bar = progress_bar(2 * plan.trials_per_input(), "batches");
    let found = audit_sums(task, &plan, rng, |done, _| bar.set_position(done))?;
    bar.finish_and_clear();
    write_json_or_text_answer(out, json, &found, |out| write_sum_audit(out, task, &found))?;
    match found.verdict {
        AuditVerdict::WithinBudget => Ok(()),
        AuditVerdict::ExceedsBudget => Err(format!(
            "{}: a batch has a privacy loss above the task's central epsilon of {}",
            task.id(),
            task.central_epsilon()
        )
        .into()),
    }
}

fn write_sum_audit(out: &mut dyn Write, task: &SumTask, found: &SumAuditResult) -> io::Result<()> {
    let (what, answers) = match are_counted(task) {
        true => (
            "questions",
            "gives one of two random answers that differ in all messages",
        ),
        false => ("sums", "answers with all maxima or all minima"),
    };
    writeln!(out, "{}: {what} through a shuffler", task.id())?;
    writeln!(
        out,
        "promised    ε = {}, δ = {:e}",
        found.central_epsilon, found.delta
    )?;
    writeln!(
        out,
        "computed    ε ≤ {:.6}, and at least {:.6}",
        found.accounted.upper, found.accounted.lower
    )?;
    let [hits, others] = [found.event_hits[1], found.event_hits[0]];
    writeln!(
        out,
        "measured    ε ≥ {:.4} at {}% confidence: the event occurred {hits} and {others} times in \
         {} batches each, of {} honest people, one of whom {answers}",
        found.empirical_lower_bound,
        100.0 * found.confidence,
        found.event_trials,
        task.honest_people_count()
    )?;
    writeln!(
        out,
        "local       there is no local ε: the messages of a single person are not measured"
    )
}

/// Writes the errors of the estimates in a simulation of sums.
pub(super) fn write_sum_simulation_errors(
    out: &mut dyn Write,
    found: &SumSimulationResult,
) -> io::Result<()> {
    match found.mean_messages < f64::from(found.messages) {
        true => writeln!(
            out,
            "{:.3} messages for each person on average, at most {}",
            found.mean_messages, found.messages
        )?,
        false => writeln!(out, "{} messages for each person", found.messages)?,
    }
    write_estimates_and_coverage(out, &found.tally, found.are_shares, found.confidence)?;
    for (own, compared) in found.items.iter().zip(&found.tally.estimates) {
        let error = compared.error.unwrap_or(f64::NAN);
        writeln!(
            out,
            "{}: error is {} times the stated error, and {} times the error of local reports",
            compared.what,
            describe::format_significant_digits(error / own.stated_error, 3),
            describe::format_significant_digits(error / own.local_error, 3),
        )?;
    }
    if found.clipped > 0 {
        writeln!(
            out,
            "{} people had {}",
            found.clipped,
            match found.are_shares {
                true => "a number beyond the limits, or more options than the sparsity",
                false => "values beyond the limits, which were clipped",
            }
        )?;
    }
    writeln!(
        out,
        "randomising {:.0} ns a person on one core",
        found.randomize_ns
    )
}
