//! Estimates with confidence intervals, and confidence levels.

use serde::Serialize;

use super::confidence::CONFIDENCE_RANGE;
use super::error::EstimateError;
use crate::estimate::point::PointEstimate;
use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

/// An estimate with its error bars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct Estimate {
    /// Raw estimate. Unbiased unless the answer states a bias.
    pub estimate: f64,
    /// Estimated standard deviation of the estimate's noise.
    pub standard_error: f64,
    /// Confidence interval for this estimate alone.
    #[cfg_attr(feature = "wasm", tsify(type = "[number, number]"))]
    pub interval: [f64; 2],
    /// Simultaneous confidence interval. With the stated confidence, the simultaneous intervals of
    /// all requested items contain their true values at once (Bonferroni).
    #[cfg_attr(feature = "wasm", tsify(type = "[number, number]"))]
    pub simultaneous_interval: [f64; 2],
}

impl Estimate {
    /// Converts an estimate of a relative position, from 0 at `min` to 1 at `max`, to a value in
    /// the range.
    #[must_use]
    pub fn rescale_to_range(self, [min, max]: [f64; 2]) -> Self {
        let at = |place: f64| min + (max - min) * place;
        Self {
            estimate: at(self.estimate),
            standard_error: (max - min) * self.standard_error,
            interval: self.interval.map(at),
            simultaneous_interval: self.simultaneous_interval.map(at),
        }
    }
}

/// Confidence level of intervals, with the resulting failure probabilities of the ends.
///
/// An interval contains the true values that the reports do not rule out. A value is ruled out if
/// one of two tail probabilities under this value is below (1 − confidence)/2. One is the
/// probability of the observed count or a smaller one, the other is the probability of the observed
/// count or a larger one.
///
/// Tail probabilities refer to the exact distribution of the counts under the mechanism. Upper
/// bounds on them are used (Chernoff; Zubkov and Serov 2013). So intervals are valid from the first
/// report on. With many reports they are no wider than necessary. If counts are small, intervals
/// are asymmetric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceLevel {
    confidence: f64,
    one_sided_thresholds: TailThresholds,
    single_interval_thresholds: TailThresholds,
    simultaneous_thresholds: TailThresholds,
}

impl ConfidenceLevel {
    /// Creates a confidence level for single intervals and for `together` simultaneous intervals.
    /// By the Bonferroni correction, each simultaneous interval fails with probability (1 −
    /// confidence)/together.
    ///
    /// # Errors
    /// [`EstimateError::ConfidenceOutOfRange`] if `confidence` is outside [`CONFIDENCE_RANGE`].
    pub fn new(confidence: f64, together: usize) -> Result<Self, EstimateError> {
        if !CONFIDENCE_RANGE.contains(confidence) {
            return Err(EstimateError::ConfidenceOutOfRange { confidence });
        }
        let failure = 1.0 - confidence;
        Ok(Self {
            confidence,
            one_sided_thresholds: TailThresholds::new(failure),
            single_interval_thresholds: TailThresholds::new(failure / 2.0),
            simultaneous_thresholds: TailThresholds::new(failure / together.max(1) as f64 / 2.0),
        })
    }

    /// Returns the same confidence level, but for `together` simultaneous intervals.
    pub(crate) fn for_simultaneous_intervals(&self, together: usize) -> Self {
        Self::new(self.confidence, together).expect("a confidence that was checked")
    }

    /// Returns the stated confidence.
    #[must_use]
    pub const fn confidence(&self) -> f64 {
        self.confidence
    }

    /// Returns the half-width of a simultaneous interval in standard errors, in the limit of many
    /// reports.
    #[must_use]
    pub const fn simultaneous_normal_quantile(&self) -> f64 {
        self.simultaneous_thresholds.normal_quantile()
    }

    /// Returns the failure probability of one side of a single interval.
    pub(crate) const fn interval_side_thresholds(&self) -> &TailThresholds {
        &self.single_interval_thresholds
    }

    /// Returns the failure probability of a one-sided test. It equals the failure probability of a
    /// whole single interval.
    pub(crate) const fn one_sided_test_thresholds(&self) -> &TailThresholds {
        &self.one_sided_thresholds
    }

    /// Adds confidence intervals to a point estimate. `limit` computes the confidence limit for a
    /// failure probability and a side.
    pub(crate) fn estimate_with_intervals(
        &self,
        point: PointEstimate,
        limit: impl Fn(&TailThresholds, LimitSide) -> f64,
    ) -> Estimate {
        let around =
            |failure| [LimitSide::Lower, LimitSide::Upper].map(|side| limit(failure, side));
        Estimate {
            estimate: point.estimate,
            standard_error: point.standard_error,
            interval: around(&self.single_interval_thresholds),
            simultaneous_interval: around(&self.simultaneous_thresholds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let quantiles = ConfidenceLevel::new(0.95, 1).unwrap();
        assert!(
            (quantiles.single_interval_thresholds.normal_quantile() - 1.959_963_984_540_054).abs()
                < 1e-9
        );
        assert_eq!(
            quantiles.single_interval_thresholds,
            quantiles.simultaneous_thresholds
        );
        // Normal quantile Φ⁻¹(1 − 0.001/(2·1378))
        let many = ConfidenceLevel::new(0.999, 1378).unwrap();
        assert!((many.simultaneous_normal_quantile() - 4.954_359_470_931_737).abs() < 1e-9);
    }

    #[test]
    fn impossible_confidence_is_refused() {
        for confidence in [0.0, 0.49, 1.0, f64::NAN, f64::INFINITY, -1.0] {
            assert!(ConfidenceLevel::new(confidence, 3).is_err(), "{confidence}");
        }
    }
}
