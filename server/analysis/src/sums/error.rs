//! Error of a query for sums.

use super::histogram::HistogramCountsError;
use crate::estimate::EstimateError;

/// Reason why a query for sums is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SumQueryError {
    /// The query names unknown items, or its confidence is invalid.
    #[error(transparent)]
    InvalidEstimateQuery(#[from] EstimateError),
    /// The query uses an option that exists only for estimates from locally private reports.
    #[error("sums through a shuffler have no {what}: they are means and sums of items")]
    OptionNotForSums {
        /// Name of the option, as users write it.
        what: &'static str,
    },
    /// The totals cannot be those of a batch.
    #[error(transparent)]
    ImpossibleCounts(#[from] HistogramCountsError),
}
