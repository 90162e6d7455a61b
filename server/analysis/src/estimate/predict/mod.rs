//! What error to expect before there are reports.

pub(crate) mod predictor;
mod worst;
