//! Numerical methods without any notion of privacy.
//!
//! They find crossings of functions, binomial probabilities and tails, bounds of a probability from
//! counts, confidence limits of a parameter from sums, and projections onto a simplex.

pub(crate) mod binomial;
pub mod clopper_pearson;
pub(crate) mod digits;
pub(crate) mod limits;
pub(crate) mod projection;
pub(crate) mod roots;
