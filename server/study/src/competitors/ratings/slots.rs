//! Slots: the entries of a person, padded with dummies to s slots, and functions that draw random
//! slots, entries and signs.

use hushbin::Entry;
use hushbin::sample::{draw_below, move_random_subset_to_front};
use rand_core::{CryptoRng, Rng};
use rand_distr::{Binomial, Distribution};

/// Content of a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slot<'a> {
    /// Entry of the input.
    Entry(&'a Entry),
    /// Dummy in place of an entry, with its number, counted from 0.
    Dummy(u32),
}

/// Lists all slots: the entries, and dummies until there are s = `sparsity` slots. If there are
/// more than s entries, all of them are listed.
pub(super) fn all_slots(entries: &[Entry], sparsity: u32) -> impl Iterator<Item = Slot<'_>> {
    let dummies = sparsity.saturating_sub(entries.len() as u32);
    let entries = entries.iter().map(Slot::Entry);
    entries.chain((0..dummies).map(Slot::Dummy))
}

/// Draws one of s = `sparsity` slots. If there are more than s entries, draws one of all entries.
/// This has the same distribution as first keeping s random entries and then drawing one of them.
pub(super) fn draw_slot<'a, R: Rng + ?Sized>(
    entries: &'a [Entry],
    sparsity: u32,
    rng: &mut R,
) -> Slot<'a> {
    let slot = draw_below(rng, sparsity.max(entries.len() as u32));
    let dummy = || Slot::Dummy(slot - entries.len() as u32);
    entries.get(slot as usize).map_or_else(dummy, Slot::Entry)
}

/// Returns all entries if `most` is `None` or there are at most `most` entries. Otherwise returns
/// `most` uniformly drawn entries.
pub(super) fn sample_entries_up_to_limit<R: CryptoRng + ?Sized>(
    entries: &[Entry],
    most: Option<u32>,
    rng: &mut R,
) -> Vec<Entry> {
    let mut kept = entries.to_vec();
    let most = most.map_or(usize::MAX, |most| most as usize);
    if kept.len() > most {
        move_random_subset_to_front(rng, &mut kept, most);
        kept.truncate(most);
    }
    kept
}

/// Draws the number of successes in `trials` independent trials, each with this success
/// `probability`.
///
/// # Panics
/// If `probability` is not from 0 to 1.
pub(super) fn draw_binomial<R: Rng + ?Sized>(trials: u64, probability: f64, rng: &mut R) -> u64 {
    let law = Binomial::new(trials, probability).expect("a probability is from 0 to 1");
    law.sample(rng)
}

/// Draws the sum of `signs` random signs, each 1 or −1 with probability 1/2.
pub(super) fn draw_sum_of_fair_signs<R: Rng + ?Sized>(signs: u64, rng: &mut R) -> f64 {
    2.0 * draw_binomial(signs, 0.5, rng) as f64 - signs as f64
}

/// Draws true or false, each with probability 1/2.
pub(super) fn flip_fair_coin<R: Rng + ?Sized>(rng: &mut R) -> bool {
    rng.next_u64() >> 63 == 1
}

/// Returns 1 for true and −1 for false.
pub(super) const fn sign_value(up: bool) -> f64 {
    if up { 1.0 } else { -1.0 }
}
