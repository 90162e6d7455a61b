//! k-fold repetition: a report contains one answer about each entry. A one-sparse oracle draws the
//! answers.

use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::one_sparse::OneSparseOracle;
use super::rating_oracle::{EstimateMoments, OracleSetting, PresenceMoments, RatingOracle};
use super::report_sums::{LinearEstimator, ReportSums};
use super::slots::all_slots;

/// k-fold repetition (P3 §2.1): a person's entries are padded with dummies to s slots. A report
/// contains one answer about each slot; each answer has privacy loss ε.
///
/// Privacy is at event level: only two inputs that differ in one entry are ε-indistinguishable.
/// This requires **slots in random order**, so that only one slot differs. If slots were in the
/// order of items, an added entry would shift all later entries.
///
/// If there are more than s entries, the report contains an answer about each entry. The number of
/// answers then reveals the number of entries. But keeping only s random entries would break
/// privacy at event level.
///
/// ```
/// use hushbin_study::competitors::ratings::{KFoldRepetition, RatingOracle, OracleSetting, HashedSignBitOracle};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 6, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let bits = KFoldRepetition::<HashedSignBitOracle>::new(&setting)?;
/// assert!((bits.report_estimate_moments().mean_variances_by_presence()[1] - 6.0 * bits.entry_oracle().two_point_mechanism().variance(0.0)).abs() < 1e-9);
/// assert_eq!(bits.report_bits(), 390.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KFoldRepetition<T> {
    sparsity: u32,
    entry_oracle: T,
}

impl<T: OneSparseOracle> KFoldRepetition<T> {
    /// Creates the mechanism for the question and the privacy requirement of a setting.
    ///
    /// # Errors
    /// Same errors as [`OneSparseOracle::new`].
    pub fn new(setting: &OracleSetting) -> Result<Self, Error> {
        Ok(Self {
            sparsity: setting.sparsity,
            entry_oracle: T::new(setting)?,
        })
    }

    /// Oracle that draws the answer about one slot.
    #[must_use]
    pub const fn entry_oracle(&self) -> &T {
        &self.entry_oracle
    }

    /// Subtracts the expected contribution of the `surplus` answers beyond s from the presence
    /// sums, because the offset of [`linear_estimator`](RatingOracle::linear_estimator) covers only s answers.
    fn subtract_surplus_presence(&self, surplus: u64, sums: &mut ReportSums) {
        if let (true, Some([_, offset])) = (
            surplus > 0,
            self.entry_oracle
                .linear_estimator()
                .presence_factor_and_offset,
        ) {
            for sum in &mut sums.presence_counts {
                *sum -= surplus as f64 * offset;
            }
        }
    }
}

impl<T: OneSparseOracle> RatingOracle for KFoldRepetition<T> {
    fn privacy_loss(&self) -> f64 {
        self.entry_oracle.privacy_loss()
    }

    fn report_bits(&self) -> f64 {
        f64::from(self.sparsity) * self.entry_oracle.answer_bits()
    }

    fn linear_estimator(&self) -> LinearEstimator {
        let (k, one) = (
            f64::from(self.sparsity),
            self.entry_oracle.linear_estimator(),
        );
        LinearEstimator {
            mean_factor: one.mean_factor,
            presence_factor_and_offset: one
                .presence_factor_and_offset
                .map(|[scale, offset]| [scale, k * offset]),
        }
    }

    /// Moments of the sum of a report's s answers. If the person has the item, exactly one answer
    /// is about the item; otherwise no answer is. The estimates from the remaining answers have
    /// mean 0.
    fn report_estimate_moments(&self) -> EstimateMoments {
        let (k, one) = (f64::from(self.sparsity), self.entry_oracle.second_moments());
        let sum = |[own, other]: [f64; 2]| [own + (k - 1.0) * other, k * other];
        let presence = |one: PresenceMoments| PresenceMoments {
            frequency_estimate_variances: sum(one.frequency_estimate_variances),
            ..one
        };
        EstimateMoments {
            mean_square: sum(one.mean_square),
            presence_moments: one.presence_moments.map(presence),
        }
    }

    /// Draws one answer for each slot and adds them to the sums. The sums do not depend on the
    /// order of the slots, so the random order is not drawn.
    fn draw_and_add_report(
        &self,
        entries: &[Entry],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        sums.report_count += 1;
        let mut answers = 0;
        for slot in all_slots(entries, self.sparsity) {
            self.entry_oracle.draw_answer_into_sums(slot, sums, rng);
            answers += 1;
        }
        // Inputs are padded to s, so there are never fewer answers.
        self.subtract_surplus_presence(answers - u64::from(self.sparsity), sums);
    }

    fn draw_and_add_reports(
        &self,
        people: &[&[Entry]],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let mut own = vec![0; self.entry_oracle.element_domain_size()];
        let mut answers = 0;
        for entries in people {
            for slot in all_slots(entries, self.sparsity) {
                self.entry_oracle
                    .draw_own_element_support(slot, sums, &mut own, rng);
                answers += 1;
            }
        }
        let people = people.len() as u64;
        sums.report_count += people;
        self.entry_oracle
            .draw_other_element_supports(answers, &own, sums, rng);
        self.subtract_surplus_presence(answers - people * u64::from(self.sparsity), sums);
    }
}
