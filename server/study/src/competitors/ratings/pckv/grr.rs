//! PCKV-GRR and PCKV-AGRR: a report names one item, with a sign.

use hushbin::sample::{Threshold, draw_below};
use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::rates::PckvProbabilities;
use crate::competitors::favoured_set::threshold_rounded_down;
use crate::competitors::numbers::randomly_rounds_up;
use crate::competitors::ratings::rating_oracle::{EstimateMoments, OracleSetting, RatingOracle};
use crate::competitors::ratings::report_sums::{LinearEstimator, ReportSums};
use crate::competitors::ratings::slots::{Slot, draw_slot, flip_fair_coin, sign_value};

/// PCKV-GRR over d′ = d + s items: the d items and s dummies. A report names the drawn item with
/// probability a = (u + 2)/(u + 2d′). The reported sign is then the item's true sign with
/// probability p = (u + 1)/(u + 2). Otherwise the report is a uniformly drawn different item, with
/// either sign with probability 1/2.
///
/// An element is an item with a sign, and e = exp(ε). Let u = s(e − 1). Averaged over the drawn
/// item, a report is then e times as likely to be a given element of the input as a given element
/// outside the input. This is the collision mechanism with a bucket for each of the 2d′ elements,
/// in which all s elements of an input are favoured. P1 compares with u = e − 1. With this u, the
/// ratio is only 1 + (e − 1)/s instead of e.
///
/// ```
/// use hushbin_study::competitors::ratings::{RatingOracle, PckvGrr, OracleSetting};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let [without_amplification, adaptive] = [PckvGrr::without_amplification(&setting)?, PckvGrr::with_amplification(&setting)?];
/// assert!((without_amplification.privacy_loss() - (1.0 + 1.0_f64.exp_m1() / 4.0).ln()).abs() < 1e-12);
/// assert!(adaptive.privacy_loss() <= 1.0 && adaptive.privacy_loss() > 1.0 - 1e-12);
/// assert!(adaptive.report_estimate_moments().mean_variances_by_presence()[1] < 0.1 * without_amplification.report_estimate_moments().mean_variances_by_presence()[1]);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PckvGrr {
    item_count: u32,
    sparsity: u32,
    /// Probability that the drawn item is reported, rounded down to a threshold.
    true_item_threshold: Threshold,
    /// Probability that the true sign of the drawn item is reported, rounded down to a threshold.
    true_sign_threshold: Threshold,
}

impl PckvGrr {
    /// Returns PCKV-GRR as in P1. The response to the drawn item has a privacy loss of ε. This does
    /// not make use of the additional privacy from drawing the item.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    pub fn without_amplification(setting: &OracleSetting) -> Result<Self, Error> {
        Self::new(setting, 1.0)
    }

    /// Returns PCKV-AGRR. The response to the drawn item has a privacy loss of ln(s(e − 1) + 1).
    /// The report as a whole has a privacy loss of ε.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    pub fn with_amplification(setting: &OracleSetting) -> Result<Self, Error> {
        Self::new(setting, f64::from(setting.sparsity))
    }

    /// Returns the mechanism with the parameter u = `times`·(e − 1), where e = exp(ε).
    fn new(setting: &OracleSetting, times: f64) -> Result<Self, Error> {
        let budget = setting.budget_ignoring_delta()?;
        let more = times * budget.exp_m1_epsilon();
        let all = f64::from(setting.item_count) + f64::from(setting.sparsity);
        Ok(Self {
            item_count: setting.item_count,
            sparsity: setting.sparsity,
            true_item_threshold: threshold_rounded_down((more + 2.0) / (more + 2.0 * all), 2),
            true_sign_threshold: threshold_rounded_down((more + 1.0) / (more + 2.0), 2),
        })
    }

    /// Returns the response probabilities, which are exact for the rounded thresholds.
    #[must_use]
    pub fn response_probabilities(&self) -> PckvProbabilities {
        PckvProbabilities {
            drawn_item_probability: self.true_item_threshold.probability(),
            other_item_probability: self.true_item_threshold.false_probability()
                / f64::from(self.other_item_count()),
            true_sign_probability: self.true_sign_threshold.probability(),
            sign_bias: self.true_sign_threshold.probability()
                - self.true_sign_threshold.false_probability(),
        }
    }

    /// Returns the number of items and dummies other than the drawn item. It is at least 1.
    const fn other_item_count(&self) -> u32 {
        self.item_count + self.sparsity - 1
    }
}

impl RatingOracle for PckvGrr {
    fn privacy_loss(&self) -> f64 {
        let rates = self.response_probabilities();
        let [own, opposite] = rates.reported_sign_probabilities(self.sparsity);
        // Probability of an element that is neither in the input nor the opposite of one.
        let other = rates.other_item_probability / 2.0;
        // An input makes this element least likely if the input has the opposite element, or
        // neither this element nor the opposite one.
        (own / opposite.min(other)).ln()
    }

    fn report_bits(&self) -> f64 {
        let all = f64::from(self.item_count) + f64::from(self.sparsity);
        (2.0 * all).log2().ceil()
    }

    fn linear_estimator(&self) -> LinearEstimator {
        self.response_probabilities()
            .linear_estimator(self.sparsity)
    }

    fn report_estimate_moments(&self) -> EstimateMoments {
        self.response_probabilities()
            .report_estimate_moments(self.sparsity)
    }

    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let (own, value) = match draw_slot(entries, self.sparsity, rng) {
            Slot::Entry(entry) => (entry.item as u32, entry.value),
            // The value 0 is rounded to either sign with probability 1/2.
            Slot::Dummy(dummy) => (self.item_count + dummy, 0.0),
        };
        let (item, up) = if self.true_item_threshold.draw_bool(rng) {
            (
                own,
                randomly_rounds_up(value, rng) == self.true_sign_threshold.draw_bool(rng),
            )
        } else {
            let other = draw_below(rng, self.other_item_count());
            (other + u32::from(other >= own), flip_fair_coin(rng))
        };
        sums.report_count += 1;
        if item < self.item_count {
            sums.presence_counts[item as usize] += 1.0;
            sums.sign_sums[item as usize] += sign_value(up);
        }
    }
}
