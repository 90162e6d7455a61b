//! Estimation: reports are folded into totals, and totals give estimates with error bars.
//!
//! All functions are pure: no clock, no I/O.
//!
//! [`Totals`] holds counts that merge by addition. So reports may be folded in any order, by any
//! number of workers. Totals may be stored instead of reports ([`Totals::encode`]). Estimates are a
//! function of a task and its totals. They are raw, and unbiased except under hash-bin with
//! clipping. A raw frequency can fall below 0 or above 1, because noise is not cut off.
//! Post-processed results ([`PostProcessing`]) are returned in addition to the raw estimates.

mod answer;
mod estimator;
mod fold;
mod influence;
mod law;
mod mechanism;
mod point;
mod predict;
mod query;
mod question;
mod totals;

pub use crate::numeric::projection::{Sum, project};
pub use answer::{
    ByItem, Estimates, ItemEstimates,
    post::{ConditionalMean, PostProcessed, Projected},
    shrinkage::{Errors, Refusal, Shrinkage, Shrunken, shrink},
    stand_out::StandOut,
};
pub(crate) use answer::{cells, table};
pub use estimator::{Estimator, LazyItems, estimates, points};
pub use fold::encoding::TotalsError;
pub(crate) use fold::{BucketWords, Reader as TotalsReader, append_header};
pub use influence::{
    Influence, Influenced, MADE_UP,
    crowd::{CrowdProperty, CrowdTest},
};
pub(crate) use law::IntervalWidth;
pub use mechanism::{estimands, steps};
pub use point::{Estimand, ItemPoints, Point};
pub use predict::predictor::{Aim, Predictor};
pub(crate) use query::position;
pub use query::{
    Label, Options, Query,
    confidence::{CONFIDENCE, DEFAULT_CONFIDENCE, FALSE_DISCOVERY_RATE},
    counted_label,
    error::EstimateError,
    interval::{Estimate, Quantiles},
    processing::PostProcessing,
};
pub use question::{
    cross::{ConditionalMeanOf, ConditionalShare, CrossEstimates},
    number::{Below, NumberEstimates, QuantileEstimate},
    ratio::RatioEstimate,
};
pub use totals::Totals;
