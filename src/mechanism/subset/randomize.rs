//! Sampler of reports that name one bucket. The elements of an input are hashed, and the buckets
//! are ranked once. From this ranking the sampler draws a report, or an audit computes the exact
//! distribution.

use alloc::vec::Vec;
use core::marker::PhantomData;

use rand_core::CryptoRng;

use super::cell_strengths::CellStrengths;
use super::favoured_set::{DrawnBucket, FavouredSet};
use super::parameters::{BucketFavouringRule, HashedSubsetSelection};
use super::report::BucketReport;
use super::thresholds::Thresholds;
use crate::domain::{Domain, Entry, SignedItem};
use crate::hash::{HashFunctions, SignBitLocation};
use crate::mechanism::contract::Randomize;
use crate::sample::{Threshold, draw_below, draw_u64};
use crate::sort::sort_keys;

/// Sampler of Collision's and CoCo's reports, from entries that have been checked.
/// [`crate::Randomizer`] includes the checks.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::collision::{Collision, Randomizer, FavouredBucketRule};
///
/// let rule = FavouredBucketRule::Heaviest { favoured: 2 };
/// let collision = Collision::new(rule, HashFamily::Balanced, 12).unwrap();
/// let mut randomizer = Randomizer::new(&collision, &Domain::of_rated_items(Some(40), 3), 1.0);
/// // Probabilities for an input without entries, under the seed 7.
/// let probabilities = randomizer.exact_bucket_probabilities(7, &[]);
/// assert_eq!(probabilities.len(), 12);
/// assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer<R> {
    pub(in crate::mechanism) domain: Domain,
    hash_functions: HashFunctions,
    /// Number d of items, if inputs with fewer entries than the sparsity are filled up with items.
    /// `None` if they are filled up with paddings.
    filler_item_pool_size: Option<u32>,
    pub(in crate::mechanism) thresholds: Thresholds,
    /// Entries after sampling down, at most s. In CoCo, they are followed by the entries that are
    /// added to reach s.
    pub(in crate::mechanism) signed_items: Vec<SignedItem>,
    /// Elements of the input, prepared for hashing. Also used as memory for sorting items.
    elements_ready_to_hash: Vec<u64>,
    /// Side that each element pushes to under each hash function. In Collision, all pushes go to
    /// the plus side.
    element_sides: Vec<u32>,
    /// Keys for [`SignBitLocation::read_sign_bit`], one for each hash function. Used only in CoCo.
    sign_keys: Vec<u64>,
    pub(in crate::mechanism) cell_strengths: CellStrengths,
    /// Sides that the s elements push to, in ascending order. Used only under CoCo's rule
    /// `overwrite`.
    pushed_sides_by_number: Vec<u64>,
    rule_marker: PhantomData<R>,
}

impl<R: BucketFavouringRule> Randomizer<R> {
    /// True if cells are pairs of sides.
    const CELLS_ARE_PAIRS: bool = cfg!(feature = "complete") && R::SIDES_PER_CELL > 1;

    /// Creates the sampler for the parameters, domain and ε of one [`Task`](crate::Task). The task
    /// has checked that the three fit together.
    ///
    /// # Panics
    /// If the rule is the paper's and has no more cells than the domain's sparsity.
    #[must_use]
    pub fn new(subset: &HashedSubsetSelection<R>, domain: &Domain, epsilon: f64) -> Self {
        let capacity = domain.sparsity() as usize;
        let paired = if Self::CELLS_ARE_PAIRS { capacity } else { 0 };
        let functions =
            HashFunctions::new(subset.element_to_cell_hash(domain), subset.hash_count(), 0);
        Self {
            // In CoCo an element is an item without its sign. The sign is stored in `signed`.
            domain: if Self::CELLS_ARE_PAIRS {
                domain.without_signs()
            } else {
                *domain
            },
            filler_item_pool_size: subset.filler_item_pool_size(domain),
            thresholds: subset.thresholds(domain.sparsity(), epsilon),
            signed_items: Vec::with_capacity(capacity),
            elements_ready_to_hash: Vec::with_capacity(capacity),
            element_sides: alloc::vec![0; capacity * functions.function_count() * subset.buckets_per_element() as usize],
            sign_keys: Vec::new(),
            cell_strengths: subset.empty_cell_strengths(domain),
            pushed_sides_by_number: Vec::with_capacity(paired),
            hash_functions: functions,
            rule_marker: PhantomData,
        }
    }

    /// Number of items outside an input of `signed` items, if items are added to this input. `None`
    /// if no item is added.
    pub(in crate::mechanism) fn addable_item_count(&self, signed: u32) -> Option<u32> {
        let fills = Self::CELLS_ARE_PAIRS && signed < self.domain.sparsity();
        let items = self.filler_item_pool_size.filter(|_| fills);
        items.map(|items| items - signed)
    }

    /// Number of elements that have to be added to `signed` to reach s.
    pub(in crate::mechanism) fn missing_element_count(&self) -> u32 {
        self.domain
            .sparsity()
            .checked_sub(self.signed_items.len() as u32)
            .expect("inputs are sampled down to at most s entries")
    }

    /// Lists the s elements: the signed items, then the missing elements. Each missing element is a
    /// padding or an item outside the input. Added items are consecutive in cyclic order. `rank` is
    /// the rank of the first added item among all items outside the input. In CoCo,
    /// `is_negative(i)` returns true if the added element of index i has a negative sign.
    ///
    /// If the rank is uniformly random, each item outside the input is equally likely to be added.
    /// Its sign is fair, so an added item counts as neither liked nor disliked on average.
    pub(in crate::mechanism) fn prepare_padded_elements(
        &mut self,
        rank: u32,
        mut is_negative: impl FnMut(u32) -> bool,
    ) {
        let mut missing = self.missing_element_count();
        if Self::CELLS_ARE_PAIRS {
            self.elements_ready_to_hash.clear();
            if self.filler_item_pool_size.is_some() {
                let own = self.signed_items.iter().map(|own| own.item);
                self.elements_ready_to_hash.extend(own);
                sort_keys(&mut self.elements_ready_to_hash);
            }
            // Turn the rank among the other items into an item, by skipping the input's items.
            let mut other = u64::from(rank);
            for &own in &self.elements_ready_to_hash {
                other += u64::from(own <= other);
            }
            for index in 0..missing {
                let mut item = self.domain.padding_element(index);
                if let Some(items) = self.filler_item_pool_size {
                    while self.elements_ready_to_hash.binary_search(&other).is_ok() {
                        other = (other + 1) % u64::from(items);
                    }
                    item = other;
                    other = (other + 1) % u64::from(items);
                }
                let negative = is_negative(index);
                self.signed_items.push(SignedItem {
                    item,
                    is_negative: negative,
                });
            }
            missing = 0;
        }
        let own = self
            .signed_items
            .iter()
            .map(|&own| self.domain.element_of_signed_item(own));
        let paddings = (0..missing).map(|index| self.domain.padding_element(index));
        let prepare = |element: u64| self.hash_functions.prepare_element(element);
        self.elements_ready_to_hash.clear();
        self.elements_ready_to_hash
            .extend(own.chain(paddings).map(prepare));
    }

    /// Hashes the elements to cells, and computes the side that each element pushes to.
    fn compute_element_sides(&mut self, seed: u64) {
        self.hash_functions.reseed(seed);
        self.hash_functions
            .fill_buckets(&self.elements_ready_to_hash, &mut self.element_sides);
        if Self::CELLS_ARE_PAIRS {
            self.sign_keys.clear();
            self.sign_keys.extend(self.hash_functions.sign_keys());
            let hashed = self
                .element_sides
                .chunks_exact_mut(self.hash_functions.function_count());
            for (
                sides,
                &SignedItem {
                    item,
                    is_negative: negative,
                },
            ) in hashed.zip(&self.signed_items)
            {
                let fair = SignBitLocation::for_element(&self.domain, item);
                for (side, &key) in sides.iter_mut().zip(&self.sign_keys) {
                    *side = 2 * *side + (fair.read_sign_bit(key) ^ u32::from(!negative));
                }
            }
            return;
        }
        // Further buckets that the one answer is in: those that follow the first, in cyclic order.
        for next in self.elements_ready_to_hash.len() * self.hash_functions.function_count()
            ..self.element_sides.len()
        {
            self.element_sides[next] =
                (self.element_sides[next - 1] + 1) % self.thresholds.outcome_count;
        }
        // Side 2k is the plus side of cell k.
        self.element_sides
            .iter_mut()
            .for_each(|bucket| *bucket *= 2);
    }

    /// Hashes the elements, ranks the sides by net push, and returns the favoured set.
    pub(in crate::mechanism) fn compute_favoured_set(&mut self, seed: u64) -> FavouredSet {
        self.compute_element_sides(seed);
        self.cell_strengths.count_pushes(&self.element_sides);
        let size = self
            .thresholds
            .favoured_count(self.cell_strengths.strong_side_count());
        FavouredSet::new(
            size,
            &self.cell_strengths,
            self.zero_strength_bucket_count(),
        )
    }

    /// Probability of drawing a favoured bucket, for the input that was ranked last.
    pub(in crate::mechanism) fn favoured_threshold(&self) -> Threshold {
        self.thresholds
            .favoured_threshold(self.cell_strengths.strong_side_count())
    }

    /// Number of buckets in cells whose count is 0.
    fn zero_strength_bucket_count(&self) -> u32 {
        self.thresholds.outcome_count - R::SIDES_PER_CELL * self.cell_strengths.strong_side_count()
    }

    fn draw_bucket_by_strength<G: CryptoRng + ?Sized>(&mut self, seed: u64, rng: &mut G) -> u32 {
        let favoured = self.compute_favoured_set(seed);
        let drawn = favoured.draw_bucket(
            self.thresholds.outcome_count,
            self.favoured_threshold(),
            rng,
        );
        if !Self::CELLS_ARE_PAIRS {
            return match drawn {
                DrawnBucket::Ranked(rank) => self.cell_strengths.side_of_rank(rank) / 2,
                // These buckets hold no element, tied or not.
                DrawnBucket::TiedAtZeroStrength(index) | DrawnBucket::UnrankedUntied(index) => {
                    self.cell_strengths.side_without_strength(2 * index) / 2
                }
            };
        }
        match drawn {
            DrawnBucket::Ranked(rank) => self.cell_strengths.side_of_rank(rank),
            DrawnBucket::TiedAtZeroStrength(index) => {
                self.cell_strengths.side_without_strength(index)
            }
            // Sides that are neither ranked nor tied: first the balanced ones, unless these tie,
            // then the opposite sides of the ranked ones.
            DrawnBucket::UnrankedUntied(index) => {
                let balanced = if favoured.is_tie_at_zero() {
                    0
                } else {
                    self.zero_strength_bucket_count()
                };
                match index.checked_sub(balanced) {
                    None => self.cell_strengths.side_without_strength(index),
                    Some(rank) => opposite_side(self.cell_strengths.side_of_rank(rank)),
                }
            }
        }
    }

    fn draw_bucket_by_overwrite<G: CryptoRng + ?Sized>(
        &mut self,
        seed: u64,
        decided: Threshold,
        rng: &mut G,
    ) -> u32 {
        self.sort_sides_by_number(seed);
        let pushed = self.sides_grouped_by_pair().count() as u32;
        if self.thresholds.favoured_threshold(pushed).draw_bool(rng) {
            let pair = draw_below(rng, pushed) as usize;
            let pushes = self
                .sides_grouped_by_pair()
                .nth(pair)
                .unwrap_or(&self.pushed_sides_by_number);
            // Buckets are below t < 2³².
            let side = pushes[draw_below(rng, pushes.len() as u32) as usize] as u32;
            if decided.draw_bool(rng) {
                side
            } else {
                opposite_side(side)
            }
        } else {
            let elsewhere = self.thresholds.outcome_count - 2 * pushed;
            self.nth_side_without_push(draw_below(rng, elsewhere))
        }
    }

    /// Hashes the elements and sorts the sides that they push to. Sorting puts the sides of one
    /// pair together.
    pub(in crate::mechanism) fn sort_sides_by_number(&mut self, seed: u64) {
        self.compute_element_sides(seed);
        self.pushed_sides_by_number.clear();
        self.pushed_sides_by_number
            .extend(self.element_sides.iter().map(|&side| u64::from(side)));
        sort_keys(&mut self.pushed_sides_by_number);
    }

    /// Returns the pushes of each pushed pair, in ascending order of sides.
    pub(in crate::mechanism) fn sides_grouped_by_pair(&self) -> impl Iterator<Item = &[u64]> {
        self.pushed_sides_by_number.chunk_by(|a, b| a / 2 == b / 2)
    }

    /// Returns a side of a pair that no entry pushes. All such sides are in ascending order, and
    /// `index` is a position in this order, counted from 0.
    fn nth_side_without_push(&self, index: u32) -> u32 {
        let mut pair = index / 2;
        for pushes in self.sides_grouped_by_pair() {
            if pushes[0] / 2 > pair.into() {
                break;
            }
            pair += 1;
        }
        2 * pair + index % 2
    }
}

impl<R: BucketFavouringRule> Randomize for Randomizer<R> {
    type Report = BucketReport;

    fn set_favoured_threshold(&mut self, threshold: Threshold) {
        self.thresholds.favoured_thresholds[0] = threshold;
    }

    /// Draws in this order:
    ///
    /// - randomness for ternarisation and sampling down;
    /// - if items are added, the rank of the first one;
    /// - if cells have two sides, the signs of added paddings or items, 64 to a word;
    /// - a word that decides whether a favoured bucket is reported (64 bits);
    /// - a rank and, if it belongs to a tied bucket, one of the tied buckets.
    ///
    /// CoCo's rule `overwrite` has other draws in place of the last ones. If the bucket is
    /// favoured, these are a pushed pair, the entry that decides in this pair, and the side (64
    /// bits). Otherwise a bucket of the pairs without a push is drawn.
    fn randomize<G: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut G,
        report: &mut BucketReport,
    ) -> bool {
        let sampled_down =
            self.domain
                .round_and_sample_entries(entries, rng, &mut self.signed_items);
        let others = self.addable_item_count(self.signed_items.len() as u32);
        let rank = others.map_or(0, |others| draw_below(rng, others));
        let mut signs = 0;
        self.prepare_padded_elements(rank, |index| {
            if index.is_multiple_of(64) {
                signs = draw_u64(rng);
            }
            (signs >> (index % 64)) & 1 == 1
        });
        let bucket = match self.thresholds.side_given_pair_threshold {
            Some(decided) if Self::CELLS_ARE_PAIRS => {
                self.draw_bucket_by_overwrite(seed, decided, rng)
            }
            _ => self.draw_bucket_by_strength(seed, rng),
        };
        *report = BucketReport { seed, bucket };
        sampled_down
    }
}

/// Returns the other side of the pair that the side `bucket` belongs to.
pub(in crate::mechanism) const fn opposite_side(bucket: u32) -> u32 {
    bucket ^ 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::HashFamily;
    use crate::mechanism::coco::{Coco, FavouredSideRule};

    /// Checks all ranks of the first added item. Each item outside the input must be added equally
    /// often, and never twice to one input.
    #[test]
    fn every_other_item_is_as_likely_to_be_added() {
        let coco = Coco::new(
            FavouredSideRule::Strongest { favoured: 1 },
            HashFamily::BalancedItems,
            4,
        )
        .unwrap();
        for (items, sparsity) in [(7_u32, 4_u32), (5, 5), (9, 6)] {
            let domain = Domain::of_rated_items(Some(items), sparsity);
            let mut randomizer = Randomizer::new(&coco, &domain, 1.0);
            for own in (0..1_u32 << items).filter(|own| own.count_ones() < sparsity) {
                let has = |item: u64| own >> item & 1 == 1;
                // Unordered, as after sampling down.
                let input = (0..u64::from(items)).rev().filter(|&item| has(item));
                let negative = false;
                let input: Vec<SignedItem> = input
                    .map(|item| SignedItem {
                        item,
                        is_negative: negative,
                    })
                    .collect();
                let mut added = alloc::vec![0; items as usize];
                for rank in 0..items - input.len() as u32 {
                    randomizer.signed_items.clone_from(&input);
                    randomizer.prepare_padded_elements(rank, |index| index % 2 == 0);
                    let items = randomizer.signed_items.iter().map(|own| own.item);
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
