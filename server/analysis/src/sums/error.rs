//! Why sums cannot be given.

use crate::estimate::{CONFIDENCE, EstimateError};

/// Why sums cannot be given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SumError {
    /// Items or a confidence that there are not.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// What is asked of estimates under local privacy alone.
    #[error("sums through a shuffler have no {what}: they are means and sums of items")]
    NotOfSums {
        /// The option, as it is spelt.
        what: &'static str,
    },
    /// Not a confidence.
    #[error("confidence is {confidence}, expected {} to {}", CONFIDENCE.min, CONFIDENCE.max)]
    Confidence {
        /// What was asked for.
        confidence: f64,
    },
}
