//! Mechanisms for numbers in [−1, 1]: those of the paper's §4, and newer ones. Each person has d
//! attributes, each with one number. In all formulas, e = exp(ε) and x is a person's number.

mod counts;
mod grid;
mod input;
mod least;
mod majority;
mod mixed;
mod piecewise;
mod sampled;
mod sampled_piecewise;
mod search;
mod sliding;
mod staircase;
mod three_outputs;
mod two_points;

pub use grid::Grid;
pub use input::ATTRIBUTES;
pub use least::least_variance;
pub use majority::Majority;
pub use mixed::Mixed;
pub use piecewise::{hybrid_variance, piecewise_variance};
pub use sampled::{ANSWERED_EPSILON, SampledTwoPoints};
pub use sampled_piecewise::{Part, SampledPiecewise};
pub use sliding::Sliding;
pub use staircase::Staircase;
pub use three_outputs::ThreeOutputs;
pub use two_points::TwoPoints;

pub(super) use counts::Counts;
pub(super) use input::rounds_up;
