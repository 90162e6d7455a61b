//! Labels of items, and linear scales of the answers.

use hushbin::Items;
use hushbin::sums::{SumTask, SummedQuantity, UnitStepParameters};

use crate::estimate::ItemLabel;

/// Returns the scale of the answers for the item at index `item`.
pub(super) fn answer_scale(task: &SumTask, item: usize) -> AnswerScale {
    match task.summed_quantity() {
        SummedQuantity::NumbersWithLimits(_, limits) => {
            let [min, max] = limits[item].range();
            AnswerScale {
                half_range: max / 2.0 - min / 2.0,
                midpoint_answer: min / 2.0 + max / 2.0,
            }
        }
        SummedQuantity::BoundedVector(ball) => AnswerScale {
            half_range: ball.max_length(),
            midpoint_answer: 0.0,
        },
        SummedQuantity::CountedQuestions(_) => AnswerScale {
            half_range: 0.5,
            midpoint_answer: 0.5,
        },
    }
}

/// Returns the parameters of the unit messages of a task of numbers or a vector.
///
/// # Panics
/// If the task counts options.
pub(super) fn unit_steps(task: &SumTask) -> &UnitStepParameters {
    let steps = task.message_parameters().unit_steps();
    steps.expect("counted questions are handled before")
}

/// Linear map between answers and the range from −1 to 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerScale {
    /// Half of the distance between minimum and maximum, or the maximum length of a vector.
    pub(super) half_range: f64,
    /// Answer that is mapped to 0.
    pub(super) midpoint_answer: f64,
}

/// Returns the label of the item at `index`.
pub(super) fn item_label(items: &Items, index: usize) -> ItemLabel {
    match items {
        Items::Named(names) => ItemLabel::Name(names[index].clone()),
        Items::Count(_) | Items::Open(_) => ItemLabel::Index(index as u64),
    }
}
