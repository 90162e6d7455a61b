//! Prediction of errors before any report exists.

pub(crate) mod predictor;
mod worst;
