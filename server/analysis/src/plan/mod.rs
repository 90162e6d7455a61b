//! Planner: computes a task, its errors, its privacy and the number of people that it needs.
//!
//! Any two of people, privacy and accuracy give the third. Errors are those that the core and
//! [`estimate`] predict, and the shuffled ε is that of [`accounting`]. A task with one question is
//! a survey of one.
//!
//! [`accounting`]: crate::accounting [`estimate`]: crate::estimate

mod answer;
mod compose;
mod error;
mod goal;
mod half_widths;
mod ratings;
mod search;
mod survey;
mod words;

pub use answer::{Alternative, NumberError, Plan, QuestionPlan, Unknown, Verdict, VerdictKind};
pub use error::PlanError;
pub use goal::ErrorsOf;
pub use survey::{AccuracyGoal, DEFAULT_ID, LOCAL_EPSILON, POWER, Survey};

use hushbin::bounds::{EPSILON, PEOPLE};

use crate::numeric::digits::round_up;
use crate::numeric::roots::{geometric, secant_falling, try_bisect};
use search::{PRECISION, Search, fewest_of, none_are_enough};
use survey::Privacy;
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
    let search = Search::new(survey)?;
    let (solved_for, people, privacy) = match (survey.people, survey.privacy()) {
        (Some(people), Some(privacy)) => (Unknown::Error, people, privacy),
        (None, Some(privacy)) if wants => {
            let people = fewest(&search, privacy, survey.honest_fraction)?;
            (Unknown::People, people, privacy)
        }
        (Some(people), None) if wants => {
            let epsilon = least_epsilon(&search, people)?;
            (Unknown::Epsilon, people, Privacy::local(epsilon))
        }
        _ => return Err(PlanError::Underspecified),
    };
    let Some(planned) = search.best(people, privacy)? else {
        return Err(PlanError::OutOfReach(format!(
            "no mechanism hides a report among {} shuffled ones to a shuffled ε of {} at δ = {:e}",
            grouped(people),
            privacy.central.unwrap_or_default(),
            survey.delta
        )));
    };
    let missed = || {
        let local = privacy.central.is_none();
        words::takes(
            fewest(&search, privacy, survey.honest_fraction).ok(),
            survey.people_per_day,
            local.then(|| least_epsilon(&search, people).ok()).flatten(),
        )
    };
    Plan::new(survey, &planned, solved_for, people, missed)
}

/// Logarithm of the ratio of two errors that differ by roundings of floating point alone.
const EXACT: f64 = 1e-9;

/// Finds the least number of people, to three digits, for which every error is at most the wanted
/// one.
///
/// With more people the noise falls and a larger batch hides better, so no choice is lost.
fn fewest(search: &Search<'_>, privacy: Privacy, honest_fraction: f64) -> Result<u64, PlanError> {
    let most = PEOPLE.max;
    // The choice depends on the number of people if a batch is to hide reports, or if the mechanism
    // is open.
    let planned = if privacy.central.is_none() && !search.is_open() {
        search.best(1, privacy)?
    } else {
        None
    };
    let excess = |people: f64| -> Result<f64, PlanError> {
        // At least two people are needed to hide each other.
        if privacy.central.is_some() && people * honest_fraction < 2.0 {
            return Ok(f64::INFINITY);
        }
        let times = match &planned {
            Some(planned) => planned.times_wanted(people),
            None => search.times_wanted(people, privacy)?,
        };
        Ok(times.ln())
    };
    let people = match planned.as_ref().filter(|own| !own.is_simulated()) {
        // Variance falls as one over the number of people.
        Some(planned) => {
            let people = planned.times_wanted(1.0).max(1.0);
            Some(people)
                .filter(|own| *own <= most)
                .ok_or_else(none_are_enough)?
        }
        None => fewest_of(&excess)?,
    };
    Ok(rounded(&excess, |people| round_up(people).ceil(), people, most)? as u64)
}

/// Rounds up a number that is enough.
///
/// At the rounded number other parameters may be chosen. So rounding continues until the result is
/// enough.
fn rounded(
    excess: &impl Fn(f64) -> Result<f64, PlanError>,
    round_up: impl Fn(f64) -> f64,
    found: f64,
    most: f64,
) -> Result<f64, PlanError> {
    let mut enough = round_up(found);
    while enough < most && excess(enough)? > EXACT {
        // The factor adds less than one of the last digit.
        enough = round_up(enough * 1.0001);
    }
    Ok(enough.min(most))
}

/// Finds the least local ε, to three digits, at which every error is at most the wanted one.
fn least_epsilon(search: &Search<'_>, people: u64) -> Result<f64, PlanError> {
    let excess = |epsilon: f64| -> Result<f64, PlanError> {
        let times = search.times_wanted(people as f64, Privacy::local(epsilon))?;
        Ok(times.ln())
    };
    let (least, most) = (EPSILON.min, EPSILON.max);
    let found = secant_falling(&excess, [least, most], 1.0, PRECISION)?.ok_or_else(|| {
        PlanError::OutOfReach(format!(
            "not even a local ε of {most} brings every error of {} people to what is wanted: it \
             takes more people",
            grouped(people)
        ))
    })?;
    if search.is_open() {
        // The least average error falls with ε.
        return rounded(&excess, round_up, found, most);
    }
    // The greatest error over all answers falls with ε, except where other parameters are chosen to
    // lower the average. So a smaller ε may suffice as well.
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
    rounded(&excess, round_up, enough, most)
}

/// Ratio of the downward ε search: 14 steps of 0.97 reach two thirds.
const STEP_BELOW: f64 = 0.97;
/// Number of steps of the downward ε search.
const STEPS_BELOW: i32 = 14;
