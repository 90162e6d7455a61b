//! What tells of one entry: sampling and repetition are made of it.

use hushbin::Error;
use rand_core::CryptoRng;

use super::heard::{Heard, Linear};
use super::oracle::{Moments, Setting};
use super::slots::Slot;

/// An ε-LDP answer about one slot, an entry or a dummy.
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
/// // What a bit costs less of a mean, it does not say of presence.
/// assert!(bit.mean()[1] < hash.mean()[1]);
/// # Ok::<(), hushbin::Error>(())
/// ```
pub trait OneSparse: Copy + Send + Sync {
    /// For what is asked.
    ///
    /// # Errors
    /// Where it is out of range.
    fn new(setting: &Setting) -> Result<Self, Error>;

    /// The least ε of an answer.
    fn loss(&self) -> f64;

    /// Length of an answer, in bits.
    fn bits(&self) -> f64;

    /// Estimates from answers, one of each person, about their one entry.
    fn linear(&self) -> Linear;

    /// Of such an estimate.
    fn moments(&self) -> Moments;

    /// Of how many elements an answer tells independently of each other.
    fn elements(&self) -> usize;

    /// An answer about a slot, drawn and added, but for the number of reports.
    fn tell(&self, slot: Slot<'_>, heard: &mut Heard, rng: &mut dyn CryptoRng);

    /// The same for the slot's own element alone, which is counted in `own`.
    fn tell_own(&self, slot: Slot<'_>, heard: &mut Heard, own: &mut [u64], rng: &mut dyn CryptoRng);

    /// The same for all other elements of so many answers together, given of how many each
    /// was the own.
    fn tell_others(&self, answers: u64, own: &[u64], heard: &mut Heard, rng: &mut dyn CryptoRng);
}
