//! What a plan comes to, in numbers and in words.

use hushbin::Task;
use hushbin::choose::SquaredError;
use hushbin::mechanism::Mechanism;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::choose::Choice;
use super::question::{POWER, PlanError, Question};
use crate::accounting::{Account, Mixture, account};
use crate::bound::{Distance, distance};
use crate::estimate::{DEFAULT_CONFIDENCE, Quantiles};
use crate::promise::{plan_statement, protects};

/// The answer to a [`Question`](super::Question).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Answer {
    /// What was not given.
    pub solved_for: Unknown,
    /// How many people report, once each.
    pub people: u64,
    /// In so many days they do.
    pub days: Option<f64>,
    /// The complete task.
    #[cfg_attr(feature = "wasm", tsify(type = "{ id: string }"))]
    pub task: Task,
    /// Its mechanism.
    pub picked: Offer,
    /// Every other mechanism at its best, by increasing error.
    pub others: Vec<Offer>,
    /// The greatest error that was wanted.
    pub wanted: Option<f64>,
    /// What that is worth.
    pub verdict: Verdict,
    /// What all of it rests on.
    pub assumes: String,
}

/// The quantity that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum Unknown {
    /// How large the error is.
    Error,
    /// How many people it takes.
    People,
    /// How large the local ε has to be.
    Epsilon,
}

/// A mechanism, with what it does for the people planned for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Offer {
    /// With all its parameters.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "{ name: string } & Record<string, string | number>")
    )]
    pub mechanism: Mechanism,
    /// The sparsity that goes with it.
    pub sparsity: u32,
    /// Local ε.
    pub epsilon: f64,
    /// Local ε realised, rounded up.
    pub effective_epsilon: f64,
    /// What ε is about.
    pub protects: String,
    /// Root mean square of the noise over all items; absent, as all that follows
    /// from it, where the mechanism does not estimate what is wanted.
    pub standard_error: Option<f64>,
    /// Root mean square of the bias over all items, in the worst case; no number
    /// of people lessens it.
    pub bias: Option<f64>,
    /// Root of the mean squared error, of both.
    pub error: Option<f64>,
    /// Half-width of an item's interval.
    pub interval: Option<f64>,
    /// Half-width of intervals that hold for all items simultaneously; of an
    /// open task as for one item.
    pub simultaneous_interval: Option<f64>,
    /// Frequency of the rarest item that is seen; absent where not even one that
    /// everybody has is.
    pub smallest: Option<f64>,
    /// How many people the same error would take as the one that is picked has;
    /// of that one, the people planned for. Absent where no number does.
    pub people: Option<f64>,
    /// How far it is from the best that any mechanism could do at the same local ε, for
    /// people with as many entries of ±1 as the sparsity; absent where there is no
    /// bound to compare with ([`distance`]).
    pub distance: Option<Distance>,
    /// What the shuffled reports give away together.
    pub central: Option<Account>,
    /// Why that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub central_reason: Option<String>,
}

/// What a plan is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct Verdict {
    /// The worst that holds.
    pub kind: VerdictKind,
    /// In plain words.
    pub text: String,
}

/// The kind of a [`Verdict`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// Items that are used as much as the average are seen.
    Useful,
    /// Only items that are used more than the average are seen.
    FrequentOnly,
    /// Nothing is seen.
    Noise,
    /// The error is greater than was wanted.
    Missed,
}

/// How far intervals reach, in standard errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    pub(super) single: f64,
    pub(super) simultaneous: f64,
    /// Of the rarest item that is seen.
    pub(super) seen: f64,
}

impl Reach {
    /// Of so many estimates together.
    pub(super) fn new(items: u32) -> Self {
        let reach = |together| {
            Quantiles::new(DEFAULT_CONFIDENCE, together)
                .expect("the confidence is one")
                .simultaneous()
        };
        let simultaneous = reach(items as usize);
        Self {
            single: reach(1),
            simultaneous,
            seen: simultaneous + Normal::standard().inverse_cdf(POWER),
        }
    }

    /// The error at which an item of this frequency is just seen.
    pub(super) fn error_to_see(&self, frequency: f64) -> f64 {
        frequency / self.seen
    }
}

/// A number of people for whom the error is at most `error`: `predicted` is of
/// `people` of them. `None` where bias alone exceeds it.
fn people_for(predicted: &SquaredError, people: u64, error: f64) -> Option<f64> {
    let room = error * error - predicted.squared_bias;
    // What is whole but for a rounding stays.
    (room > 0.0).then(|| (predicted.variance * people as f64 / room * (1.0 - 1e-12)).ceil())
}

impl Offer {
    pub(super) fn new(
        question: &Question,
        reach: &Reach,
        choice: &Choice,
        people: u64,
        error: f64,
    ) -> Result<Self, PlanError> {
        let task = choice.task(question)?;
        let predicted = choice.predicted;
        let noise = predicted.map(|error| error.variance.sqrt());
        let (central, reason) = central(&task, people, question.honest_fraction, question.delta);
        let candidate = &choice.candidate;
        let mechanism = &candidate.mechanism;
        Ok(Self {
            mechanism: mechanism.clone(),
            sparsity: candidate.sparsity,
            epsilon: task.epsilon(),
            effective_epsilon: task.effective_epsilon(),
            protects: protects(mechanism.neighbours()),
            standard_error: noise,
            bias: predicted.map(|error| error.squared_bias.sqrt()),
            error: predicted.map(|error| error.total().sqrt()),
            interval: noise.map(|noise| noise * reach.single),
            simultaneous_interval: noise.map(|noise| noise * reach.simultaneous),
            smallest: noise.map(|noise| noise * reach.seen).filter(|f| *f <= 1.0),
            people: predicted.and_then(|own| people_for(&own, people, error)),
            distance: distance(
                &question.domain(candidate.sparsity),
                mechanism,
                task.epsilon(),
                &question.objective.objective()?,
            ),
            central,
            central_reason: reason,
        })
    }
}

/// What the shuffled reports give away, or why that is not known.
pub(super) fn central(
    task: &Task,
    people: u64,
    honest_fraction: f64,
    delta: f64,
) -> (Option<Account>, Option<String>) {
    let mixture = match Mixture::for_task(task) {
        Ok(mixture) => mixture,
        Err(error) => return (None, Some(error.to_string())),
    };
    match account(&mixture, people, honest_fraction, delta) {
        Ok(account) => (Some(account), None),
        Err(error) => (None, Some(error.to_string())),
    }
}

/// What the numbers rest on, in plain words.
pub(super) fn assumes(question: &Question, picked: &Offer) -> String {
    format!(
        "Each person sends one report. Errors are averages over all items, for entries of -1 or \
         1. {}",
        plan_statement(picked.mechanism.neighbours(), question.honest_fraction)
    )
}

/// A number in so many digits, or more before the point.
pub(super) fn digits(number: f64, digits: i32) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let places = digits - 1 - number.abs().log10().floor() as i32;
    let text = format!("{number:.*}", places.clamp(0, 12) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A frequency as a percentage.
pub(super) fn percent(frequency: f64) -> String {
    format!("{}%", digits(100.0 * frequency, 2))
}

/// A number of people in groups of three digits.
pub(super) fn grouped(people: u64) -> String {
    let digits = people.to_string();
    let groups: Vec<&str> = (0..digits.len())
        .rev()
        .step_by(3)
        .map(|end| &digits[end.saturating_sub(2)..=end])
        .collect();
    groups.into_iter().rev().collect::<Vec<_>>().join(",")
}

impl Verdict {
    /// `missed` says how what is wanted could be had.
    pub(super) fn new(question: &Question, picked: &Offer, missed: Option<String>) -> Self {
        let items = question.items.count();
        let average = items.map(|items| (question.average_entries() / f64::from(items)).min(1.0));
        let among = match items {
            Some(items) => format!(" among {}", grouped(u64::from(items))),
            None => String::new(),
        };
        let (kind, seen) = match (picked.smallest, average) {
            (None, _) => (
                VerdictKind::Noise,
                format!(
                    "This is noise: not even an item that everybody has would stand out{among}."
                ),
            ),
            (Some(smallest), Some(average)) if smallest > average => (
                VerdictKind::FrequentOnly,
                format!(
                    "Only items that {} of people have, or more, stand out{among}; if all were \
                     equally common, at {} each, they would drown in the noise.",
                    percent(smallest),
                    percent(average)
                ),
            ),
            (Some(smallest), _) => (
                VerdictKind::Useful,
                format!(
                    "Items that {} of people have, or more, stand out{among}.",
                    percent(smallest)
                ),
            ),
        };
        let bias = match (picked.bias, picked.standard_error) {
            (Some(bias), Some(noise)) if bias > noise => {
                " Most of the error is the bias of leaving entries out or clipping, in the worst \
                 case; more people do not lessen it."
            }
            _ => "",
        };
        let (kind, text) = match (kind, missed) {
            (VerdictKind::Noise, Some(missed)) => (kind, format!("{seen} {missed}")),
            (_, Some(missed)) => (VerdictKind::Missed, format!("{missed} {seen}")),
            (_, None) => (kind, seen),
        };
        Self {
            kind,
            text: format!("{text}{bias}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        for (people, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(people), text);
        }
        for (number, text) in [
            (0.0, "0"),
            (0.0123, "0.012"),
            (1.0, "1"),
            (1.26, "1.3"),
            (12.3, "12"),
            (1230.0, "1230"),
        ] {
            assert_eq!(digits(number, 2), text);
        }
    }
}
