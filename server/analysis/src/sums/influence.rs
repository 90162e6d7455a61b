//! Maximum influence of dishonest people on sums. A dishonest person violates the protocol.

use hushbin::sums::{SumTask, SummedQuantity};
use serde::Serialize;

use super::counted::CountedTask;
use super::estimate::noise_standard_deviation;
use super::items::{answer_scale, item_label, unit_steps};
use crate::estimate::ItemLabel;

/// Maximum influence of one person on one sum. The person's upload is the worst that the shuffler
/// accepts: k·L + B equal messages, where k is the number of reported coordinates, L the number of
/// levels and B the maximum number of noise messages.
///
/// The influence is computed from the limit on the number of messages. Messages are encrypted, so
/// the shuffler cannot limit the messages of one coordinate. For a vector, the rows of the frame
/// have norm 1/√2.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct SumInfluence {
    /// Item whose sum changes. `None` for a vector: its changes are stated as Euclidean lengths of
    /// the summed vector's change. Also `None` for counted questions, where the sum is the number of
    /// people behind any one item.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional, type = "string"))]
    pub item: Option<ItemLabel>,
    /// Unit of the sum, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub unit: Option<String>,
    /// Maximum change of the sum by an honest person: from one end of the range to the other.
    pub honest_change: f64,
    /// Maximum change of the sum by a dishonest person, compared with the sum without this person.
    pub dishonest_change: f64,
    /// Number of people who may be dishonest according to the task's honest fraction.
    pub dishonest_people: u64,
    /// Maximum change by all dishonest people together.
    pub total_change: f64,
    /// `total_change`, as a multiple of the standard error that noise messages cause. For a vector, a
    /// multiple of the root mean squared length of the noise.
    pub(crate) total_standard_errors: f64,
}

impl SumInfluence {
    /// Computes the influence on the sum of every item of a task, or on its vector, if `people`
    /// people participate.
    #[must_use]
    pub fn for_task(task: &SumTask, people: f64) -> Vec<Self> {
        let dishonest = (people * (1.0 - task.task_fields().honest_fraction)).ceil();
        if let Some(counted) = CountedTask::of_task(task) {
            let (one, error) = (counted.most_moved(), people * counted.share_error(people));
            return vec![Self {
                item: None,
                unit: None,
                honest_change: 1.0,
                dishonest_change: one,
                dishonest_people: dishonest as u64,
                total_change: dishonest * one,
                total_standard_errors: dishonest * one / error,
            }];
        }
        let messages = unit_steps(task);
        let coordinates = f64::from(task.summed_quantity().coordinate_count());
        let drawn = f64::from(messages.drawn_coordinate_count());
        // Change of one coordinate, whose values are from −1 to 1, if all messages are about it.
        let most = f64::from(messages.message_count()) / f64::from(messages.messages_per_unit())
            * coordinates
            / drawn;
        let noise = noise_standard_deviation(task, people);
        let of = |item, unit, honest, one: f64, error: f64| Self {
            item,
            unit,
            honest_change: honest,
            dishonest_change: one,
            dishonest_people: dishonest as u64,
            total_change: dishonest * one,
            total_standard_errors: dishonest * one / error,
        };
        match task.summed_quantity() {
            SummedQuantity::NumbersWithLimits(items, limits) => {
                let number = |(index, own): (usize, &hushbin::task::NumberLimits)| {
                    let half = answer_scale(task, index).half_range;
                    let unit = own.unit().map(str::to_owned);
                    let name = Some(item_label(items, index));
                    of(name, unit, 2.0 * half, half * most, half * noise)
                };
                limits.iter().enumerate().map(number).collect()
            }
            SummedQuantity::BoundedVector(ball) => {
                let row = ball.max_length() * ball.coefficient_bound() * 0.5_f64.sqrt();
                let length = ball.max_length() * ball.coefficient_bound() * noise;
                let error = length * f64::from(ball.dimension()).sqrt();
                vec![of(None, None, 2.0 * ball.max_length(), row * most, error)]
            }
            SummedQuantity::CountedQuestions(_) => Vec::new(),
        }
    }
}
