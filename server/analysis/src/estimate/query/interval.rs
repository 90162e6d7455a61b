//! Intervals around estimates.

use serde::Serialize;

use super::confidence::CONFIDENCE;
use super::error::EstimateError;
use crate::estimate::point::Point;
use crate::numeric::limits::{Failure, Side};

/// An estimate with its error bars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct Estimate {
    /// Raw, and unbiased unless the answer says otherwise.
    pub estimate: f64,
    /// Standard deviation of the estimate's noise, estimated.
    pub standard_error: f64,
    /// Covers the truth with the stated confidence, taken on its own.
    #[cfg_attr(feature = "wasm", tsify(type = "[number, number]"))]
    pub interval: [f64; 2],
    /// One of intervals that all cover with the stated confidence, over all
    /// items asked for (Bonferroni).
    #[cfg_attr(feature = "wasm", tsify(type = "[number, number]"))]
    pub simultaneous_interval: [f64; 2],
}

impl Estimate {
    /// The same of a number from `range`, where this is of its place, from 0 to 1.
    pub(crate) fn within(self, [min, max]: [f64; 2]) -> Self {
        let at = |place: f64| min + (max - min) * place;
        Self {
            estimate: at(self.estimate),
            standard_error: (max - min) * self.standard_error,
            interval: self.interval.map(at),
            simultaneous_interval: self.simultaneous_interval.map(at),
        }
    }
}

/// How sure intervals are.
///
/// An interval holds the truths that the reports do not rule out: those of which neither tail, of
/// what was counted or less and of that or more, is below half of 1 − confidence. Tails are of the
/// law that the mechanism gives the counts at that truth, bounded from above (Chernoff; Zubkov and
/// Serov 2013), so that intervals hold from the first report on, and are no wider than they must
/// where reports are many. They reach farther to one side where counts are few.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiles {
    confidence: f64,
    one_sided: Failure,
    single: Failure,
    simultaneous: Failure,
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
        Ok(Self {
            confidence,
            one_sided: Failure::new(failure),
            single: Failure::new(failure / 2.0),
            simultaneous: Failure::new(failure / together.max(1) as f64 / 2.0),
        })
    }

    /// The same confidence for so many intervals simultaneously.
    pub(crate) fn together(&self, together: usize) -> Self {
        Self::new(self.confidence, together).expect("a confidence that was checked")
    }

    /// The stated confidence.
    #[must_use]
    pub const fn confidence(&self) -> f64 {
        self.confidence
    }

    /// Standard errors to either side of a simultaneous interval of many reports.
    #[must_use]
    pub const fn simultaneous(&self) -> f64 {
        self.simultaneous.z()
    }

    /// What an interval on its own leaves on one side.
    pub(crate) const fn single(&self) -> &Failure {
        &self.single
    }

    /// What is significantly above 0.
    pub(crate) const fn one_sided(&self) -> &Failure {
        &self.one_sided
    }

    /// Adds the intervals, of limits by failure and side.
    pub(crate) fn estimate(&self, point: Point, limit: impl Fn(&Failure, Side) -> f64) -> Estimate {
        let around = |failure| [Side::Lower, Side::Upper].map(|side| limit(failure, side));
        Estimate {
            estimate: point.estimate,
            standard_error: point.standard_error,
            interval: around(&self.single),
            simultaneous_interval: around(&self.simultaneous),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let quantiles = Quantiles::new(0.95, 1).unwrap();
        assert!((quantiles.single.z() - 1.959_963_984_540_054).abs() < 1e-9);
        assert_eq!(quantiles.single, quantiles.simultaneous);
        // Φ⁻¹(1 − 0.001/2756)
        let many = Quantiles::new(0.999, 1378).unwrap();
        assert!((many.simultaneous() - 4.954_359_470_931_737).abs() < 1e-9);
    }

    #[test]
    fn impossible_confidence_is_refused() {
        for confidence in [0.0, 0.49, 1.0, f64::NAN, f64::INFINITY, -1.0] {
            assert!(Quantiles::new(confidence, 3).is_err(), "{confidence}");
        }
    }
}
