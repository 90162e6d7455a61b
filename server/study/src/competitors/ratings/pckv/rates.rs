//! Response probabilities, estimates and moments of both variants of PCKV.

use crate::competitors::ratings::rating_oracle::{EstimateMoments, PresenceMoments};
use crate::competitors::ratings::report_sums::LinearEstimator;

/// Response probabilities of PCKV, which are exact for the rounded thresholds.
///
/// ```
/// use hushbin_study::competitors::ratings::{PckvUe, OracleSetting};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let response_probabilities = PckvUe::new(&setting)?.response_probabilities();
/// let e = 1.0_f64.exp();
/// assert_eq!(response_probabilities.drawn_item_probability, 0.5);
/// assert!((response_probabilities.other_item_probability - 2.0 / (e + 3.0)).abs() < 1e-14);
/// assert!((response_probabilities.true_sign_probability - e / (e + 1.0)).abs() < 1e-14);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PckvProbabilities {
    /// Probability a that the drawn item is reported, with either sign.
    pub drawn_item_probability: f64,
    /// Probability b that a given item other than the drawn one is reported. The reported sign is +
    /// or − with probability 1/2 each.
    pub other_item_probability: f64,
    /// Probability p that the drawn item, if reported, has its true sign.
    pub true_sign_probability: f64,
    /// 2p − 1, where p is the probability of the true sign. It is computed from the threshold to
    /// avoid cancellation.
    pub sign_bias: f64,
}

impl PckvProbabilities {
    /// Returns two probabilities: that a report has an item with +, and that it has the item with
    /// −. The person has s entries, and one of them is the item with value 1.
    #[must_use]
    pub fn reported_sign_probabilities(&self, sparsity: u32) -> [f64; 2] {
        let drawn = 1.0 / f64::from(sparsity);
        let [own, other] = [1.0 + self.sign_bias, 1.0 - self.sign_bias]
            .map(|twice| self.drawn_item_probability * twice / 2.0);
        [own, other].map(|told| drawn * told + (1.0 - drawn) * self.other_item_probability / 2.0)
    }

    /// Returns the coefficients of the estimates of an item's non-missing frequency F and mean M. F
    /// = s·(\[reported\] − b)/(a − b), where \[reported\] is 1 if the report has the item,
    /// otherwise 0. M = s·sign/(a(2p − 1)), where sign is the item's reported sign, or 0.
    pub(super) fn linear_estimator(&self, sparsity: u32) -> LinearEstimator {
        let s = f64::from(sparsity);
        LinearEstimator {
            mean_factor: s / (self.drawn_item_probability * self.sign_bias),
            presence_factor_and_offset: Some([
                s / (self.drawn_item_probability - self.other_item_probability),
                self.other_item_probability,
            ]),
        }
    }

    /// Returns the second moments of one report's estimates.
    pub(super) fn report_estimate_moments(&self, sparsity: u32) -> EstimateMoments {
        let s = f64::from(sparsity);
        let (f, m) = (
            s / (self.drawn_item_probability - self.other_item_probability),
            s / (self.drawn_item_probability * self.sign_bias),
        );
        let [plus, minus] = self.reported_sign_probabilities(sparsity);
        let square = |told: f64| {
            let missing = 1.0 - told;
            f * f
                * (told * (1.0 - self.other_item_probability).powi(2)
                    + missing * self.other_item_probability.powi(2))
        };
        let told = plus + minus;
        EstimateMoments {
            mean_square: [m * m * told, m * m * self.other_item_probability],
            presence_moments: Some(PresenceMoments {
                frequency_estimate_variances: [
                    square(told) - 1.0,
                    square(self.other_item_probability),
                ],
                frequency_mean_cross_moment: f
                    * m
                    * (1.0 - self.other_item_probability)
                    * (plus - minus),
            }),
        }
    }
}
