//! Prediction of estimation errors before any report exists.

pub(crate) mod predictor;
mod worst_case;
