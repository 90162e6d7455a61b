//! Planning for questions by name, each in its own words: of people, privacy and accuracy
//! two give the third.
//!
//! What is drawn for each question is what the core chooses at a local ε, but for shares of
//! which everybody gives one the buckets that are best at the worst; none of it depends on
//! how many people there are, so that the error of a question is its one
//! report's over the root of the reports that answer it. Where every question says how
//! exact it is to be, and none how often it is asked, each is drawn as often as that takes.

mod answer;
mod ask;
mod goal;
mod ratings;
mod task;
mod words;

pub use answer::{NumberError, QuestionAnswer, SurveyAnswer};
pub use ask::{QUANTILE, Survey, Wanted};
pub use goal::ErrorsOf;

use hushbin::bounds::{EPSILON, PEOPLE};

use super::answer::{Unknown, Verdict, grouped};
use super::choose::Budget;
use super::question::PlanError;
use super::{PRECISION, nothing_hides, round_up};
use crate::numeric::roots::{geometric, secant_falling, try_bisect};
use task::Planned;

/// Answers what is asked about questions by name.
///
/// ```
/// use hushbin_analysis::plan::{Survey, survey};
///
/// let asked: Survey = serde_json::from_str(r#"{
///     "questions": [{ "name": "beta", "kind": "flag" }],
///     "wanted": { "beta": { "within": 0.01 } }, "epsilon": 1.0
/// }"#).unwrap();
/// // e/(e − 1)² · (1.96/0.01)², to three digits.
/// assert_eq!(survey(&asked).unwrap().people, 35_400);
/// ```
///
/// # Errors
/// [`PlanError`], naming what was wrong, what is missing, or what cannot be reached.
pub fn survey(survey: &Survey) -> Result<SurveyAnswer, PlanError> {
    survey.check()?;
    let wants = survey.wanted.values().any(|own| own.within.is_some());
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
    let Some(planned) = Planned::within(survey, people, budget)? else {
        return Err(nothing_hides(
            people,
            budget.central.unwrap_or_default(),
            survey.delta,
        ));
    };
    let missed = || {
        let epsilon = least_epsilon(survey, people).ok();
        words::takes(
            fewest(survey, budget).ok(),
            survey.people_per_day,
            epsilon.filter(|_| budget.central.is_none()),
        )
    };
    let verdict = |questions: &[QuestionAnswer]| Verdict::of_survey(questions, missed);
    Ok(SurveyAnswer::new(
        survey, &planned, solved_for, people, verdict,
    ))
}

/// The least number of people, to three digits, for whom every error is at most what is
/// wanted.
fn fewest(survey: &Survey, budget: Budget) -> Result<u64, PlanError> {
    let most = PEOPLE.max;
    let out_of_reach = || {
        PlanError::OutOfReach(format!(
            "no number of people up to {most:e} brings every error to what is wanted"
        ))
    };
    let found = if budget.central.is_none() {
        // Nothing that is chosen depends on people.
        let people = Planned::at(survey, budget.epsilon)?.people().max(1.0);
        (people <= most).then_some(people)
    } else {
        let excess = |people: f64| -> Result<f64, PlanError> {
            // Two are the least that hide each other.
            if people * survey.honest_fraction < 2.0 {
                return Ok(f64::INFINITY);
            }
            let planned = Planned::within(survey, people as u64, budget)?;
            Ok(planned.map_or(f64::INFINITY, |own| (own.people() / people).ln()))
        };
        secant_falling(&excess, [1.0, most], 10_000.0, PRECISION)?
    };
    let people = found.ok_or_else(out_of_reach)?;
    Ok(round_up(people).round() as u64)
}

/// The least local ε, to three digits, at which every error is at most what is wanted.
fn least_epsilon(survey: &Survey, people: u64) -> Result<f64, PlanError> {
    let excess = |epsilon: f64| -> Result<f64, PlanError> {
        Ok((Planned::at(survey, epsilon)?.people() / people as f64).ln())
    };
    let (least, most) = (EPSILON.min, EPSILON.max);
    let found = secant_falling(&excess, [least, most], 1.0, PRECISION)?.ok_or_else(|| {
        PlanError::OutOfReach(format!(
            "not even a local ε of {most} brings every error of {} people to what is wanted: it \
             takes more people",
            grouped(people)
        ))
    })?;
    // The greatest error over all answers falls with ε, but not where other parameters are
    // chosen, which lessen the average: what is below may do as well.
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

/// In steps of this ratio so many smaller ε are tried: to two thirds.
const STEP_BELOW: f64 = 0.97;
const STEPS_BELOW: i32 = 14;
