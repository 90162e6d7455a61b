//! One-bit oracle: reports the value of an entry times a hashed sign of its item.

use hushbin::Error;
use hushbin::hash::{HashKeys, hashed_closed_element_sign};
use rand_core::CryptoRng;

use super::one_sparse::OneSparseOracle;
use super::rating_oracle::{EstimateMoments, OracleSetting};
use super::report_sums::{LinearEstimator, ReportSums};
use super::slots::{Slot, draw_sum_of_fair_signs, sign_value};
use crate::competitors::numbers::TwoPointMechanism;

/// One-bit oracle. Each answer draws a hash function that maps every item to a sign, + or − with
/// equal probability. The answer reports the entry's value times the item's sign by [`TwoPointMechanism`],
/// whose scale is A. For a dummy it reports the value 0. The estimate of an item's value is A times
/// the answer times the item's sign.
///
/// Source: the 1-sparse oracle of P3's code.
///
/// ```
/// use hushbin_study::competitors::ratings::{OneSparseOracle, OracleSetting, HashedSignBitOracle};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let bit = HashedSignBitOracle::new(&setting)?;
/// assert!((bit.second_moments().mean_variances_by_presence()[1] - bit.two_point_mechanism().estimate_scale().powi(2)).abs() < 1e-12);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HashedSignBitOracle {
    item_count: u32,
    two_point_mechanism: TwoPointMechanism,
}

impl HashedSignBitOracle {
    /// Mechanism that reports the value times the item's sign.
    #[must_use]
    pub const fn two_point_mechanism(&self) -> &TwoPointMechanism {
        &self.two_point_mechanism
    }
}

impl OneSparseOracle for HashedSignBitOracle {
    /// Creates the oracle for the question and the privacy requirement of a setting.
    ///
    /// # Errors
    /// Same errors as [`OracleSetting::checked_budget`].
    fn new(setting: &OracleSetting) -> Result<Self, Error> {
        Ok(Self {
            item_count: setting.item_count,
            two_point_mechanism: TwoPointMechanism::new(&setting.budget_ignoring_delta()?),
        })
    }

    fn privacy_loss(&self) -> f64 {
        self.two_point_mechanism.privacy_loss()
    }

    /// Length of an answer: a seed of 64 bits, and the bit.
    fn answer_bits(&self) -> f64 {
        65.0
    }

    fn linear_estimator(&self) -> LinearEstimator {
        LinearEstimator::for_means_only(self.two_point_mechanism.estimate_scale())
    }

    fn second_moments(&self) -> EstimateMoments {
        EstimateMoments::for_means_only([self.two_point_mechanism.estimate_scale().powi(2); 2])
    }

    fn element_domain_size(&self) -> usize {
        self.item_count as usize
    }

    fn draw_answer_into_sums(
        &self,
        slot: Slot<'_>,
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        let keys = HashKeys::new(rng.next_u64());
        let value = match slot {
            Slot::Entry(entry) => {
                f64::from(hashed_closed_element_sign(&keys, entry.item as u32)) * entry.value
            }
            Slot::Dummy(_) => 0.0,
        };
        let answer = sign_value(self.two_point_mechanism.randomize_unchecked(value, rng));
        for item in 0..self.item_count {
            sums.sign_sums[item as usize] +=
                answer * f64::from(hashed_closed_element_sign(&keys, item));
        }
    }

    fn draw_own_element_support(
        &self,
        slot: Slot<'_>,
        sums: &mut ReportSums,
        own: &mut [u64],
        rng: &mut dyn CryptoRng,
    ) {
        let Slot::Entry(entry) = slot else { return };
        let item = entry.item as usize;
        own[item] += 1;
        // The answer times the own item's sign has the same distribution as a response to the value
        // itself, because rounding and response are symmetric in the sign.
        sums.sign_sums[item] += sign_value(
            self.two_point_mechanism
                .randomize_unchecked(entry.value, rng),
        );
    }

    fn draw_other_element_supports(
        &self,
        answers: u64,
        own: &[u64],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    ) {
        for (sum, own) in sums.sign_sums.iter_mut().zip(own) {
            // Hashed signs are assumed to be independent, with equal probabilities of + and −. The
            // products of the answer with the signs of other items then have the same distribution.
            *sum += draw_sum_of_fair_signs(answers - own, rng);
        }
    }
}
