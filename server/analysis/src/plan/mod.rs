//! The planner: from what is known and wanted to a task, its errors, its privacy and the number
//! of people it takes.
//!
//! Any two of people, privacy and accuracy give the third. Errors are those that the core and
//! [`estimate`] predict, and the shuffled ε is that of [`accounting`]. A task with one question
//! is a survey of one.
//!
//! [`accounting`]: crate::accounting
//! [`estimate`]: crate::estimate

mod answer;
mod compose;
mod error;
mod goal;
mod ratings;
mod reach;
mod search;
mod survey;
mod words;

pub use answer::{Alternative, NumberError, Plan, QuestionPlan, Unknown, Verdict, VerdictKind};
pub use error::PlanError;
pub use goal::ErrorsOf;
pub use search::{GridChoice, GridGoal, grid};
pub use survey::{
    CENTRAL_EPSILON, DEFAULT_ID, LOCAL_EPSILON, PEOPLE_PER_DAY, POWER, QUANTILE, SMALLEST,
    STANDARD_ERROR, Survey, Wanted,
};

use hushbin::bounds::{EPSILON, PEOPLE};

use crate::numeric::roots::{geometric, secant_falling, try_bisect};
use search::{Budget, search, times_wanted};
use words::grouped;

/// Plans a survey.
///
/// ```
/// use hushbin_analysis::plan::{Survey, plan};
///
/// let survey: Survey = serde_json::from_str(r#"{
///     "questions": [{ "name": "beta", "kind": "flag" }],
///     "wanted": { "beta": { "within": 0.01 } }, "epsilon": 1.0
/// }"#).unwrap();
/// // e/(e − 1)² · (1.96/0.01)², to three digits.
/// assert_eq!(plan(&survey).unwrap().people, 35_400);
/// ```
///
/// # Errors
/// [`PlanError`] naming the parameter that is wrong, missing or out of reach.
pub fn plan(survey: &Survey) -> Result<Plan, PlanError> {
    survey.check()?;
    let wants = survey.wants_accuracy();
    let budget = Budget::new(survey.epsilon, survey.central_epsilon);
    let (solved_for, people, budget) = match (survey.people, budget) {
        (Some(people), Some(budget)) => (Unknown::Error, people, budget),
        (None, Some(budget)) if wants => (Unknown::People, fewest(survey, budget)?, budget),
        (Some(people), None) if wants => {
            let epsilon = least_epsilon(survey, people)?;
            let central = None;
            (Unknown::Epsilon, people, Budget { epsilon, central })
        }
        _ => return Err(PlanError::Underspecified),
    };
    let Some(planned) = search(survey, people, budget)? else {
        return Err(PlanError::OutOfReach(format!(
            "no mechanism hides a report among {} shuffled ones to a shuffled ε of {} at δ = {:e}",
            grouped(people),
            budget.central.unwrap_or_default(),
            survey.delta
        )));
    };
    let missed = || {
        let local = budget.central.is_none();
        let epsilon = local.then(|| least_epsilon(survey, people).ok()).flatten();
        words::takes(fewest(survey, budget).ok(), survey.people_per_day, epsilon)
    };
    Plan::new(survey, &planned, solved_for, people, missed)
}

/// Relative precision of people and ε found, which are then rounded up to three digits.
const PRECISION: f64 = 1e-3;

/// Finds the least number of people, to three digits, for whom every error is at most what is
/// wanted.
///
/// With more people the noise falls, and a larger batch hides better, so that no choice is lost.
fn fewest(survey: &Survey, budget: Budget) -> Result<u64, PlanError> {
    let most = PEOPLE.max;
    let found = if budget.central.is_none() && survey.open().is_none() {
        // The choice does not depend on people, and variance falls as one over their number.
        let people = times_wanted(survey, 1.0, budget)?.max(1.0);
        (people <= most).then_some(people)
    } else {
        let excess = |people: f64| -> Result<f64, PlanError> {
            // Two are the least that hide each other.
            if budget.central.is_some() && people * survey.honest_fraction < 2.0 {
                return Ok(f64::INFINITY);
            }
            Ok(times_wanted(survey, people, budget)?.ln())
        };
        secant_falling(&excess, [1.0, most], 10_000.0, PRECISION)?
    };
    let people = found.ok_or_else(|| {
        PlanError::OutOfReach(format!(
            "no number of people up to {most:e} brings every error to what is wanted"
        ))
    })?;
    Ok(round_up(people).round() as u64)
}

/// Finds the least local ε, to three digits, at which every error is at most what is wanted.
fn least_epsilon(survey: &Survey, people: u64) -> Result<f64, PlanError> {
    let excess = |epsilon: f64| -> Result<f64, PlanError> {
        let central = None;
        Ok(times_wanted(survey, people as f64, Budget { epsilon, central })?.ln())
    };
    let (least, most) = (EPSILON.min, EPSILON.max);
    let found = secant_falling(&excess, [least, most], 1.0, PRECISION)?.ok_or_else(|| {
        PlanError::OutOfReach(format!(
            "not even a local ε of {most} brings every error of {} people to what is wanted: it \
             takes more people",
            grouped(people)
        ))
    })?;
    if survey.open().is_some() {
        // The least average error falls with ε.
        return Ok(round_up(found).min(most));
    }
    // The greatest error over all answers falls with ε, but not where other parameters are
    // chosen, which lessen the average. So a smaller ε may be enough as well.
    let below = |step: i32| found * STEP_BELOW.powi(step);
    let (mut enough, mut less) = (found, below(1));
    for step in 1..=STEPS_BELOW {
        let epsilon = below(step);
        if epsilon >= least && excess(epsilon)? <= 0.0 {
            (enough, less) = (epsilon, below(step + 1));
        }
    }
    let does = |epsilon: f64| Ok::<_, PlanError>(excess(epsilon)? <= 0.0);
    let (enough, _) = try_bisect(enough, less.max(least), geometric(PRECISION), does)?;
    Ok(round_up(enough).min(most))
}

/// Ratio of the steps in which a smaller ε is tried, and their number: down to two thirds.
const STEP_BELOW: f64 = 0.97;
const STEPS_BELOW: i32 = 14;

/// Rounds up to three digits.
fn round_up(number: f64) -> f64 {
    let digits = 2 - number.log10().floor() as i32;
    let unit = 10_f64.powi(digits.abs());
    // A number within a rounding of three digits stays.
    if digits >= 0 {
        (number * unit * (1.0 - 1e-12)).ceil() / unit
    } else {
        (number / unit * (1.0 - 1e-12)).ceil() * unit
    }
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
