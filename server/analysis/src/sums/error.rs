//! Why sums cannot be given.

use crate::estimate::EstimateError;

/// Why sums cannot be given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SumQueryError {
    /// Items or a confidence that there are not.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// What is asked of estimates under local privacy alone.
    #[error("sums through a shuffler have no {what}: they are means and sums of items")]
    NotOfSums {
        /// The option, as it is spelt.
        what: &'static str,
    },
}
