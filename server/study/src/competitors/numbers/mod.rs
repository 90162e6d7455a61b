//! Numbers in [−1, 1], d attributes of every person: the paper's §4.

mod counts;
mod input;
mod majority;
mod piecewise;
mod sampled;
mod two_points;

pub use input::ATTRIBUTES;
pub use majority::Majority;
pub use piecewise::{hybrid_variance, piecewise_variance};
pub use sampled::{ANSWERED_EPSILON, SampledTwoPoints};
pub use two_points::TwoPoints;

pub(super) use counts::Counts;
pub(super) use input::rounds_up;
