//! What error to expect before there are reports.

pub(crate) mod expectation;
mod predictor;
mod worst;

pub use predictor::{Aim, Predictor};
