//! Experiments as units of work, errors of estimates, and tables of measurements.

pub(super) mod axis;
pub(super) mod error;
pub(super) mod experiment;
pub(super) mod measurement;
pub(super) mod metric_comparisons;
pub(super) mod score;
pub(super) mod size;
pub(super) mod table;
