//! Planner: finds the best task for a survey, and computes its errors, its privacy and the number
//! of people needed.
//!
//! From any two of people, privacy and accuracy, the planner computes the third. Errors are
//! predicted by the core and by [`estimate`]. The central ε of the shuffled reports is computed by
//! [`accounting`].
//!
//! [`accounting`]: crate::accounting
//! [`estimate`]: crate::estimate

mod assemble;
mod comparison_with_ratings;
mod error;
mod goal;
mod interval_z_scores;
mod plan_result;
mod search;
mod survey;
mod words;

pub use error::PlanError;
pub use goal::PlannedEstimateKind;
pub use plan_result::{
    AlternativeMechanism, NumberError, Plan, PlanVerdict, PlanVerdictKind, QuestionPlan,
    SolvedQuantity,
};
pub use survey::{
    AccuracyGoal, DEFAULT_MAX_LOCAL_EPSILON, DEFAULT_PLANNED_TASK_ID, DETECTION_POWER, Survey,
};

use hushbin::bounds::{EPSILON_RANGE, PEOPLE_COUNT_RANGE};

use crate::numeric::digits::round_up_to_three_digits;
use crate::numeric::roots::{find_root_by_secant, geometric_midpoint_function, try_bisect};
use search::{
    SEARCH_RELATIVE_PRECISION, TaskSearch, sufficient_sample_size, unreachable_accuracy_error,
};
use survey::PrivacyLimits;
use words::format_thousands;

/// Finds the best task for a survey. Computes the number of people, the ε or the errors, whichever
/// the survey leaves out.
///
/// ```
/// use hushbin_analysis::plan::{Survey, plan_survey};
///
/// let survey: Survey = serde_json::from_str(r#"{
///     "questions": [{ "name": "beta", "kind": "flag" }],
///     "wanted": { "beta": { "within": 0.01 } }, "epsilon": 1.0
/// }"#).unwrap();
/// // e/(e − 1)² · (1.96/0.01)² with e = exp(ε), rounded up to three digits.
/// assert_eq!(plan_survey(&survey).unwrap().people, 35_400);
/// ```
///
/// # Errors
/// [`PlanError`] that names the parameter that is invalid, missing or unattainable.
pub fn plan_survey(survey: &Survey) -> Result<Plan, PlanError> {
    survey.validate_survey()?;
    let wants = survey.wants_accuracy();
    let search = TaskSearch::new(survey)?;
    let (solved_for, people, privacy) = match (survey.people, survey.privacy_limits()) {
        (Some(people), Some(privacy)) => (SolvedQuantity::Error, people, privacy),
        (None, Some(privacy)) if wants => {
            let people = find_fewest_people_needed(&search, privacy, survey.honest_fraction)?;
            (SolvedQuantity::People, people, privacy)
        }
        (Some(people), None) if wants => {
            let epsilon = smallest_local_epsilon(&search, people)?;
            (
                SolvedQuantity::Epsilon,
                people,
                PrivacyLimits::local_epsilon_only(epsilon),
            )
        }
        _ => return Err(PlanError::Underspecified),
    };
    let Some(planned) = search.best_task(people, privacy)? else {
        return Err(PlanError::UnattainableGoal(format!(
            "no mechanism hides a report among {} shuffled ones to a shuffled ε of {} at δ = {:e}",
            format_thousands(people),
            privacy.max_central_epsilon.unwrap_or_default(),
            survey.delta
        )));
    };
    let missed = || {
        let local = privacy.max_central_epsilon.is_none();
        words::needed_people_text(
            find_fewest_people_needed(&search, privacy, survey.honest_fraction).ok(),
            survey.people_per_day,
            local
                .then(|| smallest_local_epsilon(&search, people).ok())
                .flatten(),
        )
    };
    Plan::new(survey, &planned, solved_for, people, missed)
}

/// Maximum logarithm of the ratio of two squared errors that differ only by rounding errors.
const LOG_RATIO_ROUNDING_TOLERANCE: f64 = 1e-9;

/// Finds the smallest number of people, rounded up to three digits, for which every error is at
/// most the wanted one.
///
/// With more people, the noise decreases and the central privacy improves, so every task that was
/// possible remains possible.
fn find_fewest_people_needed(
    search: &TaskSearch<'_>,
    privacy: PrivacyLimits,
    honest_fraction: f64,
) -> Result<u64, PlanError> {
    let most = PEOPLE_COUNT_RANGE.max;
    // The best task depends on the number of people if the central ε is limited, or if the
    // mechanism is `auto`.
    let planned = if privacy.max_central_epsilon.is_none() && !search.asks_auto_ratings() {
        search.best_task(1, privacy)?
    } else {
        None
    };
    let excess = |people: f64| -> Result<f64, PlanError> {
        // A batch needs at least two honest people, who hide each other.
        if privacy.max_central_epsilon.is_some() && people * honest_fraction < 2.0 {
            return Ok(f64::INFINITY);
        }
        let times = match &planned {
            Some(planned) => planned.squared_error_to_goal_ratio(people),
            None => search.squared_error_to_goal_ratio(people, privacy)?,
        };
        Ok(times.ln())
    };
    let people = match planned.as_ref().filter(|own| !own.has_simulated_error()) {
        // The variance is inversely proportional to the number of people.
        Some(planned) => {
            let people = planned.squared_error_to_goal_ratio(1.0).max(1.0);
            Some(people)
                .filter(|own| *own <= most)
                .ok_or_else(unreachable_accuracy_error)?
        }
        None => sufficient_sample_size(&excess)?,
    };
    Ok(round_up_to_sufficient_number(
        &excess,
        |people| round_up_to_three_digits(people).ceil(),
        people,
        most,
    )? as u64)
}

/// Rounds up a sufficient number of people, or a sufficient ε. The rounded number is also
/// sufficient.
///
/// At the rounded number, other parameters may be chosen and the error may be larger. So the
/// rounded number is increased until it is sufficient.
fn round_up_to_sufficient_number(
    excess: &impl Fn(f64) -> Result<f64, PlanError>,
    round_up: impl Fn(f64) -> f64,
    found: f64,
    most: f64,
) -> Result<f64, PlanError> {
    let mut enough = round_up(found);
    while enough < most && excess(enough)? > LOG_RATIO_ROUNDING_TOLERANCE {
        // The factor adds less than one unit of the last digit.
        enough = round_up(enough * 1.0001);
    }
    Ok(enough.min(most))
}

/// Finds the smallest local ε, rounded up to three digits, at which every error is at most the
/// wanted one.
fn smallest_local_epsilon(search: &TaskSearch<'_>, people: u64) -> Result<f64, PlanError> {
    let excess = |epsilon: f64| -> Result<f64, PlanError> {
        let times = search.squared_error_to_goal_ratio(
            people as f64,
            PrivacyLimits::local_epsilon_only(epsilon),
        )?;
        Ok(times.ln())
    };
    let (least, most) = (EPSILON_RANGE.min, EPSILON_RANGE.max);
    let found = find_root_by_secant(&excess, [least, most], 1.0, SEARCH_RELATIVE_PRECISION)?.ok_or_else(|| {
        PlanError::UnattainableGoal(format!(
            "not even a local ε of {most} brings every error of {} people to what is wanted: it \
             takes more people",
            format_thousands(people)
        ))
    })?;
    if search.asks_auto_ratings() {
        // The smallest average error decreases with ε, so there is no smaller solution.
        return round_up_to_sufficient_number(&excess, round_up_to_three_digits, found, most);
    }
    // The worst-case error decreases with ε, except where other parameters are chosen to reduce the
    // average error. So a smaller ε may be enough, too.
    let below = |step: i32| found * EPSILON_STEP_FACTOR.powi(step);
    let (mut enough, mut less) = (found, below(1));
    for step in 1..=EPSILON_STEP_COUNT {
        let epsilon = below(step);
        if epsilon >= least && excess(epsilon)? <= 0.0 {
            (enough, less) = (epsilon, below(step + 1));
        }
    }
    let does = |epsilon: f64| Ok::<_, PlanError>(excess(epsilon)? <= 0.0);
    let (enough, _) = try_bisect(
        enough,
        less.max(least),
        geometric_midpoint_function(SEARCH_RELATIVE_PRECISION),
        does,
    )?;
    round_up_to_sufficient_number(&excess, round_up_to_three_digits, enough, most)
}

/// Ratio between successive values of ε in the downward search. 14 steps of 0.97 reach two thirds
/// of ε.
const EPSILON_STEP_FACTOR: f64 = 0.97;
/// Number of steps of the downward ε search.
const EPSILON_STEP_COUNT: i32 = 14;
