//! Formatting of a plan in plain English.

use std::io::{self, Write};
use std::path::Path;

use hushbin_analysis::estimate::DEFAULT_CONFIDENCE;
use hushbin_analysis::plan::{DETECTION_POWER, Plan, PlannedEstimateKind, QuestionPlan};
use hushbin_analysis::promise::round_up_to_three_digits;

use crate::cli::describe;
use crate::cli::table::write_aligned_rows;
use crate::task::task_file::LabelFingerprint;

/// Summarises a plan in a few lines of plain English.
pub(super) fn plan_summary_lines(
    plan: &Plan,
    file: Option<&Path>,
    labels: &[LabelFingerprint],
) -> Vec<String> {
    let days = plan
        .days
        .map_or_else(String::new, |days| format!(", in {} days", days.ceil()));
    let central = match (&plan.central, &plan.central_reason) {
        (Some(account), _) => {
            let subject = "Shuffled, the reports have";
            describe::central_privacy_sentence(
                subject,
                "them",
                account.central_epsilon,
                account.delta,
            )
        }
        (None, reason) => format!(
            "The shuffled reports have no central ε: {}.",
            reason.as_deref().unwrap_or("unknown")
        ),
    };
    let mechanisms = plan.questions.iter().map(|own| {
        let name = match plan.questions.len() {
            1 => String::new(),
            _ => format!("{}: ", own.name),
        };
        let all = describe::mechanism_and_parameters(&own.mechanism);
        // The first parameter determines the size of a report.
        name + &all.split(", ").take(2).collect::<Vec<_>>().join(", ")
    });
    vec![
        plan.verdict.text.clone(),
        format!(
            "{} people report once each{days}. The local ε = {} protects {}: {}.",
            plan.people,
            round_up_to_three_digits(plan.epsilon),
            plan.protects,
            describe::guess_certainty_phrase(plan.epsilon)
        ),
        central,
        format!(
            "Best mechanism: {}.",
            mechanisms.collect::<Vec<_>>().join("; ")
        ),
        describe::task_fingerprint_sentence(file, &plan.task.fingerprint().to_string(), labels),
    ]
}

/// Writes the details of a plan.
pub(super) fn write_plan_details(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    writeln!(
        out,
        "local ε      {} planned, {} spent by each report (rounded up)",
        plan.epsilon, plan.effective_epsilon
    )?;
    if let Some(times) = plan.together_over_drawn {
        writeln!(
            out,
            "together     all questions as one of kind \"together\" would take {times:.2} times the people, of all answers in sum"
        )?;
    }
    for question in &plan.questions {
        write_planned_question(out, question)?;
    }
    if !plan.others.is_empty() {
        write_mechanism_table(out, plan)?;
    }
    writeln!(out, "\n{}", plan.assumes)
}

fn write_planned_question(out: &mut dyn Write, own: &QuestionPlan) -> io::Result<()> {
    let name = Some(&own.name).filter(|name| !name.is_empty());
    writeln!(
        out,
        "\n{}{}, answered by {:.0} reports, {:.1}% of all",
        name.map_or_else(String::new, |name| format!("{name}: ")),
        own.kind,
        own.reports,
        100.0 * own.share
    )?;
    let mechanism = describe::mechanism_and_parameters(&own.mechanism);
    writeln!(out, "  mechanism  {mechanism}")?;
    if let Some(other) = &own.on_average {
        let other = describe::mechanism_and_parameters(other);
        writeln!(
            out,
            "             it has the smallest worst-case error; if a task file leaves the \
             mechanism open, the one with the smallest mean error is chosen: {other}"
        )?;
    }
    if own.errors_of == PlannedEstimateKind::Items {
        writeln!(out, "  sparsity   {}", own.sparsity)?;
    }
    if let Some(cells) = own.cells {
        let what = match own.errors_of {
            PlannedEstimateKind::ConditionalMean => "levels",
            _ => "bins",
        };
        writeln!(out, "  {what:<9}  {cells}")?;
    }
    write_question_errors(out, own)?;
    if let Some(distance) = &own.distance {
        let even = if own.errors_of == PlannedEstimateKind::Share {
            "with answers given evenly, "
        } else {
            ""
        };
        writeln!(out, "  bound      {even}{}", distance.text)?;
    }
    if let Some(times) = own.as_ratings {
        writeln!(
            out,
            "  ratings    the same answers as ratings of items would take {times:.2} times the people"
        )?;
    }
    if let Some(note) = &own.bias_note {
        writeln!(out, "  bias       {note}")?;
    }
    Ok(())
}

/// Writes the errors of a question, and the smallest share that can be distinguished from 0.
fn write_question_errors(out: &mut dyn Write, own: &QuestionPlan) -> io::Result<()> {
    let number = |number: f64| describe::format_significant_digits(number, 3);
    let bias = own.bias.map_or_else(String::new, |bias| match bias {
        0.0 => ", no bias".to_owned(),
        bias => format!(", {} bias", number(bias)),
    });
    let wanted = |wanted: Option<f64>, mark: &str| {
        wanted.map_or_else(String::new, |own| format!(", wanted {mark}{}", number(own)))
    };
    writeln!(
        out,
        "  error      {} standard error of {}{bias}{}",
        number(own.standard_error),
        estimate_name(own),
        wanted(own.wanted_error, "")
    )?;
    writeln!(
        out,
        "  intervals  ±{} for one, ±{} for all at once ({}%){}",
        number(own.half_width),
        number(own.simultaneous_half_width),
        100.0 * DEFAULT_CONFIDENCE,
        wanted(own.wanted_half_width, "±")
    )?;
    for other in &own.numbers {
        let unit = other.unit.as_deref().unwrap_or("");
        let line = format!("{}: ±{} {unit}", other.name, number(other.half_width));
        writeln!(out, "             {}", line.trim_end())?;
    }
    let (answers, give) = match own.errors_of {
        PlannedEstimateKind::Share => ("answers", "give"),
        PlannedEstimateKind::Items => ("items", "have"),
        _ => return Ok(()),
    };
    let seen = |share: f64| {
        let share = 100.0 * share;
        format!(
            "{answers} that {share:.3}% of people {give}, or more, in {DETECTION_POWER} of all cases"
        )
    };
    let seen = own
        .smallest_frequency
        .map_or_else(|| "nothing".to_owned(), seen);
    writeln!(out, "  seen       {seen}")
}

/// Names the estimate whose errors a plan states, with the unit of the estimate.
fn estimate_name(own: &QuestionPlan) -> String {
    let of = own.number_name.as_ref().map(|of| format!(" of {of}"));
    let unit = own.unit.as_ref().map(|unit| format!(", in {unit}"));
    let of_and_unit = of.unwrap_or_default() + &unit.unwrap_or_default();
    match own.errors_of {
        PlannedEstimateKind::Share => "shares, from 0 to 1".to_owned(),
        PlannedEstimateKind::QuantileShare => {
            "the share below the quantile, from 0 to 1".to_owned()
        }
        PlannedEstimateKind::Mean => format!("the mean{of_and_unit}"),
        PlannedEstimateKind::ConditionalMean => format!("the mean{of_and_unit}, within a row"),
        PlannedEstimateKind::Quantile => format!("the quantile{of_and_unit}"),
        PlannedEstimateKind::Items => "all items, on average".to_owned(),
    }
}

/// Writes a table of all mechanisms, each with its best parameters. The chosen mechanism is first.
fn write_mechanism_table(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    writeln!(
        out,
        "\nevery mechanism at its best, for the same people and privacy:"
    )?;
    let mut rows = vec![
        "mechanism\tsparsity\tlocal ε\terror\tof bias\tpeople, for that error\tprotects".to_owned(),
    ];
    let error = |error| describe::format_decimals(error, 5);
    for own in &plan.questions {
        rows.push(format!(
            "* {}\t{}\t{:.4}\t{:.5}\t{}\t{}\t{}",
            own.mechanism.name(),
            own.sparsity,
            plan.epsilon,
            own.error,
            error(own.bias),
            plan.people,
            plan.protects
        ));
    }
    for own in &plan.others {
        rows.push(format!(
            "  {}\t{}\t{:.4}\t{}\t{}\t{}\t{}",
            own.mechanism.name(),
            own.sparsity,
            own.epsilon,
            error(own.error),
            error(own.bias),
            describe::format_decimals(own.people, 0),
            own.protects
        ));
    }
    write_aligned_rows(out, &rows)
}
