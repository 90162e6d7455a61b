//! Oracles for one entry, from which sampling and repetition are built.

use hushbin::Error;
use rand_core::CryptoRng;

use super::heard::{Heard, Linear};
use super::oracle::{Moments, Setting};
use super::slots::Slot;

/// Oracle that gives an ε-LDP answer about one slot: an entry or a dummy.
///
/// ```
/// use hushbin_study::competitors::ratings::{OneSparse, Setting, SignedBit, SignedHash};
///
/// let setting = Setting { items: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, distance: 1.0 };
/// let [bit, hash] = [
///     SignedBit::new(&setting)?.moments(),
///     SignedHash::new(&setting)?.moments(),
/// ];
/// assert!(bit.presence.is_none() && hash.presence.is_some());
/// // A bit has the smaller variance of means, but it does not report presence.
/// assert!(bit.mean()[1] < hash.mean()[1]);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub trait OneSparse: Copy + Send + Sync {
    /// Returns the oracle for a setting.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the setting is out of range.
    fn new(setting: &Setting) -> Result<Self, Error>;

    /// Returns the least ε that an answer satisfies.
    fn loss(&self) -> f64;

    /// Length of an answer in bits.
    fn bits(&self) -> f64;

    /// Coefficients of estimates if each person has one entry and gives one answer about it.
    fn linear(&self) -> Linear;

    /// Second moments of such an estimate.
    fn moments(&self) -> Moments;

    /// Number of elements that an answer supports or not, independently of each other.
    fn elements(&self) -> usize;

    /// Draws an answer about a slot and adds it to the sums, except for the number of reports.
    fn tell(&self, slot: Slot<'_>, heard: &mut Heard, rng: &mut dyn CryptoRng);

    /// Draws and adds only the part of an answer that concerns the slot's own element. Increments
    /// the count of this element in `own`.
    fn tell_own(&self, slot: Slot<'_>, heard: &mut Heard, own: &mut [u64], rng: &mut dyn CryptoRng);

    /// Draws and adds the parts of `answers` answers that concern elements other than the own one.
    /// For each element, `own` counts the answers for which it was the own one.
    fn tell_others(&self, answers: u64, own: &[u64], heard: &mut Heard, rng: &mut dyn CryptoRng);
}
