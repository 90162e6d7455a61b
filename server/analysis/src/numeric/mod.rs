//! Numeric ground that knows nothing of privacy: probabilities and bounds of
//! binomial distributions.

pub(crate) mod binomial;
pub mod clopper_pearson;
