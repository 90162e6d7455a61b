//! Exact samplers, built from integers and thresholds only. So samples have exactly the
//! distribution that the privacy accounting assumes.

#[cfg(feature = "reports")]
mod exp_lower_bound;
#[cfg(feature = "complete")]
mod laplace;
#[cfg(feature = "collector")]
mod privacy_loss;
mod uniform;

#[cfg(feature = "reports")]
pub use exp_lower_bound::ExpLowerBound;
#[cfg(feature = "complete")]
pub use laplace::DiscreteLaplace;
#[cfg(feature = "collector")]
pub use privacy_loss::{WeightAndCount, privacy_loss_of_ratio, realised_epsilon};
pub(crate) use uniform::draw_u64;
pub use uniform::{Threshold, draw_below, draw_with_probability, move_random_subset_to_front};
