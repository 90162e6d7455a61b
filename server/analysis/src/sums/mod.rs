//! Sums in the shuffle model: from the messages of a [`SumTask`] to
//! sums and means with error bars, what they are expected to cost and to tell, and how far
//! dishonest people move them.
//!
//! ε here is central: of whoever sees the shuffled messages and nothing that links them to a
//! person. There is no local one.

mod error;
mod estimate;
mod influence;
mod plan;
mod totals;

pub use error::SumQueryError;
pub use estimate::{SumEstimate, SumEstimates, SumQuery};
pub use influence::SumInfluence;
pub use plan::{BATCH_MESSAGES, SumError, SumPlan, account_people, account_sums, resolve};
pub use totals::SumTotals;

use hushbin::Items;
use hushbin::sums::{Measure, SumTask};

use crate::estimate::Label;

/// What one level of a coordinate is worth in a person's answer, and at which answer all
/// coordinates are 0: by the position of the item.
fn scale(task: &SumTask, item: usize) -> Scale {
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
struct Scale {
    /// Half of the limits' distance, or the greatest length.
    half: f64,
    /// The answer that is 0.
    middle: f64,
}

/// What an item in this position is called.
fn label(items: &Items, index: usize) -> Label {
    match items {
        Items::Named(names) => Label::Name(names[index].clone()),
        Items::Count(_) | Items::Open(_) => Label::Index(index as u64),
    }
}
