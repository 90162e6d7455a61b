//! Naive perturbation: a report has one random bit for every coordinate.

use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::rating_oracle::{EstimateMoments, OracleSetting, RatingOracle};
use super::report_sums::{LinearEstimator, ReportSums};
use super::slots::{draw_sum_of_fair_signs, sample_entries_up_to_limit, sign_value};
use crate::competitors::numbers::TwoPointMechanism;

/// Naive perturbation (P3, Table 1): a report covers each of the d coordinates by [`TwoPointMechanism`]. A
/// missing entry is 0.
///
/// ```
/// use hushbin_study::competitors::ratings::{NaivePerturbation, RatingOracle, OracleSetting};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 6, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let [event_level, user_level] = [NaivePerturbation::with_event_level_privacy(&setting)?, NaivePerturbation::with_user_level_privacy(&setting)?];
/// assert!((event_level.report_estimate_moments().mean_variances_by_presence()[1] - 4.683).abs() < 1e-3);
/// assert!((user_level.report_estimate_moments().mean_variances_by_presence()[1] - 144.667).abs() < 1e-3);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NaivePerturbation {
    item_count: u32,
    two_point_mechanism: TwoPointMechanism,
    /// Maximum number k of entries at user level. If an input has more entries, k random entries
    /// are kept. `None` at event level.
    max_entries: Option<u32>,
}

impl NaivePerturbation {
    /// Returns the mechanism at event level: a single entry is protected, and each bit spends ε.
    /// Inputs may have any number of entries.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    pub fn with_event_level_privacy(setting: &OracleSetting) -> Result<Self, Error> {
        Ok(Self {
            item_count: setting.item_count,
            two_point_mechanism: TwoPointMechanism::new(&setting.budget_ignoring_delta()?),
            max_entries: None,
        })
    }

    /// Returns the mechanism at user level: the whole input is protected. Each bit spends ε₀ = ε/k,
    /// where the sparsity k is the maximum number of entries.
    ///
    /// Two inputs of k entries differ in up to 2k coordinates. With e₀ = exp(ε₀), a change of a
    /// coordinate from 0 to ±1 has a privacy loss of at most ln(2e₀/(e₀ + 1)). A change from ±1 to
    /// 0 has at most ln((e₀ + 1)/2). The sum of these two losses is ε₀, so k changes of each kind
    /// have a total loss of ε. Changing k coordinates from −1 to 1 also has a loss of ε.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    pub fn with_user_level_privacy(setting: &OracleSetting) -> Result<Self, Error> {
        let budget = setting
            .budget_ignoring_delta()?
            .budget_per_part(f64::from(setting.sparsity));
        Ok(Self {
            item_count: setting.item_count,
            two_point_mechanism: TwoPointMechanism::new(&budget),
            max_entries: Some(setting.sparsity),
        })
    }

    /// Mechanism that reports the value of one coordinate.
    #[must_use]
    pub const fn two_point_mechanism(&self) -> &TwoPointMechanism {
        &self.two_point_mechanism
    }
}

impl RatingOracle for NaivePerturbation {
    fn privacy_loss(&self) -> f64 {
        f64::from(self.max_entries.unwrap_or(1)) * self.two_point_mechanism.privacy_loss()
    }

    fn report_bits(&self) -> f64 {
        self.item_count.into()
    }

    fn linear_estimator(&self) -> LinearEstimator {
        LinearEstimator::for_means_only(self.two_point_mechanism.estimate_scale())
    }

    fn report_estimate_moments(&self) -> EstimateMoments {
        EstimateMoments::for_means_only([self.two_point_mechanism.estimate_scale().powi(2); 2])
    }

    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let kept = sample_entries_up_to_limit(entries, self.max_entries, rng);
        sums.report_count += 1;
        for (item, sum) in (0..).zip(&mut sums.sign_sums) {
            let own = kept.iter().find(|entry| entry.item == item);
            let value = own.map_or(0.0, |entry| entry.value);
            *sum += sign_value(self.two_point_mechanism.randomize_unchecked(value, rng));
        }
    }

    fn draw_and_add_reports(
        &self,
        people: &[&[Entry]],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let mut others = vec![people.len() as u64; self.item_count as usize];
        for entries in people {
            for entry in sample_entries_up_to_limit(entries, self.max_entries, rng) {
                others[entry.item as usize] -= 1;
                sums.sign_sums[entry.item as usize] += sign_value(
                    self.two_point_mechanism
                        .randomize_unchecked(entry.value, rng),
                );
            }
        }
        sums.report_count += people.len() as u64;
        for (sum, &others) in sums.sign_sums.iter_mut().zip(&others) {
            // Bits are independent. A person without this item sends either sign with probability
            // 1/2, so only the number of such people matters.
            *sum += draw_sum_of_fair_signs(others, rng);
        }
    }
}
