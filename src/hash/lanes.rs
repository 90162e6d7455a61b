//! Hashing of several elements and functions side by side, for collecting and auditing.

use alloc::vec::Vec;

use super::balanced::BalancedHash;
use super::family::{ElementHash, independent_bucket};
use super::keys::HashKeys;

/// Number of slots that are hashed side by side. With sixteen slots (four 128-bit registers for
/// each coordinate), the compiler vectorises the rounds. With eight, it does not. The modules of
/// pages are compiled for size and have no vectors.
pub(super) const LANE_COUNT: usize = if cfg!(target_arch = "wasm32") { 1 } else { 16 };
/// Number of slots that are hashed side by side if many are left. Each round waits for the round
/// before it, so more slots keep wide vectors busy.
pub(super) const WIDE_LANE_COUNT: usize = if cfg!(target_arch = "wasm32") { 1 } else { 64 };
/// Number of slots that are hashed side by side if at most this many are left.
pub(super) const REMAINDER_LANE_COUNT: usize = if cfg!(target_arch = "wasm32") { 1 } else { 4 };

/// Round keys of several hash functions, in rows. Each row contains one round's key for every
/// function. A key is a [half](HashKeys::key_index_of_round) of a key word.
#[derive(Debug, Clone, Default)]
pub(super) struct RoundKeys(Vec<u32>);

impl RoundKeys {
    /// Expands the round keys of the functions with these seeds.
    pub(super) fn reseed(&mut self, hash: &ElementHash, seeds: &[u64]) {
        let Some(balanced) = balanced_hash_if_vectorised(hash, seeds) else {
            return;
        };
        let (count, width) = (seeds.len(), key_row_length(seeds.len()));
        // The number of rounds is odd, so one half of a word is left over.
        self.0.resize(width * (balanced.round_count() + 1), 0);
        for (word, rows) in self.0.chunks_exact_mut(2 * width).enumerate() {
            let (left, right) = rows.split_at_mut(width);
            for ((left, right), &seed) in left.iter_mut().zip(&mut *right).zip(seeds) {
                [*left, *right] = HashKeys::round_key_pair_from_seed(seed, word);
            }
            // Repeat the functions up to the width, so that several elements fill the lanes.
            for again in count..width {
                left[again] = left[again - count];
                right[again] = right[again - count];
            }
        }
    }

    /// Fills `buckets` with the buckets of prepared elements. First come the buckets of the first
    /// element, one for each function. Then come those of the second element, and so on.
    pub(super) fn fill_buckets(
        &self,
        hash: &ElementHash,
        seeds: &[u64],
        placed: &[u64],
        buckets: &mut [u32],
    ) {
        let count = seeds.len();
        if let Some(balanced) = balanced_hash_if_vectorised(hash, seeds) {
            return self.fill_buckets_vectorised(balanced, count, placed, buckets);
        }
        for (function, &seed) in seeds.iter().enumerate() {
            let keys = HashKeys::new(seed);
            let mut buckets = buckets[function..].iter_mut().step_by(count);
            if LANE_COUNT == 1 {
                for (bucket, &placed) in buckets.zip(placed) {
                    *bucket = hash.bucket_of_prepared_element(&keys, placed);
                }
                continue;
            }
            match hash {
                ElementHash::Balanced(balanced) => {
                    for part in placed.chunks(LANE_COUNT) {
                        let mut found = [0; LANE_COUNT];
                        if part.len() > REMAINDER_LANE_COUNT {
                            found = balanced.buckets_under_one_function(&keys, part);
                        } else {
                            let few = balanced
                                .buckets_under_one_function::<REMAINDER_LANE_COUNT>(&keys, part);
                            found[..REMAINDER_LANE_COUNT].copy_from_slice(&few);
                        }
                        // `zip` advances `found` first, so no bucket is consumed after the last
                        // result.
                        for (found, bucket) in found[..part.len()].iter().zip(&mut buckets) {
                            *bucket = *found;
                        }
                    }
                }
                ElementHash::Independent { buckets: t } => {
                    for (bucket, &element) in buckets.zip(placed) {
                        *bucket = independent_bucket(&keys, element, *t);
                    }
                }
            }
        }
    }

    /// Fills the rows of all elements under `count` functions, [`LANE_COUNT`] buckets at a time.
    #[inline]
    fn fill_buckets_vectorised(
        &self,
        balanced: BalancedHash,
        count: usize,
        placed: &[u64],
        buckets: &mut [u32],
    ) {
        let width = key_row_length(count);
        let elements = placed.chunks(width / count);
        for (placed, buckets) in elements.zip(buckets.chunks_mut(width)) {
            for first in (0..buckets.len()).step_by(LANE_COUNT) {
                // The last lanes overlap earlier ones if LANE_COUNT does not divide the width.
                let first = first.min(width - LANE_COUNT);
                let element = |lane: usize| placed[((first + lane) / count).min(placed.len() - 1)];
                let places: [u64; LANE_COUNT] = if width == count {
                    [placed[0]; LANE_COUNT]
                } else {
                    core::array::from_fn(element)
                };
                let found = balanced.buckets_under_lane_functions(&self.0[first..], width, places);
                let buckets = buckets[first..].iter_mut().zip(found);
                buckets.for_each(|(bucket, found)| *bucket = found);
            }
        }
    }
}

/// Length of a row of round keys: the smallest multiple of `count` that fills all lanes. If `count`
/// is small, several elements share the lanes.
fn key_row_length(count: usize) -> usize {
    count * LANE_COUNT.div_ceil(count)
}

/// Returns the balanced hash if its functions are evaluated side by side, else `None`. Evaluation
/// side by side requires several functions and more than one bucket.
fn balanced_hash_if_vectorised(hash: &ElementHash, seeds: &[u64]) -> Option<BalancedHash> {
    match hash {
        ElementHash::Balanced(balanced)
            if LANE_COUNT > 1 && seeds.len() > 1 && balanced.bucket_count() > 1 =>
        {
            Some(*balanced)
        }
        _ => None,
    }
}

impl BalancedHash {
    /// Returns the buckets of at most L [prepared](Balanced::coordinates) slots under one hash
    /// function.
    #[inline(always)]
    pub(super) fn buckets_under_one_function<const L: usize>(
        &self,
        keys: &HashKeys,
        placed: &[u64],
    ) -> [u32; L] {
        if self.is_shuffled() {
            let bucket = |&place: &u64| self.bucket_of_prepared_slot(keys, place);
            return core::array::from_fn(|lane| placed.get(lane).map_or(0, bucket));
        }
        let mut lanes = [0; L];
        lanes[..placed.len()].copy_from_slice(placed);
        let pair = |index| keys.round_key_pair(index).map(|key| [key; L]);
        self.buckets_after_rounds(lanes, [keys.standard_round_keys[0]; L], pair)
    }

    /// Returns the buckets of [prepared](Balanced::coordinates) slots, each under a different hash
    /// function. `rounds` has one row of keys for each [half](HashKeys::key_index_of_round), and
    /// rows begin `stride` keys apart.
    #[inline(always)]
    fn buckets_under_lane_functions<const L: usize>(
        &self,
        rounds: &[u32],
        stride: usize,
        placed: [u64; L],
    ) -> [u32; L] {
        let round = |round: usize| {
            let keys = rounds[HashKeys::key_index_of_round(round) * stride..].first_chunk();
            *keys.expect("every round has the keys of as many functions")
        };
        let pair = |index| [round(2 * index + 1), round(2 * index + 2)];
        self.buckets_after_rounds(placed, round(0), pair)
    }
}

impl HashKeys {
    /// Returns the index of a round's key among the halves of the key words, counted from 0.
    #[inline]
    const fn key_index_of_round(round: usize) -> usize {
        // The half after the fifth round's key is unused.
        if round < super::keys::STANDARD_ROUND_COUNT {
            round
        } else {
            round + 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HashFamily, HashFunctions};
    use super::*;

    #[test]
    fn buckets_are_those_of_each_function_and_element() {
        for hashing in [HashFamily::Balanced, HashFamily::Independent] {
            // One round, 21 for either reason, nine, five, and one slot in each bucket.
            for t in [1, 7, 50, 20, 3, 200] {
                let hash = ElementHash::new(hashing, Some(200), t);
                for count in [1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 40] {
                    let mut functions = HashFunctions::new(hash, count, 0);
                    functions.reseed(11);
                    for elements in [0, 1, 3, 4, 5, 16, 17, 33, 50] {
                        let elements: Vec<u64> = (0..elements).map(|i| 199 - 3 * i).collect();
                        let placed: Vec<u64> =
                            elements.iter().map(|&e| hash.prepare_element(e)).collect();
                        let mut buckets = alloc::vec![u32::MAX; elements.len() * count as usize];
                        functions.fill_buckets(&placed, &mut buckets);
                        let expected = elements.iter().flat_map(|&element| {
                            let keys = |function| HashKeys::for_hash_function(11, function);
                            (0..count).map(move |function| {
                                hash.bucket_of_element(&keys(function), element)
                            })
                        });
                        assert!(expected.eq(buckets), "{count} of {t}, {}", elements.len());
                    }
                }
            }
        }
    }
}
