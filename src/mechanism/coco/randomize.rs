//! Sampling a report of CoCo, and its exact distribution.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::rule::Coco;
use crate::domain::{Domain, Entry, Signed};
use crate::hash::{Functions, SignBit};
use crate::mechanism::contract::Randomize;
use crate::mechanism::subset::{BucketReport as Report, Cells, Drawn, Favoured, Thresholds};
use crate::sample::{Threshold, below};
use crate::sort::sort;

/// The sampler of CoCo's reports, from checked entries; the whole way is
/// [`crate::Randomizer`]'s.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::coco::{Coco, Randomizer, Rule};
///
/// let rule = Rule::Strongest { favoured: 2 };
/// let coco = Coco::new(rule, Hashing::Balanced, 12).unwrap();
/// let mut randomizer = Randomizer::new(&coco, &Domain::rated(Some(40), 3), 1.0);
/// // Of an input without entries, under the seed 7; all paddings push alike.
/// let probabilities = randomizer.probabilities(7, &[], 0);
/// assert_eq!(probabilities.len(), 12);
/// assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    pub(super) domain: Domain,
    functions: Functions,
    /// d, where items are added to an input and no paddings.
    filling: Option<u32>,
    pub(super) thresholds: Thresholds,
    /// What is left of the entries, at most s.
    signed: Vec<Signed>,
    /// The s elements.
    elements: Vec<u64>,
    /// Whether each is negative.
    negative: Vec<bool>,
    /// Where the elements stand before they are hashed.
    placed: Vec<u64>,
    /// The side that each pushes to under each hash function.
    hashed: Vec<u32>,
    /// The key of the signs of each hash function.
    sign_keys: Vec<u64>,
    /// Sides that are pushed to on balance (rule `strongest`).
    pub(super) cells: Cells,
    /// Sides that the s elements push to, ascending (rule `overwrite`).
    pushes: Vec<u64>,
}

impl Randomizer {
    /// Prepares for the parameters, domain and ε of one
    /// [`Task`](crate::Task), which has checked that they go together.
    ///
    /// # Panics
    /// If rule `overwrite` has no more pairs than the domain's sparsity.
    #[must_use]
    pub fn new(coco: &Coco, domain: &Domain, epsilon: f64) -> Self {
        let capacity = domain.sparsity() as usize;
        Self {
            domain: *domain,
            functions: Functions::new(coco.hash(domain), coco.hashes(), 0),
            filling: coco.filling(domain),
            thresholds: coco.thresholds(domain.sparsity(), epsilon),
            signed: Vec::with_capacity(capacity),
            elements: Vec::with_capacity(capacity),
            negative: Vec::with_capacity(capacity),
            placed: Vec::with_capacity(capacity),
            hashed: alloc::vec![0; capacity * coco.hashes() as usize],
            sign_keys: Vec::with_capacity(coco.hashes() as usize),
            cells: coco.tally(domain),
            pushes: Vec::with_capacity(capacity),
        }
    }

    /// How many items may be added to so many signed ones; `None` where none is.
    pub(super) fn others(&self, signed: u32) -> Option<u32> {
        let items = self.filling.filter(|_| signed < self.domain.sparsity());
        items.map(|items| items - signed)
    }

    pub(super) fn missing(&self, signed: &[Signed]) -> u32 {
        self.domain
            .sparsity()
            .checked_sub(signed.len() as u32)
            .expect("inputs are sampled down to at most s entries")
    }

    /// Lists the elements: the input's entries, and as many as are missing, paddings
    /// or a run of other items, in cyclic order, from the one of this rank on. That
    /// being drawn uniformly at random, each of the others is as likely to be added, and
    /// with a fair sign it is neither liked nor disliked on average.
    pub(super) fn gather(
        &mut self,
        signed: &[Signed],
        rank: u32,
        mut is_negative: impl FnMut(u32) -> bool,
    ) {
        self.elements.clear();
        self.negative.clear();
        self.placed.clear();
        for signed in signed {
            self.elements.push(signed.item);
            self.negative.push(signed.negative);
            self.placed.push(signed.item);
        }
        let mut other = u64::from(rank);
        if self.filling.is_some() {
            sort(&mut self.placed);
            for &own in &self.placed {
                other += u64::from(own <= other);
            }
        }
        for index in 0..self.missing(signed) {
            self.elements.push(match self.filling {
                None => self.domain.unsigned().padding(index),
                Some(items) => {
                    let next = |item: u64| (item + 1) % u64::from(items);
                    while self.placed.binary_search(&other).is_ok() {
                        other = next(other);
                    }
                    let element = other;
                    other = next(other);
                    element
                }
            });
            self.negative.push(is_negative(index));
        }
        let place = |&element: &u64| self.functions.place(element);
        self.placed.clear();
        self.placed.extend(self.elements.iter().map(place));
    }

    /// Hashes the elements to pairs, and from there to the sides that they push to.
    fn push(&mut self, seed: u64) {
        self.functions.take_seed(seed);
        self.functions.buckets_of(&self.placed, &mut self.hashed);
        self.sign_keys.clear();
        self.sign_keys.extend(self.functions.sign_keys());
        let elements = self.elements.iter().zip(&self.negative);
        let hashed = self.hashed.chunks_exact_mut(self.functions.count());
        for (sides, (&element, &negative)) in hashed.zip(elements) {
            let fair = SignBit::of(&self.domain, element);
            for (side, &key) in sides.iter_mut().zip(&self.sign_keys) {
                *side = 2 * *side + (fair.plus(key) ^ u32::from(!negative));
            }
        }
    }

    /// Ranks the sides by what is pushed to them on balance.
    pub(super) fn favour(&mut self, seed: u64) -> Favoured {
        self.push(seed);
        self.cells.fill(&self.hashed);
        Favoured::new(self.thresholds.favoured(1), &self.cells, self.balanced())
    }

    /// How many sides belong to pairs in balance.
    fn balanced(&self) -> u32 {
        self.thresholds.outcomes - 2 * self.cells.len()
    }

    fn strongest<R: CryptoRng + ?Sized>(&mut self, favoured: &Favoured, rng: &mut R) -> u32 {
        let inside = self.thresholds.inside(1);
        match favoured.sample(self.thresholds.outcomes, inside, rng) {
            Drawn::Ranked(rank) => self.cells.ranked(rank),
            Drawn::Zero(index) => self.cells.weak(index),
            // The sides that are neither ranked nor tied: the opposite sides of
            // the ranked, before them the balanced ones unless these tie.
            Drawn::Other(index) => {
                let balanced = if favoured.zeros_tie() {
                    0
                } else {
                    self.balanced()
                };
                match index.checked_sub(balanced) {
                    None => self.cells.weak(index),
                    Some(rank) => opposite(self.cells.ranked(rank)),
                }
            }
        }
    }

    fn overwrite<R: CryptoRng + ?Sized>(&self, decided: Threshold, rng: &mut R) -> u32 {
        let pushed = self.pairs().count() as u32;
        if self.thresholds.inside(pushed).sample(rng) {
            let pair = below(rng, pushed) as usize;
            let pushes = self.pairs().nth(pair).unwrap_or(&self.pushes);
            // Buckets are below t < 2³².
            let side = pushes[below(rng, pushes.len() as u32) as usize] as u32;
            if decided.sample(rng) {
                side
            } else {
                opposite(side)
            }
        } else {
            let elsewhere = self.thresholds.outcomes - 2 * pushed;
            self.side_elsewhere(below(rng, elsewhere))
        }
    }

    /// Sorts the sides that are pushed to, which puts those of one pair together.
    pub(super) fn sort_pushes(&mut self, seed: u64) {
        self.push(seed);
        self.pushes.clear();
        self.pushes
            .extend(self.hashed.iter().map(|&side| u64::from(side)));
        sort(&mut self.pushes);
    }

    /// The pushes of each pair that is pushed, ascending.
    pub(super) fn pairs(&self) -> impl Iterator<Item = &[u64]> {
        self.pushes.chunk_by(|a, b| a / 2 == b / 2)
    }

    /// The `index`-th side, ascending, of the pairs that are not pushed.
    fn side_elsewhere(&self, index: u32) -> u32 {
        let mut pair = index / 2;
        for pushes in self.pairs() {
            if pushes[0] / 2 > pair.into() {
                break;
            }
            pair += 1;
        }
        2 * pair + index % 2
    }
}

impl Randomize for Randomizer {
    type Report = Report;

    /// Draws, in this order: what ternarisation and sampling down need; the seed
    /// (64 bits); where items are added, the rank of the first; the signs of what is
    /// added, paddings or items, 64 to a word; inside or outside (64
    /// bits); then, under `strongest`, a rank and, where it falls among tied
    /// sides, one of them; under `overwrite`, a pair, the entry that decides in
    /// it and its side (64 bits), or a bucket elsewhere.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
        report: &mut Report,
    ) -> bool {
        let mut signed = core::mem::take(&mut self.signed);
        let sampled_down = self.domain.draw_signed(entries, rng, &mut signed);
        let others = self.others(signed.len() as u32);
        let rank = others.map_or(0, |others| below(rng, others));
        let mut word = 0;
        self.gather(&signed, rank, |index| {
            if index.is_multiple_of(64) {
                word = crate::sample::word(rng);
            }
            (word >> (index % 64)) & 1 == 1
        });
        self.signed = signed;
        let bucket = match self.thresholds.decided {
            None => {
                let favoured = self.favour(seed);
                self.strongest(&favoured, rng)
            }
            Some(decided) => {
                self.sort_pushes(seed);
                self.overwrite(decided, rng)
            }
        };
        *report = Report { seed, bucket };
        sampled_down
    }
}

/// The other side of the same pair.
pub(super) const fn opposite(bucket: u32) -> u32 {
    bucket ^ 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hashing;
    use crate::mechanism::coco::Rule;

    /// Of all ranks that the first of them may have, each item that an input does not
    /// have comes equally often among those added, and none twice or with the input's.
    #[test]
    fn every_other_item_is_as_likely_to_be_added() {
        let coco = Coco::new(Rule::Strongest { favoured: 1 }, Hashing::BalancedItems, 4).unwrap();
        for (items, sparsity) in [(7_u32, 4_u32), (5, 5), (9, 6)] {
            let domain = Domain::rated(Some(items), sparsity);
            let mut randomizer = Randomizer::new(&coco, &domain, 1.0);
            for own in (0..1_u32 << items).filter(|own| own.count_ones() < sparsity) {
                let has = |item: u64| own >> item & 1 == 1;
                // Not in order, as after sampling down.
                let input = (0..u64::from(items)).rev().filter(|&item| has(item));
                let negative = false;
                let input: Vec<Signed> = input.map(|item| Signed { item, negative }).collect();
                let mut added = alloc::vec![0; items as usize];
                for rank in 0..items - input.len() as u32 {
                    randomizer.gather(&input, rank, |index| index % 2 == 0);
                    let mut elements = randomizer.elements.clone();
                    assert_eq!(elements.len(), sparsity as usize);
                    let new = &elements[input.len()..];
                    new.iter().for_each(|&item| added[item as usize] += 1);
                    elements.sort_unstable();
                    elements.dedup();
                    assert_eq!(elements.len(), sparsity as usize);
                }
                let missing = sparsity - input.len() as u32;
                let expected =
                    (0..u64::from(items)).map(|item| if has(item) { 0 } else { missing });
                assert!(added.into_iter().eq(expected), "{own:b} of {items}");
            }
        }
    }
}
