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
mod question;

pub use answer::{Answer, Offer, Unknown, Verdict, VerdictKind};
pub use question::{
    CENTRAL_EPSILON, CONFIDENCE, LOCAL_EPSILON, PEOPLE_PER_DAY, POWER, PlanError, Question,
    SMALLEST, STANDARD_ERROR,
};

use hushbin::bounds::EPSILON;

use answer::{MOST_PEOPLE, Reach, assumes, digits, grouped, people_for};
use choose::{Budget, Choice, choices};

/// Relative precision of what is solved for, which is then rounded up to three
/// digits.
const PRECISION: f64 = 1e-3;

/// Answers a question.
///
/// ```
/// use hushbin_server::plan::{Question, VerdictKind, plan};
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
    let reach = Reach::of(question);
    let to_see = question
        .smallest
        .map(|frequency| reach.error_to_see(frequency));
    let wanted = match (question.standard_error, to_see) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let budget = Budget::of(question);
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
        return Err(nothing_hides(question, people));
    };
    let Some(error) = error_of(best) else {
        return Err(PlanError::OutOfReach(
            "no mechanism answers this without a bias that was not accepted".to_owned(),
        ));
    };
    let offer = |choice: &Choice| answer::Offer::of(question, &reach, choice, people, error);
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
        verdict: Verdict::of(question, &picked, missed),
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

/// The least error; `None` where nothing answers or hides.
fn least_error(
    question: &Question,
    people: u64,
    budget: Budget,
) -> Result<Option<(f64, Choice)>, PlanError> {
    let best = choices(question, people, budget)?.into_iter().next();
    Ok(best.and_then(|choice| Some((error_of(&choice)?, choice))))
}

fn nothing_hides(question: &Question, people: u64) -> PlanError {
    PlanError::OutOfReach(format!(
        "no mechanism hides a report among {} shuffled ones to central_epsilon = {} at delta = {:e}",
        grouped(people),
        question.central_epsilon.unwrap_or_default(),
        question.delta
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
/// With more people the noise falls; a batch of more hides better, so that no
/// choice is lost. The bracket is narrowed where the best choice at its upper end
/// would need fewer, or else halved.
fn fewest(question: &Question, budget: Budget, wanted: f64) -> Result<u64, PlanError> {
    let (mut low, mut high) = (1_u64, MOST_PEOPLE);
    // Two are the least that hide each other.
    let hidden = |people: u64| people as f64 * question.honest_fraction >= 2.0;
    let enough = |people: u64| -> Result<Option<f64>, PlanError> {
        if budget.central.is_some() && !hidden(people) {
            return Ok(None);
        }
        Ok(least_error(question, people, budget)?
            .filter(|(error, _)| *error <= wanted)
            .and_then(|(_, choice)| people_for(&choice.predicted?, people, wanted)))
    };
    let mut guess = 10_000;
    while (high - low) as f64 > PRECISION * high as f64 {
        guess = guess.clamp(low + 1, high - 1);
        if let Some(needed) = enough(guess)? {
            high = guess;
            // A little more, to bracket what is needed from above.
            guess = (needed * (1.0 + 0.5 * PRECISION)).ceil() as u64;
            if guess >= high || (high - guess) as f64 <= 0.4 * PRECISION * high as f64 {
                guess = (high as f64 * (1.0 - 0.9 * PRECISION)) as u64;
            }
        } else {
            low = guess;
            guess = (low as f64 * high as f64).sqrt() as u64;
            if high == MOST_PEOPLE {
                guess = guess.min(low.saturating_mul(8));
            }
        }
    }
    if high == MOST_PEOPLE && enough(high)?.is_none() {
        return Err(PlanError::OutOfReach(format!(
            "no number of people up to {MOST_PEOPLE:e} brings the error to {}",
            digits(wanted, 3)
        )));
    }
    Ok((round_up(high as f64).round() as u64).min(MOST_PEOPLE))
}

/// The least local ε, to three digits, at which the error is at most `wanted`.
fn least_epsilon(question: &Question, people: u64, wanted: f64) -> Result<f64, PlanError> {
    let enough = |epsilon: f64| -> Result<bool, PlanError> {
        let central = None;
        let least = least_error(question, people, Budget { epsilon, central })?;
        Ok(least.is_some_and(|(error, _)| error <= wanted))
    };
    if !enough(EPSILON.max)? {
        return Err(PlanError::OutOfReach(format!(
            "not even epsilon = {} brings the error of {} people to {}: it takes more people",
            EPSILON.max,
            grouped(people),
            digits(wanted, 3)
        )));
    }
    let (mut low, mut high) = (EPSILON.min, EPSILON.max);
    if enough(low)? {
        return Ok(low);
    }
    while high - low > PRECISION * high {
        let middle = (low * high).sqrt();
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(round_up(high).min(EPSILON.max))
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
        (None, Ok(epsilon)) => format!(", or a local epsilon of {}", digits(epsilon, 3)),
        _ => String::new(),
    };
    format!(
        "The error is {}, not the {} wanted: {more}{epsilon}.",
        digits(error, 3),
        digits(wanted, 3)
    )
}
