//! Estimation: reports are folded into totals, and totals give estimates with error bars.
//!
//! All functions are pure: no clock, no I/O.
//!
//! [`Totals`] holds counts that merge by addition. So reports may be folded in any order, by any
//! number of workers. Totals may be stored instead of reports ([`Totals::encode`]). Estimates are a
//! function of a task and its totals. They are raw, and unbiased except under hash-bin with
//! clipping. A raw frequency can fall below 0 or above 1, because noise is not cut off.
//! Post-processed results ([`PostProcessingMethod`]) are returned in addition to the raw estimates.

mod counters;
mod distribution;
mod estimator;
mod influence;
mod mechanism;
mod point;
mod predict;
mod queried_estimates;
mod query;
mod query_results;
mod question;
mod result_cache;
#[cfg(test)]
mod reuse_tests;
mod totals;

pub use crate::numeric::simplex_projection::{SumConstraint, project_to_simplex};
pub use counters::encoding::TotalsError;
pub(crate) use counters::{BucketHashRange, TotalsReader, append_header};
pub(crate) use distribution::SimulatedIntervalWidth;
pub(crate) use distribution::pattern_output_shares::{
    quantile_claims::interval_edges, quantile_position,
};
pub use estimator::{Estimator, LazyItemEstimates, estimates_for_query, point_estimates};
pub use influence::{
    FORGED_REPORT_FRACTION, ForgedReportInfluence, InfluencedEstimand,
    honesty_tests::{HonestReportProperty, HonestyTest},
};
pub use mechanism::{counter_updates_per_report, estimands};
pub use point::{Estimand, ItemPointEstimates, PointEstimate};
pub use predict::predictor::{ErrorPredictor, PredictedQuantity};
pub(crate) use query::find_question_index;
pub use query::{
    EstimateOptions, EstimateQuery, ItemLabel,
    confidence::{CONFIDENCE_RANGE, DEFAULT_CONFIDENCE, FALSE_DISCOVERY_RATE_RANGE},
    error::EstimateError,
    interval::{ConfidenceLevel, Estimate},
    item_label_from_index,
    post_processing_methods::PostProcessingMethod,
};
pub use query_results::{
    Estimates, ItemEstimateSource, ItemEstimates,
    csv_text::csv_text_cell,
    post_processing::{ConditionalMean, PostProcessed, ProjectedFrequencies},
    shrinkage::{
        ExpectedErrors, ShrinkageOutcome, ShrinkageRefusal, ShrunkenEstimate, shrink_estimates,
    },
    stand_out::SignificantItems,
};
pub(crate) use query_results::{csv_fields_of_estimate, start_csv_table};
pub(crate) use question::number::isotonic_bin_shares;
pub use question::{
    cross::{CrossEstimates, MeanWithinRow, ShareWithinRow},
    number::{NumberEstimates, QuantileEstimate, ShareBelowEdge},
    ratio::RatioEstimate,
};
pub use totals::Totals;
