//! Exact samplers, built from integers and thresholds only. So samples have exactly the
//! distribution that the privacy accounting assumes.

#[cfg(feature = "reports")]
mod exp;
#[cfg(feature = "complete")]
mod laplace;
#[cfg(feature = "collector")]
mod loss;
mod uniform;

#[cfg(feature = "reports")]
pub use exp::ExpLowerBound;
#[cfg(feature = "complete")]
pub use laplace::DiscreteLaplace;
#[cfg(feature = "collector")]
pub use loss::{Factors, least_epsilon_covering, realised_epsilon};
pub(crate) use uniform::word;
pub use uniform::{Threshold, below, choose_front, with_probability};
