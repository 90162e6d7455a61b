//! Half-widths of intervals and detection thresholds, in standard errors.

use statrs::distribution::{ContinuousCDF, Normal};

use super::survey::DETECTION_POWER;
use crate::estimate::{ConfidenceLevel, DEFAULT_CONFIDENCE};

/// Half-widths of intervals and a detection threshold, in standard errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct IntervalZScores {
    /// Half-width of a single interval.
    pub(super) single_z_score: f64,
    /// Half-width of simultaneous intervals for all estimates.
    pub(super) simultaneous_z_score: f64,
    /// Smallest frequency at which an item is detected with probability [`DETECTION_POWER`], in standard
    /// errors.
    pub(super) detection_z_score: f64,
}

impl IntervalZScores {
    /// Computes the half-widths for `estimates` simultaneous estimates.
    pub(super) fn new(estimates: u32) -> Self {
        let reach = |together| {
            ConfidenceLevel::new(DEFAULT_CONFIDENCE, together)
                .expect("the confidence is one")
                .simultaneous_normal_quantile()
        };
        let simultaneous = reach(estimates as usize);
        Self {
            single_z_score: reach(1),
            simultaneous_z_score: simultaneous,
            detection_z_score: simultaneous + Normal::standard().inverse_cdf(DETECTION_POWER),
        }
    }
}
