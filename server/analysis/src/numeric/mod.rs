//! General numerical methods that do not depend on privacy.
//!
//! The methods are root finding, binomial probabilities and tails, confidence bounds on a
//! probability from counts, confidence limits for a parameter from sums, and projection onto a
//! simplex.

pub(crate) mod binomial;
pub(crate) mod certainty;
pub mod clopper_pearson;
pub(crate) mod confidence_limits;
pub(crate) mod digits;
pub(crate) mod roots;
pub(crate) mod simplex_projection;
