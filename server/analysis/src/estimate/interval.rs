//! Intervals around unbiased, approximately normal estimates.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::Point;
use super::confidence::CONFIDENCE;
use super::error::EstimateError;

/// An estimate with its error bars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Raw, and unbiased unless the answer says otherwise.
    pub estimate: f64,
    /// Standard deviation of the estimate's noise, estimated.
    pub standard_error: f64,
    /// Covers the truth with the stated confidence, taken on its own.
    pub interval: [f64; 2],
    /// One of intervals that all cover with the stated confidence, over all
    /// items asked for (Bonferroni).
    pub simultaneous_interval: [f64; 2],
}

/// How many standard errors an interval reaches to either side.
///
/// Estimates are averages of n independent, bounded contributions, so their
/// noise is close to normal once n is in the hundreds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiles {
    confidence: f64,
    one_sided: f64,
    single: f64,
    simultaneous: f64,
}

impl Quantiles {
    /// For intervals of this confidence, `together` of them simultaneously: by
    /// Bonferroni, each then fails with probability (1 − confidence)/together.
    ///
    /// # Errors
    /// [`EstimateError::Confidence`] when `confidence` is outside [`CONFIDENCE`].
    pub fn new(confidence: f64, together: usize) -> Result<Self, EstimateError> {
        if !CONFIDENCE.holds(confidence) {
            return Err(EstimateError::Confidence { confidence });
        }
        let failure = 1.0 - confidence;
        let normal = Normal::standard();
        // From the lower tail: 1 − failure/2 would lose the digits.
        let reach = |failure: f64| -normal.inverse_cdf(failure / 2.0);
        Ok(Self {
            confidence,
            one_sided: -normal.inverse_cdf(failure),
            single: reach(failure),
            simultaneous: reach(failure / together.max(1) as f64),
        })
    }

    /// The stated confidence.
    #[must_use]
    pub const fn confidence(&self) -> f64 {
        self.confidence
    }

    /// Standard errors above 0 that are significantly above 0.
    pub(super) const fn one_sided(&self) -> f64 {
        self.one_sided
    }

    /// Standard errors to either side of a simultaneous interval.
    #[must_use]
    pub const fn simultaneous(&self) -> f64 {
        self.simultaneous
    }

    /// Adds the intervals.
    #[must_use]
    pub fn estimate(&self, point: Point) -> Estimate {
        let around = |reach: f64| {
            let half = reach * point.standard_error;
            [point.estimate - half, point.estimate + half]
        };
        Estimate {
            estimate: point.estimate,
            standard_error: point.standard_error,
            interval: around(self.single),
            simultaneous_interval: around(self.simultaneous),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let quantiles = Quantiles::new(0.95, 1).unwrap();
        assert!((quantiles.single - 1.959_963_984_540_054).abs() < 1e-9);
        assert_eq!(quantiles.single, quantiles.simultaneous);
        // Φ⁻¹(1 − 0.001/2756)
        let many = Quantiles::new(0.999, 1378).unwrap();
        assert!((many.simultaneous - 4.954_359_470_931_737).abs() < 1e-9);
    }

    #[test]
    fn impossible_confidence_is_refused() {
        for confidence in [0.0, 0.49, 1.0, f64::NAN, f64::INFINITY, -1.0] {
            assert!(Quantiles::new(confidence, 3).is_err(), "{confidence}");
        }
    }
}
