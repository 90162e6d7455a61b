//! Words of a plan.

use std::io::{self, Write};

use hushbin_analysis::estimate::DEFAULT_CONFIDENCE;
use hushbin_analysis::plan::{ErrorsOf, POWER, Plan, QuestionPlan, Unknown};

use crate::cli::describe;

/// Writes a plan in words.
pub(super) fn write(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    writeln!(out, "{}\n", plan.verdict.text)?;
    write_crowd(out, plan)?;
    for question in &plan.questions {
        write_question(out, plan, question)?;
    }
    if !plan.others.is_empty() {
        write_others(out, plan)?;
    }
    writeln!(out, "\n{}", plan.assumes)
}

/// Marks the quantity that was found.
fn found(plan: &Plan, unknown: Unknown) -> &'static str {
    if plan.solved_for == unknown {
        "  <- found"
    } else {
        ""
    }
}

/// Writes the number of people and what they give away.
fn write_crowd(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    let days = |days: f64| format!(", {} days", days.ceil());
    writeln!(
        out,
        "people       {}{}{}",
        plan.people,
        plan.days.map_or_else(String::new, days),
        found(plan, Unknown::People)
    )?;
    writeln!(
        out,
        "local ε      {}, {} spent by each report (rounded up); protects {}{}",
        plan.epsilon,
        plan.effective_epsilon,
        plan.protects,
        found(plan, Unknown::Epsilon)
    )?;
    match &plan.central {
        Some(central) => writeln!(
            out,
            "shuffled ε   {:.5}, δ = {:e}, among {} reports assumed honest (rounded up)",
            (central.central_epsilon * 1e5).ceil() / 1e5,
            central.delta,
            central.honest_reports
        )?,
        None => {
            let reason = plan.central_reason.as_deref().unwrap_or("unknown");
            writeln!(out, "shuffled ε   none: {reason}")?;
        }
    }
    if let Some(times) = plan.together_over_drawn {
        writeln!(
            out,
            "together     all questions as one of kind \"together\" would take {times:.2} times the people, of all answers in sum"
        )?;
    }
    writeln!(out, "fingerprint  {}", plan.task.fingerprint())
}

fn write_question(out: &mut dyn Write, plan: &Plan, own: &QuestionPlan) -> io::Result<()> {
    let name = Some(&own.name).filter(|name| !name.is_empty());
    writeln!(
        out,
        "\n{}{}, answered by {:.0} reports, {:.1}% of all",
        name.map_or_else(String::new, |name| format!("{name}: ")),
        own.kind,
        own.reports,
        100.0 * own.share
    )?;
    let mechanism = describe::mechanism(&own.mechanism);
    writeln!(out, "  mechanism  {mechanism}")?;
    if let Some(other) = &own.on_average {
        let other = describe::mechanism(other);
        writeln!(
            out,
            "             it errs least at worst; a task file that leaves it open gets the least on average: {other}"
        )?;
    }
    if own.errors_of == ErrorsOf::Items {
        writeln!(out, "  sparsity   {}", own.sparsity)?;
    }
    if let Some(cells) = own.cells {
        let what = match own.errors_of {
            ErrorsOf::ConditionalMean => "levels",
            _ => "bins",
        };
        writeln!(out, "  {what:<9}  {cells}")?;
    }
    write_errors(out, own, found(plan, Unknown::Error))?;
    if let Some(distance) = &own.distance {
        let even = if own.errors_of == ErrorsOf::Share {
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

/// Writes the errors of a question, and what is seen.
fn write_errors(out: &mut dyn Write, own: &QuestionPlan, found: &str) -> io::Result<()> {
    let number = |number: f64| describe::significant(number, 3);
    let bias = own.bias.map_or_else(String::new, |bias| match bias {
        0.0 => ", no bias".to_owned(),
        bias => format!(", {} bias", number(bias)),
    });
    let wanted = |wanted: Option<f64>, mark: &str| {
        wanted.map_or_else(String::new, |own| format!(", wanted {mark}{}", number(own)))
    };
    writeln!(
        out,
        "  error      {} standard error of {}{bias}{}{found}",
        number(own.standard_error),
        estimate(own),
        wanted(own.wanted_error, "")
    )?;
    writeln!(
        out,
        "  intervals  ±{} for one, ±{} for all at once ({}%){}",
        number(own.interval),
        number(own.simultaneous_interval),
        100.0 * DEFAULT_CONFIDENCE,
        wanted(own.wanted, "±")
    )?;
    for other in &own.numbers {
        let unit = other.unit.as_deref().unwrap_or("");
        let line = format!("{}: ±{} {unit}", other.name, number(other.interval));
        writeln!(out, "             {}", line.trim_end())?;
    }
    let (answers, give) = match own.errors_of {
        ErrorsOf::Share => ("answers", "give"),
        ErrorsOf::Items => ("items", "have"),
        _ => return Ok(()),
    };
    let seen = |share: f64| {
        let share = 100.0 * share;
        format!("{answers} that {share:.3}% of people {give}, or more, in {POWER} of all cases")
    };
    let seen = own.smallest.map_or_else(|| "nothing".to_owned(), seen);
    writeln!(out, "  seen       {seen}")
}

/// Names the estimate that errors are for, with its unit.
fn estimate(own: &QuestionPlan) -> String {
    let of = own.of.as_ref().map(|of| format!(" of {of}"));
    let unit = own.unit.as_ref().map(|unit| format!(", in {unit}"));
    let of_and_unit = of.unwrap_or_default() + &unit.unwrap_or_default();
    match own.errors_of {
        ErrorsOf::Share => "shares, from 0 to 1".to_owned(),
        ErrorsOf::QuantileShare => "the share below the quantile, from 0 to 1".to_owned(),
        ErrorsOf::Mean => format!("the mean{of_and_unit}"),
        ErrorsOf::ConditionalMean => format!("the mean{of_and_unit}, within a row"),
        ErrorsOf::Quantile => format!("the quantile{of_and_unit}"),
        ErrorsOf::Items => "all items, on average".to_owned(),
    }
}

/// Writes every mechanism at its best, the picked one first.
fn write_others(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    writeln!(
        out,
        "\nevery mechanism at its best, for the same people and privacy:\n  {:<10}  {:>8}  {:>8}  \
         {:>8}  {:>8}  {:>22}  protects",
        "mechanism", "sparsity", "local ε", "error", "of bias", "people, for that error"
    )?;
    for own in &plan.questions {
        writeln!(
            out,
            "* {:<10}  {:>8}  {:>8.4}  {:>8}  {:>8}  {:>22}  {}",
            own.mechanism.name(),
            own.sparsity,
            plan.epsilon,
            describe::decimals(Some(own.error), 5),
            describe::decimals(own.bias, 5),
            plan.people,
            plan.protects
        )?;
    }
    for other in &plan.others {
        let people = other.people.map(|people| people.to_string());
        writeln!(
            out,
            "  {:<10}  {:>8}  {:>8.4}  {:>8}  {:>8}  {:>22}  {}",
            other.mechanism.name(),
            other.sparsity,
            other.epsilon,
            describe::decimals(other.error, 5),
            describe::decimals(other.bias, 5),
            people.as_deref().unwrap_or("no number"),
            other.protects
        )?;
    }
    Ok(())
}
