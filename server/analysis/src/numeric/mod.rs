//! Numeric ground that knows nothing of privacy: where functions cross a value,
//! probabilities and tails of binomial distributions, bounds of a probability from
//! counts, and confidence limits of a parameter from sums.

pub(crate) mod binomial;
pub mod clopper_pearson;
pub(crate) mod limits;
pub(crate) mod roots;
