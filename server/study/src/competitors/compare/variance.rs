//! Worst-case and average variance of a mechanism.

use hushbin::Error;
use serde::Serialize;

use crate::competitors::choice::SupportProbabilities;

/// Variance of one report's estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EstimateVariance {
    /// Variance for the worst answer or number.
    pub worst: f64,
    /// Variance averaged over all possible answers of the person, or over numbers from −1 to 1.
    pub average: f64,
}

/// Table row without ratios: a mechanism with its variance, or with the reason why it has no
/// variance.
#[derive(Debug)]
pub(super) struct MechanismRow {
    pub(super) mechanism: &'static str,
    pub(super) parameters: String,
    pub(super) variance: Result<EstimateVariance, Error>,
}

impl EstimateVariance {
    /// Returns the variance of one report's estimate of the share of people who chose an option,
    /// for a choice among k `options`.
    pub(super) fn from_support_probabilities(rates: &SupportProbabilities, options: u32) -> Self {
        let [own, other] = [true, false].map(|own| rates.single_report_variance(own));
        let k = f64::from(options);
        Self {
            worst: own.max(other),
            average: (own + (k - 1.0) * other) / k,
        }
    }

    /// Returns the worst case and the average of a mechanism's variance over numbers x from −1 to
    /// 1. The variance at x is `square` − x².
    pub(super) fn from_constant_mean_square(square: f64) -> Self {
        Self {
            worst: square,
            // The mean of x² over −1 to 1 is 1/3.
            average: square - 1.0 / 3.0,
        }
    }

    /// Creates the variance of a mechanism whose variance does not depend on the answer, so that
    /// worst case and average are equal.
    pub(super) const fn independent_of_answer(variance: f64) -> Self {
        Self {
            worst: variance,
            average: variance,
        }
    }
}
