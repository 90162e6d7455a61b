//! Oracles that answer about one entry. [`SingleEntrySampling`](super::SingleEntrySampling) and
//! [`KFoldRepetition`](super::KFoldRepetition) apply such an oracle to inputs with several entries.

use hushbin::Error;
use rand_core::CryptoRng;

use super::rating_oracle::{EstimateMoments, OracleSetting};
use super::report_sums::{LinearEstimator, ReportSums};
use super::slots::Slot;

/// Oracle that draws an ε-LDP answer about one slot, which is an entry or a dummy.
///
/// ```
/// use hushbin_study::competitors::ratings::{OneSparseOracle, OracleSetting, HashedSignBitOracle, SignedItemHashOracle};
///
/// let setting = OracleSetting { item_count: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, protected_distance: 1.0 };
/// let [bit, hash] = [
///     HashedSignBitOracle::new(&setting)?.second_moments(),
///     SignedItemHashOracle::new(&setting)?.second_moments(),
/// ];
/// assert!(bit.presence_moments.is_none() && hash.presence_moments.is_some());
/// // A bit has the smaller variance of means, but it does not report presence.
/// assert!(bit.mean_variances_by_presence()[1] < hash.mean_variances_by_presence()[1]);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub trait OneSparseOracle: Copy + Send + Sync {
    /// Creates the oracle for the question and the privacy requirement of a setting.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the setting is out of range.
    fn new(setting: &OracleSetting) -> Result<Self, Error>;

    /// Returns the privacy loss of an answer: the least ε that it satisfies.
    fn privacy_loss(&self) -> f64;

    /// Length of an answer in bits.
    fn answer_bits(&self) -> f64;

    /// Returns the coefficients of the estimates if each person has one entry and gives one answer
    /// about it.
    fn linear_estimator(&self) -> LinearEstimator;

    /// Returns the second moments of one answer's estimate, if each person has one entry and gives
    /// one answer about it.
    fn second_moments(&self) -> EstimateMoments;

    /// Returns the number of elements that the sums distinguish. An element is an item, or an item
    /// with a sign. Given the slot, an answer supports each element other than the slot's own
    /// independently.
    fn element_domain_size(&self) -> usize;

    /// Draws an answer about a slot and adds it to `sums`. The number of reports does not change.
    fn draw_answer_into_sums(&self, slot: Slot<'_>, sums: &mut ReportSums, rng: &mut dyn CryptoRng);

    /// Draws whether an answer supports the slot's own element, without drawing the rest of the
    /// answer, and adds the result to `sums`. Increments the count of this element in `own`.
    fn draw_own_element_support(
        &self,
        slot: Slot<'_>,
        sums: &mut ReportSums,
        own: &mut [u64],
        rng: &mut dyn CryptoRng,
    );

    /// Draws which elements `answers` answers support, except each answer's own element, and adds
    /// the results to `sums`. For each element, `own` has the number of answers that have this own
    /// element.
    fn draw_other_element_supports(
        &self,
        answers: u64,
        own: &[u64],
        sums: &mut ReportSums,
        rng: &mut dyn CryptoRng,
    );
}
