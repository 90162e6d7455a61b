//! How far one person who does not keep to the protocol moves a sum.

use hushbin::sums::{Measure, SumTask};
use serde::Serialize;

use super::estimate::noise_deviation;
use super::items::{label, scale};
use crate::estimate::Label;

/// By how much one person moves a sum that sends all that a shuffler takes of one upload, at
/// worst: k·L + `noise` messages that all say the same.
///
/// Source: the norms of the frame's rows, 1/√2, and the limit of messages. The messages being
/// sealed, the shuffler cannot limit those of one coordinate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct SumInfluence {
    /// The item whose sum is moved; `None` of a vector, whose sum's Euclidean length is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional, type = "string"))]
    pub item: Option<Label>,
    /// The unit, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub unit: Option<String>,
    /// By how much an honest person moves the sum at most: from one end to the other.
    pub honest: f64,
    /// By how much a dishonest one moves it at most, from what it is without them.
    pub dishonest: f64,
    /// People of the batches that may be dishonest, by the task's honest fraction.
    pub people: u64,
    /// By how much all of these move it at most.
    pub all: f64,
    /// The same as a multiple of the standard error of the noise; of a vector, of its length.
    pub(crate) standard_errors: f64,
}

impl SumInfluence {
    /// Of every item of a task, or of its vector, of whose sum `people` are.
    #[must_use]
    pub fn of(task: &SumTask, people: f64) -> Vec<Self> {
        let messages = task.messages();
        let coordinates = f64::from(task.measure().coordinates());
        let drawn = f64::from(messages.drawn());
        // In units of a coordinate's 1, all of them about one coordinate.
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
