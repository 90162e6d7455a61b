//! PrivKV: reports the presence and the sign of one item, drawn from d items.

use hushbin::sample::{ExpLowerBound, Threshold, draw_below};
use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::rating_oracle::{EstimateMoments, OracleSetting, PresenceMoments, RatingOracle};
use super::report_sums::{LinearEstimator, ReportSums};
use super::slots::{flip_fair_coin, sign_value};
use crate::competitors::favoured_set::threshold_rounded_down;
use crate::competitors::numbers::randomly_rounds_up;

/// PrivKV (Ye, Hu, Meng, Zheng, "PrivKV: Key-Value Data Collection with Local Differential
/// Privacy", IEEE S&P 2019). A report draws one item uniformly and names it openly. With e₁ =
/// exp(ε₁), the report states truthfully with probability p₁ = e₁/(e₁ + 1) whether the person has
/// the item. With e₂ = exp(ε₂), the sign of a present item is reported truthfully with probability
/// p₂ = e₂/(e₂ + 1). An absent item that is reported as present has either sign with probability
/// 1/2.
///
/// The privacy loss is not ε₁ + ε₂ but max(ε₁ + ln(2/(1 + exp(−ε₂))), ε₁, ε₂). The reason is that
/// the sign of an absent item is uniform. It is harder to distinguish a uniform sign from a fixed
/// sign than to distinguish the two fixed signs.
///
/// ```
/// use hushbin_study::competitors::ratings::{RatingOracle, PrivKv, OracleSetting};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let [published, calibrated] = [PrivKv::with_published_budget_split(&setting)?, PrivKv::with_calibrated_budget_split(&setting)?];
/// assert!((published.privacy_loss() - 0.719).abs() < 1e-3);
/// assert!(calibrated.privacy_loss() <= 1.0 && calibrated.privacy_loss() > 1.0 - 1e-12);
/// assert!(calibrated.report_estimate_moments().mean_variances_by_presence()[1] < 0.5 * published.report_estimate_moments().mean_variances_by_presence()[1]);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivKv {
    item_count: u32,
    /// Probability p₁ that the presence is reported truthfully, rounded down to a threshold.
    true_presence_threshold: Threshold,
    /// Probability p₂ that the sign is reported truthfully, rounded down to a threshold.
    true_sign_threshold: Threshold,
}

impl PrivKv {
    /// Returns PrivKV as published: half of ε for the presence, and half of ε for the sign.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    pub fn with_published_budget_split(setting: &OracleSetting) -> Result<Self, Error> {
        let half = setting.budget_ignoring_delta()?.epsilon() / 2.0;
        Self::with_presence_and_sign_epsilon(setting, half, half)
    }

    /// Returns PrivKV with a privacy loss of exactly ε. The sign spends ε₂ = ε, and the presence
    /// spends ε₁ = ln((e + 1)/2), where e = exp(ε).
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    pub fn with_calibrated_budget_split(setting: &OracleSetting) -> Result<Self, Error> {
        let e = setting.budget_ignoring_delta()?.exp_epsilon();
        Ok(Self {
            item_count: setting.item_count,
            // e₁/(e₁ + 1) with e₁ = (e + 1)/2.
            true_presence_threshold: threshold_rounded_down((e + 1.0) / (e + 3.0), 0),
            true_sign_threshold: threshold_rounded_down(e / (e + 1.0), 0),
        })
    }

    /// Returns PrivKV that spends ε₁ = `presence` on the presence and ε₂ = `sign` on the sign. The
    /// setting's ε is ignored.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`]. [`Error::InvalidCombination`] if ε₁ or ε₂ is not above 0,
    /// or is above 12.
    pub fn with_presence_and_sign_epsilon(
        setting: &OracleSetting,
        presence: f64,
        sign: f64,
    ) -> Result<Self, Error> {
        setting.budget_ignoring_delta()?;
        let right = |epsilon: f64| epsilon > 0.0 && epsilon <= 12.0;
        if !right(presence) || !right(sign) {
            return Err(Error::InvalidCombination {
                reason: "PrivKV needs an epsilon above 0 and up to 12, of presence and of signs",
            });
        }
        let truth = |epsilon: f64| {
            let e = ExpLowerBound::new(epsilon).to_f64();
            threshold_rounded_down(e / (e + 1.0), 0)
        };
        Ok(Self {
            item_count: setting.item_count,
            true_presence_threshold: truth(presence),
            true_sign_threshold: truth(sign),
        })
    }

    /// Returns the probabilities p₁ and p₂ that the presence and the sign are reported truthfully.
    /// They are exact for the rounded thresholds.
    #[must_use]
    pub fn truth_probabilities(&self) -> [f64; 2] {
        [
            self.true_presence_threshold.probability(),
            self.true_sign_threshold.probability(),
        ]
    }

    /// Returns 2p − 1 for the probability p that the presence is reported truthfully, and for the
    /// same probability of the sign. It is computed from the thresholds to avoid cancellation.
    fn truth_margins(&self) -> [f64; 2] {
        [self.true_presence_threshold, self.true_sign_threshold]
            .map(|truth| truth.probability() - truth.false_probability())
    }
}

impl RatingOracle for PrivKv {
    fn privacy_loss(&self) -> f64 {
        let [p, r] =
            [self.true_presence_threshold, self.true_sign_threshold].map(Threshold::probability);
        let [q, s] = [self.true_presence_threshold, self.true_sign_threshold]
            .map(Threshold::false_probability);
        // The four likelihood ratios: of present and absent; of a sign and absent, in either
        // direction; of one sign and the opposite sign.
        let ratios = [p / q, 2.0 * p * r / q, q / (2.0 * p * s), r / s];
        ratios.into_iter().fold(1.0, f64::max).ln()
    }

    fn report_bits(&self) -> f64 {
        f64::from(self.item_count).log2().ceil() + 2.0
    }

    fn linear_estimator(&self) -> LinearEstimator {
        let d = f64::from(self.item_count);
        let [presence, sign] = self.truth_margins();
        LinearEstimator {
            mean_factor: d / (self.true_presence_threshold.probability() * sign),
            // The offset is 0, because `add_report` subtracts the expected presence for each drawn
            // item.
            presence_factor_and_offset: Some([d / presence, 0.0]),
        }
    }

    fn report_estimate_moments(&self) -> EstimateMoments {
        let d = f64::from(self.item_count);
        let (p, q) = (
            self.true_presence_threshold.probability(),
            self.true_presence_threshold.false_probability(),
        );
        let [presence, sign] = self.truth_margins();
        let square = d / (p * sign).powi(2);
        // [present] is 1 if the report says present, otherwise 0. The mean square of [present] − q
        // is p·q for an absent item and p·p² + q·q² for a present one.
        let absent = d * p * q / presence.powi(2);
        let present = d * (p.powi(3) + q.powi(3)) / presence.powi(2) - 1.0;
        EstimateMoments {
            mean_square: [square * p, square * q],
            presence_moments: Some(PresenceMoments {
                frequency_estimate_variances: [present, absent],
                frequency_mean_cross_moment: d * p / presence,
            }),
        }
    }

    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let drawn = draw_below(rng, self.item_count) as usize;
        let own = entries.iter().find(|entry| entry.item == drawn as u64);
        sums.report_count += 1;
        let present = self.true_presence_threshold.draw_bool(rng) == own.is_some();
        sums.presence_counts[drawn] -= self.true_presence_threshold.false_probability();
        if !present {
            return;
        }
        let up = match own {
            Some(entry) => {
                randomly_rounds_up(entry.value, rng) == self.true_sign_threshold.draw_bool(rng)
            }
            None => flip_fair_coin(rng),
        };
        sums.presence_counts[drawn] += 1.0;
        sums.sign_sums[drawn] += sign_value(up);
    }
}
