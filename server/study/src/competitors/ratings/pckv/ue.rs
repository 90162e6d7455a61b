//! PCKV-UE: a report contains, for every item, either a sign or nothing.

use hushbin::sample::Threshold;
use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::rates::PckvProbabilities;
use crate::competitors::favoured_set::threshold_rounded_down;
use crate::competitors::numbers::randomly_rounds_up;
use crate::competitors::ratings::rating_oracle::{EstimateMoments, OracleSetting, RatingOracle};
use crate::competitors::ratings::report_sums::{LinearEstimator, ReportSums};
use crate::competitors::ratings::slots::{
    Slot, draw_binomial, draw_slot, draw_sum_of_fair_signs, flip_fair_coin, sign_value,
};

/// PCKV-UE over d items and s dummies, with e = exp(ε). A report has a sign for the drawn item with
/// probability a = 1/2. This sign is the item's true sign with probability p = e/(e + 1). A report
/// has a sign for each other item with probability b = 2/(e + 3). Such a sign is + or − with equal
/// probability.
///
/// Privacy: consider an item, and compare two cases. In the first case this item is drawn, in the
/// second case a different item is drawn. The likelihood ratio is ap/(b/2) for the true sign, a(1 −
/// p)/(b/2) for the opposite sign, and (1 − a)/(1 − b) for no sign. The first ratio is e times the
/// second, and also e times the third. The probability of a report is proportional to the average
/// of these ratios over the slots. The privacy loss is therefore ε, and an input of only dummies
/// attains it.
///
/// ```
/// use hushbin_study::competitors::ratings::{RatingOracle, PckvUe, OracleSetting};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let ue = PckvUe::new(&setting)?;
/// assert!(ue.privacy_loss() <= 1.0 && ue.privacy_loss() > 1.0 - 1e-12);
/// assert_eq!(ue.report_bits(), 208.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PckvUe {
    item_count: u32,
    sparsity: u32,
    /// Probability that a report has no sign for an item that was not drawn, rounded down to a
    /// threshold. The rounding makes signs for such items slightly likelier, so they hide the drawn
    /// item better.
    other_item_omission_threshold: Threshold,
    /// Probability that the reported sign of the drawn item is the true sign, rounded down to a
    /// threshold.
    true_sign_threshold: Threshold,
}

/// Probability that the report has a sign for the drawn item, as a threshold. It is exactly 1/2.
const DRAWN_ITEM_REPORT_THRESHOLD: Threshold = Threshold(1 << 63);

impl PckvUe {
    /// Creates the mechanism for the question and the privacy of a setting.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    pub fn new(setting: &OracleSetting) -> Result<Self, Error> {
        let e = setting.budget_ignoring_delta()?.exp_epsilon();
        Ok(Self {
            item_count: setting.item_count,
            sparsity: setting.sparsity,
            // 1 − b = (e + 1)/(e + 3).
            other_item_omission_threshold: threshold_rounded_down((e + 1.0) / (e + 3.0), 0),
            true_sign_threshold: threshold_rounded_down(e / (e + 1.0), 0),
        })
    }

    /// Returns the response probabilities, which are exact for the rounded thresholds.
    #[must_use]
    pub fn response_probabilities(&self) -> PckvProbabilities {
        PckvProbabilities {
            drawn_item_probability: DRAWN_ITEM_REPORT_THRESHOLD.probability(),
            other_item_probability: self.other_item_omission_threshold.false_probability(),
            true_sign_probability: self.true_sign_threshold.probability(),
            sign_bias: self.true_sign_threshold.probability()
                - self.true_sign_threshold.false_probability(),
        }
    }

    /// Draws whether the report has a sign for the item of the drawn entry, and which sign. Adds
    /// the result to the sums.
    fn add_drawn_item_response(
        &self,
        entry: &Entry,
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        if DRAWN_ITEM_REPORT_THRESHOLD.draw_bool(rng) {
            let up =
                randomly_rounds_up(entry.value, rng) == self.true_sign_threshold.draw_bool(rng);
            sums.presence_counts[entry.item as usize] += 1.0;
            sums.sign_sums[entry.item as usize] += sign_value(up);
        }
    }
}

impl RatingOracle for PckvUe {
    fn privacy_loss(&self) -> f64 {
        let PckvProbabilities {
            drawn_item_probability: a,
            other_item_probability: b,
            true_sign_probability: p,
            ..
        } = self.response_probabilities();
        let reported =
            [p, self.true_sign_threshold.false_probability()].map(|sign| 2.0 * a * sign / b);
        let silent = (1.0 - a) / self.other_item_omission_threshold.probability();
        let weights = [reported[0], reported[1], silent];
        let most = weights.into_iter().fold(0.0, f64::max);
        let least = weights.into_iter().fold(f64::INFINITY, f64::min);
        (most / least).ln()
    }

    fn report_bits(&self) -> f64 {
        2.0 * f64::from(self.item_count + self.sparsity)
    }

    fn linear_estimator(&self) -> LinearEstimator {
        self.response_probabilities()
            .linear_estimator(self.sparsity)
    }

    fn report_estimate_moments(&self) -> EstimateMoments {
        self.response_probabilities()
            .report_estimate_moments(self.sparsity)
    }

    /// Draws the signs of all items and adds them to the sums. Signs of dummies are not drawn,
    /// because they are independent of all other signs and are not counted.
    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let slot = draw_slot(entries, self.sparsity, rng);
        sums.report_count += 1;
        for item in 0..self.item_count as usize {
            match slot {
                Slot::Entry(entry) if entry.item == item as u64 => {
                    self.add_drawn_item_response(entry, sums, rng);
                }
                _ if self.other_item_omission_threshold.draw_bool(rng) => {}
                _ => {
                    sums.presence_counts[item] += 1.0;
                    sums.sign_sums[item] += sign_value(flip_fair_coin(rng));
                }
            }
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
            if let Slot::Entry(entry) = draw_slot(entries, self.sparsity, rng) {
                others[entry.item as usize] -= 1;
                self.add_drawn_item_response(entry, sums, rng);
            }
        }
        sums.report_count += people.len() as u64;
        let b = self.other_item_omission_threshold.false_probability();
        for (item, &others) in others.iter().enumerate() {
            // Given the drawn slots, the signs that reports have for an item are independent of
            // everything else. Among the people who drew a different slot, the number with a sign
            // for the item is binomial with probability b. The number of + among these signs is
            // binomial with probability 1/2. So only the number of these people matters.
            let reported = draw_binomial(others, b, rng);
            sums.presence_counts[item] += reported as f64;
            sums.sign_sums[item] += draw_sum_of_fair_signs(reported, rng);
        }
    }
}
