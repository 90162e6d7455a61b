//! The planner: from what is known and wanted to a task, the error to expect,
//! the privacy that is left and how many people it takes.
//!
//! Errors are those that the core predicts for every mechanism
//! ([`hushbin::Mechanism::predict`]), the shuffled ε is [`accounting`]'s: nothing
//! is estimated a second way here. The three quantities trade against each
//! other: any two of people, privacy and accuracy give the third.
//!
//! [`accounting`]: crate::accounting

mod answer;
mod choose;
mod grid;
mod question;
mod survey;

pub use answer::{Answer, Offer, Unknown, Verdict, VerdictKind};
pub use grid::{GridChoice, GridGoal, grid};
pub use question::{
    CENTRAL_EPSILON, DEFAULT_ID, LOCAL_EPSILON, PEOPLE_PER_DAY, POWER, PlanError, Question,
    SMALLEST, STANDARD_ERROR,
};
pub use survey::{
    ErrorsOf, NumberError, QUANTILE, QuestionAnswer, Survey, SurveyAnswer, Wanted, survey,
};

use hushbin::bounds::{EPSILON, PEOPLE};

use crate::numeric::roots::secant_falling;
use answer::{Reach, assumes, digits, grouped};
use choose::{Budget, Choice, choices};

/// Relative precision of what is solved for, which is then rounded up to three
/// digits.
const PRECISION: f64 = 1e-3;

/// Answers a question.
///
/// ```
/// use hushbin_analysis::plan::{Question, VerdictKind, plan};
///
/// let question: Question = serde_json::from_str(
///     r#"{ "items": 1378, "sparsity": 6, "epsilon": 1.0, "people": 50000 }"#,
/// ).unwrap();
/// let answer = plan(&question).unwrap();
/// // On average an item is had by 6/1378 of people.
/// assert_eq!(answer.verdict.kind, VerdictKind::FrequentOnly);
/// ```
///
/// # Errors
/// [`PlanError`], naming what was wrong, what is missing, or what cannot be
/// reached.
pub fn plan(question: &Question) -> Result<Answer, PlanError> {
    question.check()?;
    let reach = Reach::new(question.items.count().unwrap_or(1));
    let to_see = question
        .smallest
        .map(|frequency| reach.error_to_see(frequency));
    let wanted = match (question.standard_error, to_see) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let budget = Budget::new(question.epsilon, question.central_epsilon);
    let (solved_for, people, budget) = match (question.people, budget, wanted) {
        (Some(people), Some(budget), _) => (Unknown::Error, people, budget),
        (None, Some(budget), Some(wanted)) => {
            (Unknown::People, fewest(question, budget, wanted)?, budget)
        }
        (Some(people), None, Some(wanted)) => {
            let epsilon = least_epsilon(question, people, wanted)?;
            let central = None;
            (Unknown::Epsilon, people, Budget { epsilon, central })
        }
        _ => return Err(PlanError::Underspecified),
    };
    let found = choices(question, people, budget)?;
    let Some((best, others)) = found.split_first() else {
        let central = question.central_epsilon.unwrap_or_default();
        return Err(nothing_hides(people, central, question.delta));
    };
    let Some(error) = error_of(best) else {
        return Err(PlanError::OutOfReach(
            "no mechanism answers this without a bias that was not accepted".to_owned(),
        ));
    };
    let offer = |choice: &Choice| answer::Offer::new(question, &reach, choice, people, error);
    let picked = offer(best)?;
    let missed = match wanted {
        Some(wanted) if error > wanted => Some(missed(question, people, budget, error, wanted)),
        _ => None,
    };
    Ok(Answer {
        solved_for,
        people,
        days: question.people_per_day.map(|day| people as f64 / day),
        task: best.task(question)?,
        verdict: Verdict::new(question, &picked, missed),
        assumes: assumes(question, &picked),
        picked,
        others: others.iter().map(offer).collect::<Result<_, _>>()?,
        wanted,
    })
}

/// The root of what is expected, where it is what counts.
fn error_of(choice: &Choice) -> Option<f64> {
    let squared = choice.squared_error();
    squared.is_finite().then(|| squared.sqrt())
}

fn nothing_hides(people: u64, central_epsilon: f64, delta: f64) -> PlanError {
    PlanError::OutOfReach(format!(
        "no mechanism hides a report among {} shuffled ones to a shuffled ε of {central_epsilon} at \
         δ = {delta:e}",
        grouped(people),
    ))
}

/// Rounded up to three digits.
fn round_up(number: f64) -> f64 {
    let digits = 2 - number.log10().floor() as i32;
    let unit = 10_f64.powi(digits.abs());
    // What is within a rounding of three digits stays.
    if digits >= 0 {
        (number * unit * (1.0 - 1e-12)).ceil() / unit
    } else {
        (number / unit * (1.0 - 1e-12)).ceil() * unit
    }
}

/// The least number of people, to three digits, for whom the error is at most
/// `wanted`.
///
/// With more people the noise falls, and a batch of more hides better, so that no
/// choice is lost.
fn fewest(question: &Question, budget: Budget, wanted: f64) -> Result<u64, PlanError> {
    let excess = |people: f64| -> Result<f64, PlanError> {
        // Two are the least that hide each other.
        if budget.central.is_some() && people * question.honest_fraction < 2.0 {
            return Ok(f64::INFINITY);
        }
        excess(question, people as u64, budget, wanted)
    };
    let most = PEOPLE.max;
    let found = secant_falling(&excess, [1.0, most], 10_000.0, PRECISION)?.ok_or_else(|| {
        PlanError::OutOfReach(format!(
            "no number of people up to {most:e} brings the error to {}",
            digits(wanted, 3)
        ))
    })?;
    Ok(round_up(found).round() as u64)
}

/// The least local ε, to three digits, at which the error is at most `wanted`.
fn least_epsilon(question: &Question, people: u64, wanted: f64) -> Result<f64, PlanError> {
    let excess = |epsilon: f64| {
        let central = None;
        excess(question, people, Budget { epsilon, central }, wanted)
    };
    let (least, most) = (EPSILON.min, EPSILON.max);
    let found = secant_falling(&excess, [least, most], 1.0, PRECISION)?.ok_or_else(|| {
        PlanError::OutOfReach(format!(
            "not even a local ε of {most} brings the error of {} people to {}: it takes more people",
            grouped(people),
            digits(wanted, 3)
        ))
    })?;
    Ok(round_up(found).min(most))
}

/// ln of the squared error over that wanted; infinite where nothing answers.
fn excess(question: &Question, people: u64, budget: Budget, wanted: f64) -> Result<f64, PlanError> {
    let best = choices(question, people, budget)?.into_iter().next();
    let squared = best.map_or(f64::INFINITY, |choice| choice.squared_error());
    Ok((squared / (wanted * wanted)).ln())
}

/// What it would take, in plain words.
fn missed(question: &Question, people: u64, budget: Budget, error: f64, wanted: f64) -> String {
    let days = |people: u64| {
        question.people_per_day.map_or_else(String::new, |day| {
            format!(" ({} days)", grouped((people as f64 / day).ceil() as u64))
        })
    };
    let more = match fewest(question, budget, wanted) {
        Ok(people) => format!("it takes {} people{}", grouped(people), days(people)),
        Err(_) => "no number of people reaches that at this privacy".to_owned(),
    };
    let epsilon = match (budget.central, least_epsilon(question, people, wanted)) {
        (None, Ok(epsilon)) => format!(", or a local ε of {}", digits(epsilon, 3)),
        _ => String::new(),
    };
    format!(
        "The error is {}, not the {} wanted: {more}{epsilon}.",
        digits(error, 3),
        digits(wanted, 3)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_never_below() {
        for (number, rounded) in [
            (1.0, 1.0),
            (123.0, 123.0),
            (123.1, 124.0),
            (99_950.0, 100_000.0),
            (0.034_51, 0.0346),
            (2.64, 2.64),
            (1_234_567.0, 1_240_000.0),
        ] {
            assert_eq!(round_up(number), rounded, "{number}");
        }
    }
}
