//! Numeric ground that knows nothing of privacy: where functions cross a value,
//! probabilities and tails of binomial distributions, bounds of a probability from
//! counts, confidence limits of a parameter from sums, and projection onto a simplex.

pub(crate) mod binomial;
pub mod clopper_pearson;
pub(crate) mod digits;
pub(crate) mod limits;
pub(crate) mod projection;
pub(crate) mod roots;
