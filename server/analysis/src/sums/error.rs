//! Reasons why a query for sums is refused.

use crate::estimate::EstimateError;

/// Reason why a query for sums is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SumQueryError {
    /// Unknown items or an invalid confidence.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// Option that exists only for estimates under local privacy.
    #[error("sums through a shuffler have no {what}: they are means and sums of items")]
    NotOfSums {
        /// Name of the option, as the user writes it.
        what: &'static str,
    },
}
