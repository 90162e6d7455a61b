//! Experiments as units of work, errors of estimates, and tables of measurements.

pub(super) mod axis;
pub(super) mod error;
pub(super) mod experiment;
pub(super) mod measured;
pub(super) mod score;
pub(super) mod size;
pub(super) mod table;
pub(super) mod wins;
