//! Estimates of questions whose answers depend on each other: numbers, crosses, options of several
//! parts.

pub(crate) mod contrast;
pub(crate) mod cross;
pub(crate) mod number;
pub(crate) mod ratio;
mod together;

pub(crate) use cross::{CrossEstimates, MarginalShare};
pub(crate) use number::NumberEstimates;
pub(crate) use ratio::RatioEstimate;
pub(crate) use together::Parts;
