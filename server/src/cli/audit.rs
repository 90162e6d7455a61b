//! `hushbin audit`: measured privacy loss of uploads.

use std::io::{self, Write};
use std::path::PathBuf;

use chacha20::ChaCha20Rng;
use hushbin::Task;
use rand_core::SeedableRng;

use super::audit_logs::run_task_log_audit;
use super::output::{Error, progress_bar, write_json_or_text_answer};
use super::sums;
use crate::task::task_file::ReportTaskFile;
use hushbin_analysis::audit::{
    AuditVerdict, DEFAULT_CONFIDENCE, EmpiricalLossBound, ReportAuditResult, TrialPlan,
    audit_report_task,
};

/// Make sample uploads of a task, and measure how much they reveal
///
/// The command makes uploads for pairs of inputs, and measures how well an attacker can distinguish
/// the two inputs of a pair. For a small task, the command also enumerates all inputs. For sums or
/// questions through a shuffler, the command compares whole batches. The command fails if it finds a
/// loss above the task's ε.
#[derive(Debug, clap::Args)]
pub(super) struct AuditCommandOptions {
    /// Task file (JSON); parameters that the file leaves out are chosen automatically
    #[arg(long, value_name = "FILE", required_unless_present = "task_logs")]
    task: Option<PathBuf>,
    /// Two copies of a server's task log (files, or URLs such as
    /// https://telemetry.example.org/task-log) to verify and compare, instead of a task. The
    /// command fails if a copy is invalid, or neither extends the other
    #[arg(
        long,
        value_name = "FILE OR URL",
        num_args = 2,
        conflicts_with_all = ["task", "trials", "seed", "confidence"]
    )]
    task_logs: Option<Vec<String>>,
    /// Number of reports to make from each of the two inputs of a comparison, 100 to 1000000000
    /// (default 200000). A large ε raises the minimum and the default. For a task with "trust",
    /// number of batches to make from each of the two inputs (default as many as can be made in a
    /// few seconds)
    #[arg(long, value_name = "N")]
    trials: Option<u64>,
    /// Seed of the random generator, a whole number, to repeat a run (default a random seed)
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Confidence of the measured lower bound on the loss, 0.5 to 0.999999999 (default 0.999)
    #[arg(long, value_name = "C", default_value_t = DEFAULT_CONFIDENCE, hide_default_value = true)]
    confidence: f64,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run_audit_command(
    options: &AuditCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    if let Some(sources) = &options.task_logs {
        return run_task_log_audit(sources, options.json, out);
    }
    let Some(file) = &options.task else {
        return Err("--task is missing".into());
    };
    let mut rng = match options.seed {
        Some(seed) => ChaCha20Rng::seed_from_u64(seed),
        None => ChaCha20Rng::try_from_rng(&mut getrandom::SysRng)?,
    };
    let AuditCommandOptions {
        trials,
        confidence,
        json,
        ..
    } = *options;
    if let Some(task) = sums::read_if_sum_task(file) {
        return sums::run_sum_audit_command(&task?.0, trials, confidence, &mut rng, json, out);
    }
    let task = ReportTaskFile::read(file)?.resolve_task()?;
    let plan = TrialPlan::new(&task, trials, confidence)?;
    let bar = progress_bar(0, "reports");
    let found = audit_report_task(&task, &plan, &mut rng, |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let written = write_json_or_text_answer(out, options.json, &found, |out| {
        write_audit_text(out, &task, &found)
    });
    // The exit status shows the verdict even if the reader closed the pipe.
    check_verdict(&task, &found)?;
    written
}

/// Returns an error if the audit found a loss above the task's ε.
fn check_verdict(task: &Task, found: &ReportAuditResult) -> Result<(), Error> {
    match found.verdict {
        AuditVerdict::WithinBudget => Ok(()),
        AuditVerdict::ExceedsBudget => Err(format!(
            "{}: a report has a privacy loss above the task's epsilon of {}",
            task.id(),
            task.epsilon()
        )
        .into()),
    }
}

fn write_audit_text(out: &mut dyn Write, task: &Task, found: &ReportAuditResult) -> io::Result<()> {
    let names = task
        .questions()
        .iter()
        .map(|question| question.mechanism().name());
    writeln!(
        out,
        "{}: {}",
        task.id(),
        names.collect::<Vec<_>>().join(", ")
    )?;
    writeln!(out, "task        ε = {}", found.requested_epsilon)?;
    writeln!(
        out,
        "sampled     ε ≤ {}, computed from the integer probabilities",
        found.effective_epsilon
    )?;
    if found.delta > 0.0 {
        writeln!(
            out,
            "            except with probability δ = {}, which is subtracted below",
            found.delta
        )?;
    }
    let enumerated = (
        found.exact_epsilon,
        found.enumerated_inputs,
        found.enumerated_seeds,
    );
    match enumerated {
        (Some(exact), Some(inputs), Some(seeds)) => writeln!(
            out,
            "enumerated  ε = {exact}, rounded up: all {inputs} inputs under {seeds} random seeds"
        )?,
        _ => writeln!(
            out,
            "enumerated  no: there are too many inputs or reports, or the guarantee has a δ"
        )?,
    }
    write_empirical_bound(out, found)?;
    writeln!(out)?;
    write_verdict(out, found)
}

/// Writes the measured lower bound on ε, and the event whose frequencies prove the bound.
fn write_empirical_bound(out: &mut dyn Write, found: &ReportAuditResult) -> io::Result<()> {
    let EmpiricalLossBound {
        lower_bound,
        event,
        hits: [hits, others],
        judged,
    } = &found.measured;
    writeln!(
        out,
        "measured    ε ≥ {lower_bound:.4} at {}% confidence, from {} reports of each input",
        100.0 * found.confidence,
        found.trials
    )?;
    writeln!(
        out,
        "  event     {} {} {:.4}: {hits} of {judged} against {others} of {judged}",
        event.statistic.name(),
        if event.at_least { "at least" } else { "below" },
        event.threshold,
    )?;
    let [likelier, other] = &event.inputs;
    writeln!(out, "  inputs    {likelier} against {other}")
}

fn write_verdict(out: &mut dyn Write, found: &ReportAuditResult) -> io::Result<()> {
    let requested = found.requested_epsilon;
    match found.verdict {
        AuditVerdict::WithinBudget => writeln!(
            out,
            "No loss above ε = {requested} was found.\n\
             Trials cannot prove that there is none. They miss losses that are too rare to be \
             distinguished from chance. They also miss losses that only other inputs, or other \
             functions of an upload's bytes, would show. The bound from the integers does prove \
             it, if exactly these integers are sampled and nothing else in the upload depends on \
             the input.\n\
             The audit does not cover times, addresses, or several uploads of one person."
        ),
        AuditVerdict::ExceedsBudget => {
            let how = if found.measured.lower_bound > requested {
                "measured"
            } else {
                "enumerated"
            };
            writeln!(
                out,
                "NOT PRIVATE at ε = {requested}: a larger loss was {how}."
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use hushbin::TaskDraft;

    use super::*;
    use hushbin_analysis::audit::{enumerate_max_loss, measure_privacy_loss, upload_appender};
    use hushbin_analysis::likelihood::core_bucket_probability_fn;

    #[test]
    fn command_fails_where_the_budget_is_exceeded() {
        let task = |epsilon: f64| {
            let text = format!(
                r#"{{ "id": "t", "items": 4, "sparsity": 2, "epsilon": {epsilon},
                    "value": "sign", "mechanism": {{ "name": "collision", "buckets": 8 }} }}"#
            );
            let draft: TaskDraft = serde_json::from_str(&text).unwrap();
            draft.resolve_task().unwrap()
        };
        let (asked, leaky) = (task(1.0), task(1.5));
        let plan = TrialPlan::new(&asked, Some(4000), 0.999).unwrap();
        let verdict = |measured: &Task, enumerated: &Task| {
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let probabilities = core_bucket_probability_fn(&enumerated.questions()[0]).unwrap();
            let enumeration =
                enumerate_max_loss(&asked.questions()[0], 1 << 20, &mut rng, probabilities);
            // Only the reports should differ, so uploads carry the fingerprint of `asked`.
            let mut send = upload_appender(measured, &mut rng);
            let fingerprint = asked.fingerprint().0;
            let send = |answers: &[&[hushbin::Entry]], upload: &mut Vec<u8>| {
                send(answers, upload);
                upload[1..17].copy_from_slice(&fingerprint);
            };
            let measured = measure_privacy_loss(&asked, &plan, send, |_, _| {});
            check_verdict(
                &asked,
                &ReportAuditResult::new(&asked, &plan, enumeration, measured),
            )
        };
        assert!(verdict(&asked, &asked).is_ok());
        for (measured, enumerated) in [(&leaky, &asked), (&asked, &leaky)] {
            let error = verdict(measured, enumerated).unwrap_err().to_string();
            assert_eq!(
                error,
                "t: a report has a privacy loss above the task's epsilon of 1"
            );
        }
    }
}
