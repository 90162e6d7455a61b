//! All hash functions of a report at once.

use alloc::vec::Vec;

use super::balanced::{Balanced, FEW_LANES, LANES};
use super::family::{Hash, independent_bucket};
use super::keys::Keys;

/// R hash functions of a family, under the seed of one report after the other: all
/// buckets of an element are worked out together.
///
/// ```
/// use hushbin::hash::{Functions, Hashing, Keys, independent_bucket};
///
/// // Two functions of 8 buckets, under the seed 7.
/// let functions = Functions::of_seed(Hashing::Independent, None, 8, 2, 7);
/// let mut buckets = [0; 2];
/// functions.buckets_of(&[functions.place(99)], &mut buckets);
/// assert_eq!(buckets[0], independent_bucket(&Keys::new(7), 99, 8));
/// assert_eq!(buckets[1], independent_bucket(&functions.keys(1), 99, 8));
/// ```
#[derive(Debug, Clone)]
pub struct Functions {
    hash: Hash,
    /// The seed of each.
    pub(super) seeds: Vec<u64>,
    /// Where functions are worked out [side by side](Functions::side_by_side): the
    /// [halves](Keys::half_of) of their rounds' keys, those of all in a row.
    rounds: Vec<u32>,
}

impl Functions {
    pub(crate) fn new(hash: Hash, count: u32, seed: u64) -> Self {
        let mut functions = Self {
            hash,
            seeds: alloc::vec![0; count as usize],
            rounds: Vec::new(),
        };
        functions.take_seed(seed);
        functions
    }

    /// R.
    #[must_use]
    pub fn count(&self) -> usize {
        self.seeds.len()
    }

    /// The key of each function's signs, for a [`SignBit`](super::SignBit).
    #[cfg(feature = "complete")]
    pub(crate) fn sign_keys(&self) -> impl Iterator<Item = u64> {
        self.seeds.iter().map(|&seed| Keys::sign_key(seed))
    }

    /// Takes the functions of a report's seed.
    pub(crate) fn take_seed(&mut self, seed: u64) {
        for (function, own) in (0..).zip(&mut self.seeds) {
            *own = Keys::function_seed(seed, function);
        }
        let Some(balanced) = self.side_by_side() else {
            return;
        };
        let (count, width) = (self.count(), self.width());
        // An odd number of rounds, and the half that is left over.
        self.rounds.resize(width * (balanced.rounds() + 1), 0);
        for (word, rows) in self.rounds.chunks_exact_mut(2 * width).enumerate() {
            let (left, right) = rows.split_at_mut(width);
            for ((left, right), &seed) in left.iter_mut().zip(&mut *right).zip(&self.seeds) {
                [*left, *right] = Keys::round_word(seed, word);
            }
            for again in count..width {
                left[again] = left[again - count];
                right[again] = right[again - count];
            }
        }
    }

    /// How many keys of a round are in a row: of all functions, so often that they fill
    /// the lanes, with several elements side by side.
    fn width(&self) -> usize {
        self.count() * LANES.div_ceil(self.count())
    }

    /// The hash, where there are several functions, and anything to work out.
    fn side_by_side(&self) -> Option<Balanced> {
        match self.hash {
            Hash::Balanced(balanced) if LANES > 1 && self.count() > 1 && balanced.buckets() > 1 => {
                Some(balanced)
            }
            _ => None,
        }
    }

    /// What of hashing an element is the same for all functions and seeds.
    #[must_use]
    pub const fn place(&self, element: u64) -> u64 {
        self.hash.place(element)
    }

    /// Fills `buckets` with those of elements that are [placed](Functions::place): of
    /// the first by each function, then of the second, and so on.
    pub fn buckets_of(&self, placed: &[u64], buckets: &mut [u32]) {
        if self.hash.buckets() == 1 || buckets.is_empty() {
            buckets.fill(0);
            return;
        }
        let count = self.count();
        if let Some(balanced) = self.side_by_side() {
            let width = self.width();
            let elements = placed.chunks(width / count);
            for (placed, buckets) in elements.zip(buckets.chunks_mut(width)) {
                for first in (0..buckets.len()).step_by(LANES) {
                    let first = first.min(width - LANES);
                    let element =
                        |lane: usize| placed[((first + lane) / count).min(placed.len() - 1)];
                    let places: [u64; LANES] = if width == count {
                        [placed[0]; LANES]
                    } else {
                        core::array::from_fn(element)
                    };
                    let found = balanced.buckets_by(&self.rounds[first..], width, places);
                    let buckets = buckets[first..].iter_mut();
                    buckets
                        .zip(found)
                        .for_each(|(bucket, found)| *bucket = found);
                }
            }
            return;
        }
        for (function, &seed) in self.seeds.iter().enumerate() {
            let keys = Keys::new(seed);
            let mut buckets = buckets[function..].iter_mut().step_by(count);
            if LANES == 1 {
                for (bucket, &placed) in buckets.zip(placed) {
                    *bucket = self.hash.bucket_of_place(&keys, placed);
                }
                continue;
            }
            match self.hash {
                Hash::Balanced(balanced) => {
                    for placed in placed.chunks(LANES) {
                        let mut found = [0; LANES];
                        if placed.len() > FEW_LANES {
                            found = balanced.buckets_of(&keys, placed);
                        } else {
                            let few: [u32; FEW_LANES] = balanced.buckets_of(&keys, placed);
                            found[..FEW_LANES].copy_from_slice(&few);
                        }
                        // In this order no bucket is taken where none is found.
                        for (found, bucket) in found[..placed.len()].iter().zip(&mut buckets) {
                            *bucket = *found;
                        }
                    }
                }
                Hash::Independent { buckets: t } => {
                    for (bucket, &element) in buckets.zip(placed) {
                        *bucket = independent_bucket(&keys, element, t);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Hashing;
    use super::*;

    #[test]
    fn buckets_are_those_of_each_function_and_element() {
        for hashing in [Hashing::Balanced, Hashing::Independent] {
            // One round, 21 for either reason, nine, five, and one slot in each bucket.
            for t in [1, 7, 50, 20, 3, 200] {
                let hash = Hash::new(hashing, Some(200), t);
                for count in [1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 40] {
                    let mut functions = Functions::new(hash, count, 0);
                    functions.take_seed(11);
                    for elements in [0, 1, 3, 4, 5, 16, 17, 33, 50] {
                        let elements: Vec<u64> = (0..elements).map(|i| 199 - 3 * i).collect();
                        let placed: Vec<u64> = elements.iter().map(|&e| hash.place(e)).collect();
                        let mut buckets = alloc::vec![u32::MAX; elements.len() * count as usize];
                        functions.buckets_of(&placed, &mut buckets);
                        let expected = elements.iter().flat_map(|&element| {
                            let keys = |function| Keys::of_function(11, function);
                            (0..count).map(move |function| hash.bucket(&keys(function), element))
                        });
                        assert!(expected.eq(buckets), "{count} of {t}, {}", elements.len());
                    }
                }
            }
        }
    }
}
