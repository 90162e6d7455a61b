//! Maximum influence on a sum of one person who violates the protocol.

use hushbin::sums::{Measure, SumTask};
use serde::Serialize;

use super::estimate::noise_deviation;
use super::items::{label, scale};
use crate::estimate::Label;

/// Maximum influence on a sum of one person whose upload contains all that the shuffler accepts:
/// k·L + `noise` equal messages.
///
/// Source: the norms of the frame's rows, 1/√2, and the limit of messages. Messages are sealed, so
/// the shuffler cannot limit those of one coordinate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct SumInfluence {
    /// Item whose sum is moved; `None` for a vector, where the Euclidean length of the sum's move
    /// counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional, type = "string"))]
    pub item: Option<Label>,
    /// Unit, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub unit: Option<String>,
    /// Maximum move of the sum by an honest person: from one end of the range to the other.
    pub honest: f64,
    /// Maximum move of the sum by a dishonest person, compared with the sum without this person.
    pub dishonest: f64,
    /// Number of people of the batches that may be dishonest, by the task's honest fraction.
    pub people: u64,
    /// Maximum move by all dishonest people.
    pub all: f64,
    /// Maximum move by all, as a multiple of the standard error of the noise. For a vector, of the
    /// length of its noise.
    pub(crate) standard_errors: f64,
}

impl SumInfluence {
    /// Returns the influence for every item of a task, or for its vector, if `people` take part.
    #[must_use]
    pub fn of(task: &SumTask, people: f64) -> Vec<Self> {
        let messages = task.messages();
        let coordinates = f64::from(task.measure().coordinates());
        let drawn = f64::from(messages.drawn());
        // In units of a coordinate's 1, with all messages about one coordinate.
        let most = f64::from(messages.count()) / f64::from(messages.levels()) * coordinates / drawn;
        let dishonest = (people * (1.0 - task.parts().honest_fraction)).ceil();
        let noise = noise_deviation(task, people);
        let of = |item, unit, honest, one: f64, error: f64| Self {
            item,
            unit,
            honest,
            dishonest: one,
            people: dishonest as u64,
            all: dishonest * one,
            standard_errors: dishonest * one / error,
        };
        match task.measure() {
            Measure::Box(items, limits) => {
                let number = |(index, own): (usize, &hushbin::task::Limits)| {
                    let half = scale(task, index).half;
                    let unit = own.unit().map(str::to_owned);
                    let name = Some(label(items, index));
                    of(name, unit, 2.0 * half, half * most, half * noise)
                };
                limits.iter().enumerate().map(number).collect()
            }
            Measure::Ball(ball) => {
                let row = ball.length() * ball.bound() * 0.5_f64.sqrt();
                let length = ball.length() * ball.bound() * noise;
                let error = length * f64::from(ball.dimension()).sqrt();
                vec![of(None, None, 2.0 * ball.length(), row * most, error)]
            }
        }
    }
}
