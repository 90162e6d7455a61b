//! Answers about questions whose answers belong together: a number, a cross, options of
//! several parts.

pub(crate) mod contrast;
pub(crate) mod cross;
pub(crate) mod number;
mod ratio;
mod together;

pub use cross::{ConditionalMeanOf, ConditionalShare, CrossEstimates, Margin, MarginalShare};
pub(crate) use number::Cells;
pub use number::{Below, NumberEstimates, QuantileEstimate};
pub use ratio::RatioEstimate;
pub(crate) use together::Parts;
