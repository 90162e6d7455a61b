//! Estimates of questions that need more than the estimates of single items: numbers,
//! cross-tabulations, and parts that are asked together.

pub(crate) mod contrast;
pub(crate) mod cross;
pub(crate) mod number;
pub(crate) mod ratio;
mod together;

pub(crate) use cross::{CrossEstimates, MarginalShare};
pub(crate) use number::NumberEstimates;
pub(crate) use ratio::RatioEstimate;
pub(crate) use together::JointChoiceParts;
