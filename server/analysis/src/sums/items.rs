//! Labels of items and the scales of their answers.

use hushbin::Items;
use hushbin::sums::{Measure, SumTask};

use crate::estimate::Label;

/// What one level of a coordinate is worth in a person's answer, and at which answer all
/// coordinates are 0: by the position of the item.
pub(super) fn scale(task: &SumTask, item: usize) -> Scale {
    match task.measure() {
        Measure::Box(_, limits) => {
            let [min, max] = limits[item].range();
            Scale {
                half: max / 2.0 - min / 2.0,
                middle: min / 2.0 + max / 2.0,
            }
        }
        Measure::Ball(ball) => Scale {
            half: ball.length(),
            middle: 0.0,
        },
    }
}

/// Where answers are from −1 to 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// Half of the limits' distance, or the greatest length.
    pub(super) half: f64,
    /// The answer that is 0.
    pub(super) middle: f64,
}

/// What an item in this position is called.
pub(super) fn label(items: &Items, index: usize) -> Label {
    match items {
        Items::Named(names) => Label::Name(names[index].clone()),
        Items::Count(_) | Items::Open(_) => Label::Index(index as u64),
    }
}
