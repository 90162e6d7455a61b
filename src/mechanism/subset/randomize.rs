//! Sampling of a report of one bucket. An input is hashed and its buckets are ranked once. Then the
//! sampler draws, and an audit computes the exact distribution.

use alloc::vec::Vec;
use core::marker::PhantomData;

use rand_core::CryptoRng;

use super::cell_strengths::CellStrengths;
use super::favoured::{DrawnBucket, FavouredSet};
use super::parameters::{Rule, Subset};
use super::report::BucketReport;
use super::thresholds::Thresholds;
use crate::domain::{Domain, Entry, Signed};
use crate::hash::{HashFunctions, SignBit};
use crate::mechanism::contract::Randomize;
use crate::sample::{Threshold, below, word};
use crate::sort::sort;

/// Sampler of Collision's and CoCo's reports, from checked entries. [`crate::Randomizer`] also
/// checks them.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::collision::{Collision, Randomizer, Rule};
///
/// let rule = Rule::Heaviest { favoured: 2 };
/// let collision = Collision::new(rule, Hashing::Balanced, 12).unwrap();
/// let mut randomizer = Randomizer::new(&collision, &Domain::rated(Some(40), 3), 1.0);
/// // Probabilities for an input without entries, under the seed 7.
/// let probabilities = randomizer.probabilities(7, &[]);
/// assert_eq!(probabilities.len(), 12);
/// assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer<R> {
    pub(in crate::mechanism) domain: Domain,
    functions: HashFunctions,
    /// Number of items d if items are added to an input in place of paddings, else `None`.
    filling_items: Option<u32>,
    pub(in crate::mechanism) thresholds: Thresholds,
    /// Entries that are left, at most s. If cells have two sides, they include what is added to
    /// them.
    pub(in crate::mechanism) signed: Vec<Signed>,
    /// Elements, prepared for hashing.
    placed: Vec<u64>,
    /// Side that each element pushes to under each hash function. If cells are single buckets,
    /// nothing pushes to a minus side.
    hashed: Vec<u32>,
    /// Sign key of each hash function.
    sign_keys: Vec<u64>,
    pub(in crate::mechanism) cells: CellStrengths,
    /// Sides that the s elements push to, ascending, under CoCo's rule of a paper.
    pushes: Vec<u64>,
    rule: PhantomData<R>,
}

impl<R: Rule> Randomizer<R> {
    /// True if cells are pairs of sides.
    const PAIRS: bool = cfg!(feature = "complete") && R::SIDES > 1;

    /// Creates the sampler for the parameters, domain and ε of one [`Task`](crate::Task), which has
    /// checked that they go together.
    ///
    /// # Panics
    /// If a paper's rule has no more cells than the domain's sparsity.
    #[must_use]
    pub fn new(subset: &Subset<R>, domain: &Domain, epsilon: f64) -> Self {
        let capacity = domain.sparsity() as usize;
        let paired = if Self::PAIRS { capacity } else { 0 };
        let functions = HashFunctions::new(subset.hash(domain), subset.hashes(), 0);
        Self {
            // For pairs, signs are stored with the elements.
            domain: if Self::PAIRS {
                domain.unsigned()
            } else {
                *domain
            },
            filling_items: subset.filling_items(domain),
            thresholds: subset.thresholds(domain.sparsity(), epsilon),
            signed: Vec::with_capacity(capacity),
            placed: Vec::with_capacity(capacity),
            hashed: alloc::vec![0; capacity * functions.count() * subset.width() as usize],
            sign_keys: Vec::new(),
            cells: subset.empty_cells(domain),
            pushes: Vec::with_capacity(paired),
            functions,
            rule: PhantomData,
        }
    }

    /// Number of items that may be added to `signed` signed ones; `None` if none is added.
    pub(in crate::mechanism) fn others(&self, signed: u32) -> Option<u32> {
        let fills = Self::PAIRS && signed < self.domain.sparsity();
        let items = self.filling_items.filter(|_| fills);
        items.map(|items| items - signed)
    }

    /// Number of elements that the signed items lack.
    pub(in crate::mechanism) fn missing(&self) -> u32 {
        self.domain
            .sparsity()
            .checked_sub(self.signed.len() as u32)
            .expect("inputs are sampled down to at most s entries")
    }

    /// Lists the elements: the signed items, then the missing ones. These are paddings, or a run of
    /// other items in cyclic order. The run starts at the item of this rank among the other items.
    ///
    /// If the rank is uniformly random, each other item is equally likely to be added. With a fair
    /// sign an added item is neither liked nor disliked on average.
    pub(in crate::mechanism) fn list_elements(
        &mut self,
        rank: u32,
        mut is_negative: impl FnMut(u32) -> bool,
    ) {
        let mut missing = self.missing();
        if Self::PAIRS {
            self.placed.clear();
            if self.filling_items.is_some() {
                let own = self.signed.iter().map(|own| own.item);
                self.placed.extend(own);
                sort(&mut self.placed);
            }
            // Turn the rank among the other items into an item, by skipping the input's items.
            let mut other = u64::from(rank);
            for &own in &self.placed {
                other += u64::from(own <= other);
            }
            for index in 0..missing {
                let mut item = self.domain.padding(index);
                if let Some(items) = self.filling_items {
                    while self.placed.binary_search(&other).is_ok() {
                        other = (other + 1) % u64::from(items);
                    }
                    item = other;
                    other = (other + 1) % u64::from(items);
                }
                let negative = is_negative(index);
                self.signed.push(Signed { item, negative });
            }
            missing = 0;
        }
        let own = self.signed.iter().map(|&own| self.domain.element(own));
        let paddings = (0..missing).map(|index| self.domain.padding(index));
        let prepare = |element: u64| self.functions.prepare_element(element);
        self.placed.clear();
        self.placed.extend(own.chain(paddings).map(prepare));
    }

    /// Hashes the elements to cells, and then to the sides that they push to.
    fn push(&mut self, seed: u64) {
        self.functions.reseed(seed);
        self.functions.fill_buckets(&self.placed, &mut self.hashed);
        if Self::PAIRS {
            self.sign_keys.clear();
            self.sign_keys.extend(self.functions.sign_keys());
            let hashed = self.hashed.chunks_exact_mut(self.functions.count());
            for (sides, &Signed { item, negative }) in hashed.zip(&self.signed) {
                let fair = SignBit::of(&self.domain, item);
                for (side, &key) in sides.iter_mut().zip(&self.sign_keys) {
                    *side = 2 * *side + (fair.plus(key) ^ u32::from(!negative));
                }
            }
            return;
        }
        // Rest of the one answer's window: the following buckets, in cyclic order.
        for next in self.placed.len() * self.functions.count()..self.hashed.len() {
            self.hashed[next] = (self.hashed[next - 1] + 1) % self.thresholds.outcomes;
        }
        self.hashed.iter_mut().for_each(|bucket| *bucket *= 2);
    }

    /// Ranks the sides by the net push of the elements.
    pub(in crate::mechanism) fn favour(&mut self, seed: u64) -> FavouredSet {
        self.push(seed);
        self.cells.fill(&self.hashed);
        let size = self.thresholds.favoured(self.cells.len());
        FavouredSet::new(size, &self.cells, self.balanced())
    }

    /// Probability of drawing a favoured bucket, for the input that was ranked last.
    pub(in crate::mechanism) fn inside(&self) -> Threshold {
        self.thresholds.inside(self.cells.len())
    }

    /// Number of buckets of cells in balance.
    fn balanced(&self) -> u32 {
        self.thresholds.outcomes - R::SIDES * self.cells.len()
    }

    fn strongest<G: CryptoRng + ?Sized>(&mut self, seed: u64, rng: &mut G) -> u32 {
        let favoured = self.favour(seed);
        let drawn = favoured.sample(self.thresholds.outcomes, self.inside(), rng);
        if !Self::PAIRS {
            return match drawn {
                DrawnBucket::Ranked(rank) => self.cells.side_of_rank(rank) / 2,
                // These buckets hold no element, tied or not.
                DrawnBucket::Zero(index) | DrawnBucket::Other(index) => {
                    self.cells.side_without_strength(2 * index) / 2
                }
            };
        }
        match drawn {
            DrawnBucket::Ranked(rank) => self.cells.side_of_rank(rank),
            DrawnBucket::Zero(index) => self.cells.side_without_strength(index),
            // Sides that are neither ranked nor tied: first the balanced ones, unless these tie,
            // then the opposite sides of the ranked ones.
            DrawnBucket::Other(index) => {
                let balanced = if favoured.zeros_tie() {
                    0
                } else {
                    self.balanced()
                };
                match index.checked_sub(balanced) {
                    None => self.cells.side_without_strength(index),
                    Some(rank) => opposite(self.cells.side_of_rank(rank)),
                }
            }
        }
    }

    fn overwrite<G: CryptoRng + ?Sized>(
        &mut self,
        seed: u64,
        decided: Threshold,
        rng: &mut G,
    ) -> u32 {
        self.sort_pushes(seed);
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

    /// Sorts the pushed sides, which puts the sides of one pair together.
    pub(in crate::mechanism) fn sort_pushes(&mut self, seed: u64) {
        self.push(seed);
        self.pushes.clear();
        self.pushes
            .extend(self.hashed.iter().map(|&side| u64::from(side)));
        sort(&mut self.pushes);
    }

    /// Pushes of each pushed pair, ascending.
    pub(in crate::mechanism) fn pairs(&self) -> impl Iterator<Item = &[u64]> {
        self.pushes.chunk_by(|a, b| a / 2 == b / 2)
    }

    /// Returns the `index`-th side, ascending, of the pairs that are not pushed.
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

impl<R: Rule> Randomize for Randomizer<R> {
    type Report = BucketReport;

    /// Draws in this order:
    ///
    /// - randomness for ternarisation and sampling down;
    /// - if items are added, the rank of the first one;
    /// - if cells have two sides, the signs of added paddings or items, 64 to a word;
    /// - inside or outside (64 bits);
    /// - a rank and, if it falls among tied buckets, one of them.
    ///
    /// CoCo's rule of a paper instead draws a pair, the entry that decides in it and its side (64
    /// bits), or a bucket elsewhere.
    fn randomize<G: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut G,
        report: &mut BucketReport,
    ) -> bool {
        let sampled_down = self.domain.draw_signed(entries, rng, &mut self.signed);
        let others = self.others(self.signed.len() as u32);
        let rank = others.map_or(0, |others| below(rng, others));
        let mut signs = 0;
        self.list_elements(rank, |index| {
            if index.is_multiple_of(64) {
                signs = word(rng);
            }
            (signs >> (index % 64)) & 1 == 1
        });
        let bucket = match self.thresholds.decided {
            Some(decided) if Self::PAIRS => self.overwrite(seed, decided, rng),
            _ => self.strongest(seed, rng),
        };
        *report = BucketReport { seed, bucket };
        sampled_down
    }
}

/// Returns the other side of the same pair.
pub(in crate::mechanism) const fn opposite(bucket: u32) -> u32 {
    bucket ^ 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hashing;
    use crate::mechanism::coco::{Coco, Rule};

    /// Checks all ranks of the first added item. Each item outside the input is added equally
    /// often, and never twice.
    #[test]
    fn every_other_item_is_as_likely_to_be_added() {
        let coco = Coco::new(Rule::Strongest { favoured: 1 }, Hashing::BalancedItems, 4).unwrap();
        for (items, sparsity) in [(7_u32, 4_u32), (5, 5), (9, 6)] {
            let domain = Domain::rated(Some(items), sparsity);
            let mut randomizer = Randomizer::new(&coco, &domain, 1.0);
            for own in (0..1_u32 << items).filter(|own| own.count_ones() < sparsity) {
                let has = |item: u64| own >> item & 1 == 1;
                // Unordered, as after sampling down.
                let input = (0..u64::from(items)).rev().filter(|&item| has(item));
                let negative = false;
                let input: Vec<Signed> = input.map(|item| Signed { item, negative }).collect();
                let mut added = alloc::vec![0; items as usize];
                for rank in 0..items - input.len() as u32 {
                    randomizer.signed.clone_from(&input);
                    randomizer.list_elements(rank, |index| index % 2 == 0);
                    let items = randomizer.signed.iter().map(|own| own.item);
                    let mut elements: Vec<u64> = items.collect();
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
