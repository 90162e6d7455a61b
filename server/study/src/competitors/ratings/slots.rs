//! Slots: what a person has, padded to s.

use hushbin::Entry;
use hushbin::sample::{below, choose_front};
use rand_core::{CryptoRng, Rng};
use rand_distr::{Binomial, Distribution};

/// What is in a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slot<'a> {
    /// An entry.
    Entry(&'a Entry),
    /// A dummy, counted from 0, in the place of an entry.
    Dummy(u32),
}

/// All slots: entries, and dummies up to s. None is left out where there are more entries.
pub(super) fn all(entries: &[Entry], sparsity: u32) -> impl Iterator<Item = Slot<'_>> {
    let dummies = sparsity.saturating_sub(entries.len() as u32);
    let entries = entries.iter().map(Slot::Entry);
    entries.chain((0..dummies).map(Slot::Dummy))
}

/// One of s slots. Of more than s entries it is one of them, as it would be one of s that
/// are drawn before: all are as likely.
pub(super) fn drawn<'a, R: Rng + ?Sized>(
    entries: &'a [Entry],
    sparsity: u32,
    rng: &mut R,
) -> Slot<'a> {
    let slot = below(rng, sparsity.max(entries.len() as u32));
    let dummy = || Slot::Dummy(slot - entries.len() as u32);
    entries.get(slot as usize).map_or_else(dummy, Slot::Entry)
}

/// At most so many of the entries, drawn uniformly where there are more.
pub(super) fn at_most<R: CryptoRng + ?Sized>(
    entries: &[Entry],
    most: Option<u32>,
    rng: &mut R,
) -> Vec<Entry> {
    let mut kept = entries.to_vec();
    let most = most.map_or(usize::MAX, |most| most as usize);
    if kept.len() > most {
        choose_front(rng, &mut kept, most);
        kept.truncate(most);
    }
    kept
}

/// How many of so many trials succeed.
///
/// # Panics
/// If `probability` is none.
pub(super) fn binomial<R: Rng + ?Sized>(trials: u64, probability: f64, rng: &mut R) -> u64 {
    let law = Binomial::new(trials, probability).expect("a probability is from 0 to 1");
    law.sample(rng)
}

/// The sum of so many fair signs: twice a binomial, less their number.
pub(super) fn fair_signs<R: Rng + ?Sized>(signs: u64, rng: &mut R) -> f64 {
    2.0 * binomial(signs, 0.5, rng) as f64 - signs as f64
}

/// A fair coin.
pub(super) fn coin<R: Rng + ?Sized>(rng: &mut R) -> bool {
    rng.next_u64() >> 63 == 1
}

/// ±1.
pub(super) const fn sign(up: bool) -> f64 {
    if up { 1.0 } else { -1.0 }
}
