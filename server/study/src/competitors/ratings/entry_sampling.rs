//! Sampling: a report contains one answer about one random entry. A one-sparse oracle draws the
//! answer.

use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::one_sparse::OneSparseOracle;
use super::rating_oracle::{EstimateMoments, OracleSetting, PresenceMoments, RatingOracle};
use super::report_sums::{LinearEstimator, ReportSums};
use super::slots::draw_slot;

/// Sampling: the input is padded with dummies to s slots. A report draws one slot uniformly, and
/// contains one answer, at privacy loss ε, about this slot. Estimates are multiplied by s. The
/// report is ε-LDP for the whole input, because the answer is ε-LDP for any slot.
///
/// ```
/// use hushbin_study::competitors::ratings::{RatingOracle, SingleEntrySampling, OracleSetting, SignedItemHashOracle};
///
/// let setting = |sparsity| OracleSetting { item_count: 100, sparsity, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let [one, four] = [1, 4].map(|s| SingleEntrySampling::<SignedItemHashOracle>::new(&setting(s)).unwrap());
/// let ratio = four.report_estimate_moments().mean_variances_by_presence()[1] / one.report_estimate_moments().mean_variances_by_presence()[1];
/// assert!((ratio - 16.0).abs() < 1e-12);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SingleEntrySampling<T> {
    padded_slot_count: u32,
    entry_oracle: T,
}

impl<T: OneSparseOracle> SingleEntrySampling<T> {
    /// Creates the mechanism for the question and the privacy requirement of a setting.
    ///
    /// # Errors
    /// Same errors as [`OneSparseOracle::new`].
    pub fn new(setting: &OracleSetting) -> Result<Self, Error> {
        Ok(Self {
            padded_slot_count: setting.sparsity,
            entry_oracle: T::new(setting)?,
        })
    }

    /// Oracle that draws the answer about the drawn slot.
    #[must_use]
    pub const fn entry_oracle(&self) -> &T {
        &self.entry_oracle
    }
}

impl<T: OneSparseOracle> RatingOracle for SingleEntrySampling<T> {
    /// Privacy loss of the answer about the drawn slot. The report has the same loss if one output
    /// has the highest probability for all slots of one input, and the lowest probability for all
    /// slots of another input.
    fn privacy_loss(&self) -> f64 {
        self.entry_oracle.privacy_loss()
    }

    fn report_bits(&self) -> f64 {
        self.entry_oracle.answer_bits()
    }

    fn linear_estimator(&self) -> LinearEstimator {
        let (s, one) = (
            f64::from(self.padded_slot_count),
            self.entry_oracle.linear_estimator(),
        );
        LinearEstimator {
            mean_factor: s * one.mean_factor,
            presence_factor_and_offset: one
                .presence_factor_and_offset
                .map(|[scale, offset]| [s * scale, offset]),
        }
    }

    /// Second moments of s times an answer's estimate. If the person has the item, the answer is
    /// about this item with probability 1/s.
    fn report_estimate_moments(&self) -> EstimateMoments {
        let (s, one) = (
            f64::from(self.padded_slot_count),
            self.entry_oracle.second_moments(),
        );
        // The item's slot is drawn with probability 1/s, otherwise a different slot.
        let mixed = |[own, other]: [f64; 2]| [s * own + s * (s - 1.0) * other, s * s * other];
        let presence = |one: PresenceMoments| {
            let [own, other] = one.frequency_estimate_variances;
            let [square, variance] = mixed([own + 1.0, other]);
            PresenceMoments {
                frequency_estimate_variances: [square - 1.0, variance],
                frequency_mean_cross_moment: s * one.frequency_mean_cross_moment,
            }
        };
        EstimateMoments {
            mean_square: mixed(one.mean_square),
            presence_moments: one.presence_moments.map(presence),
        }
    }

    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        sums.report_count += 1;
        let slot = draw_slot(entries, self.padded_slot_count, rng);
        self.entry_oracle.draw_answer_into_sums(slot, sums, rng);
    }

    fn draw_and_add_reports(
        &self,
        people: &[&[Entry]],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let mut own = vec![0; self.entry_oracle.element_domain_size()];
        for entries in people {
            let slot = draw_slot(entries, self.padded_slot_count, rng);
            self.entry_oracle
                .draw_own_element_support(slot, sums, &mut own, rng);
        }
        sums.report_count += people.len() as u64;
        self.entry_oracle
            .draw_other_element_supports(people.len() as u64, &own, sums, rng);
    }
}
