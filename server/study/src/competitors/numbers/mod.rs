//! Mechanisms for numbers in [−1, 1]: the mechanisms of the paper's §4, and newer mechanisms. Each
//! person has d attributes, each with one number. In all formulas, e = exp(ε) and x is a person's
//! number.

mod agreement_counts;
mod hybrid_three_piecewise;
mod input;
mod level_grid;
mod majority;
mod piecewise;
mod sampled;
mod sampled_piecewise;
mod search;
mod sliding_piecewise;
mod staircase;
mod three_outputs;
mod two_points;
mod variance_bound;

pub use hybrid_three_piecewise::HybridThreeOutputPiecewise;
pub use input::ATTRIBUTE_COUNT_RANGE;
pub use level_grid::RandomizedLevelResponse;
pub use majority::MajorityMechanism;
pub use piecewise::{hybrid_variance, piecewise_variance};
pub use sampled::{EPSILON_PER_DRAWN_ATTRIBUTE, SampledTwoPointMechanism};
pub use sampled_piecewise::{SampledNumberMechanism, SingleNumberMechanismKind};
pub use sliding_piecewise::PiecewiseMechanism;
pub use staircase::StaircaseMechanism;
pub use three_outputs::ThreeOutputMechanism;
pub use two_points::TwoPointMechanism;
pub use variance_bound::variance_lower_bound;

pub(super) use agreement_counts::AgreementCounts;
pub(super) use input::randomly_rounds_up;
