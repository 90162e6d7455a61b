//! Distances in standard errors.

use statrs::distribution::{ContinuousCDF, Normal};

use super::survey::POWER;
use crate::estimate::{DEFAULT_CONFIDENCE, Quantiles};

/// Half-widths of intervals, in standard errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct HalfWidths {
    /// One interval alone.
    pub(super) single: f64,
    /// Intervals that hold for all estimates simultaneously.
    pub(super) simultaneous: f64,
    /// Frequency of the rarest item that is seen.
    pub(super) seen: f64,
}

impl HalfWidths {
    /// Computes the distances for `estimates` estimates together.
    pub(super) fn new(estimates: u32) -> Self {
        let reach = |together| {
            Quantiles::new(DEFAULT_CONFIDENCE, together)
                .expect("the confidence is one")
                .simultaneous()
        };
        let simultaneous = reach(estimates as usize);
        Self {
            single: reach(1),
            simultaneous,
            seen: simultaneous + Normal::standard().inverse_cdf(POWER),
        }
    }
}
