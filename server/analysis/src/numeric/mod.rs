//! Numeric ground that knows nothing of privacy: where functions cross a value,
//! probabilities and tails of binomial distributions, and bounds of a probability
//! from counts.

pub(crate) mod binomial;
pub mod clopper_pearson;
pub(crate) mod roots;
