//! The balanced hash: a keyed permutation of slots.

use super::keys::{HashKeys, STANDARD_ROUND_COUNT};
use super::shuffle;

/// Number of rounds if a coordinate of the slots takes few values. All numbers of rounds are odd.
/// See [`Balanced::rounds`].
const ROUNDS_FOR_SMALL_COORDINATE: usize = 21;
/// Number of rounds if coordinate z takes few values and w takes many.
const ROUNDS_FOR_FEW_BUCKETS: usize = 9;
/// Value of `rounds` that means a full shuffle instead of rounds.
const SHUFFLE_INSTEAD_OF_ROUNDS: usize = 0;
/// Number of rounds of a hash for windows if each bucket has two slots.
const WINDOW_ROUNDS_2_SLOT_BUCKETS: usize = 41;
/// A coordinate with fewer values than this, but more than one, takes few values.
const SMALL_COORDINATE_RANGE_LIMIT: u32 = 8;
/// A coordinate with at least this many values takes many values.
const LARGE_COORDINATE_RANGE_MIN: u32 = 32;

/// Balanced hash of a closed domain. It has m·t slots: exactly m slots in each of t buckets.
///
/// A slot is w·t + z, with the coordinates z below t and w below m. The slot passes through
/// alternating rounds, five or [more](BalancedHash::round_count). Each round shifts one coordinate by a
/// keyed function of the other. Each round is a bijection, so all rounds together are a permutation
/// of the slots. The final z is the bucket. Rounds can be undone, so the slots of a bucket are
/// listed in O(m) time, without a search over all slots.
///
/// A slot is in each bucket with the same probability. Two slots share a bucket with the
/// probability (m − 1)/(N − 1), where N = m·t, up to a factor within 1/N² of 1. A random
/// permutation has exactly this probability. With m = 1 no two slots ever share a bucket.
///
/// ```
/// use hushbin::hash::{BalancedHash, HashKeys};
///
/// let hash = BalancedHash::new(100, 8);      // 100 elements, 8 buckets of 13 slots
/// let keys = HashKeys::new(7);
/// let mut slots = Vec::new();
/// hash.for_each_slot_in_bucket(&keys, 3, |slot| slots.push(slot));
/// assert_eq!(slots.len(), 13);
/// assert!(slots.iter().all(|&slot| hash.bucket_of_slot(&keys, slot) == 3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalancedHash {
    pub(super) bucket_count: u32,
    pub(super) slots_per_bucket: u32,
    pub(super) round_count: usize,
}

impl BalancedHash {
    /// Creates the hash of `elements` elements to `buckets` buckets. The number m of slots per
    /// bucket is the smallest number that gives each element a slot.
    ///
    /// # Panics
    /// If `buckets` is 0.
    #[must_use]
    pub const fn new(elements: u32, buckets: u32) -> Self {
        let per_bucket = elements.div_ceil(buckets);
        Self {
            bucket_count: buckets,
            slots_per_bucket: per_bucket,
            round_count: match (per_bucket, buckets) {
                (_, 1) => 1,
                (1, _) => STANDARD_ROUND_COUNT,
                (LARGE_COORDINATE_RANGE_MIN.., ..SMALL_COORDINATE_RANGE_LIMIT) => {
                    ROUNDS_FOR_FEW_BUCKETS
                }
                (..SMALL_COORDINATE_RANGE_LIMIT, _) | (_, ..SMALL_COORDINATE_RANGE_LIMIT) => {
                    ROUNDS_FOR_SMALL_COORDINATE
                }
                _ => STANDARD_ROUND_COUNT,
            },
        }
    }

    /// Creates the hash for balanced windows, in which an element is in several consecutive
    /// buckets.
    pub(super) const fn for_balanced_windows(elements: u32, buckets: u32) -> Self {
        let plain = Self::new(elements, buckets);
        Self {
            // Sums of answers depend on triples of slots, which mix more slowly than pairs. With
            // one slot per bucket, rounds mix too little (see `is_shuffled`).
            round_count: match plain.slots_per_bucket {
                1 => SHUFFLE_INSTEAD_OF_ROUNDS,
                2 => WINDOW_ROUNDS_2_SLOT_BUCKETS,
                3..=15 => ROUNDS_FOR_SMALL_COORDINATE,
                _ => ROUNDS_FOR_FEW_BUCKETS,
            },
            ..plain
        }
    }

    /// Number of rounds. It is five, except in these cases with m slots per bucket and t buckets:
    ///
    /// - 21 if 2 ≤ m < 8, or if 2 ≤ t < 8 and m < 32;
    /// - 9 if 2 ≤ t < 8 and m ≥ 32;
    /// - 1 if t = 1, because there is nothing to mix.
    ///
    /// The hash for windows has 41 rounds for m = 2, 21 for 3 ≤ m < 16 and 9 for m ≥ 16. For m = 1
    /// the value is 0, which means a shuffle instead of rounds. The book gives the reasons, in
    /// `math/hashing`.
    #[must_use]
    pub const fn round_count(&self) -> usize {
        self.round_count
    }

    /// Returns true if the slots are shuffled instead of passing through rounds. With one slot per
    /// bucket, rounds would only rotate the slots, so neighbours would stay neighbours.
    pub(super) const fn is_shuffled(&self) -> bool {
        self.round_count == SHUFFLE_INSTEAD_OF_ROUNDS
    }

    /// Number of buckets t.
    pub(crate) const fn bucket_count(&self) -> u32 {
        self.bucket_count
    }

    /// Returns the coordinates of a slot before the rounds: w in the upper half, z in the lower.
    /// They do not depend on the keys.
    pub(super) const fn slot_coordinates(&self, slot: u32) -> u64 {
        ((slot / self.bucket_count) as u64) << 32 | (slot % self.bucket_count) as u64
    }

    /// Runs the rounds on L [prepared](Balanced::coordinates) slots side by side and returns the
    /// slots' buckets. `first` contains the keys of the first round. `pair(i)` returns the keys of
    /// rounds 2i + 1 and 2i + 2, counted from 0.
    #[inline(always)]
    pub(super) fn buckets_after_rounds<const L: usize>(
        &self,
        placed: [u64; L],
        first: [u32; L],
        pair: impl Fn(usize) -> [[u32; L]; 2],
    ) -> [u32; L] {
        let (t, m) = (self.bucket_count, self.slots_per_bucket);
        let mut w = placed.map(|place| (place >> 32) as u32);
        let mut z = placed.map(|place| place as u32);
        shift_coordinate(&mut z, &w, first, t);
        for index in 0..self.round_count / 2 {
            let [for_w, for_z] = pair(index);
            shift_coordinate(&mut w, &z, for_w, m);
            shift_coordinate(&mut z, &w, for_z, t);
        }
        z
    }

    /// Returns the bucket of a [prepared](Balanced::coordinates) slot.
    #[inline]
    pub(super) fn bucket_of_prepared_slot(&self, keys: &HashKeys, place: u64) -> u32 {
        if self.is_shuffled() {
            return shuffle::shuffled_position(keys, self.bucket_count, place as u32);
        }
        let pair = |index| keys.round_key_pair(index).map(|key| [key]);
        self.buckets_after_rounds([place], [keys.standard_round_keys[0]], pair)[0]
    }
}

/// Shifts one coordinate of each slot by a keyed function of the other coordinate.
#[inline(always)]
fn shift_coordinate<const L: usize>(
    shifted: &mut [u32; L],
    by: &[u32; L],
    keys: [u32; L],
    range: u32,
) {
    for ((shifted, &by), key) in shifted.iter_mut().zip(by).zip(keys) {
        *shifted = add_modulo(*shifted, keyed_value_below(by, key, range), range);
    }
}

/// Maps `x` and a key to a pseudorandom value below `range`.
#[inline(always)]
pub(super) fn keyed_value_below(x: u32, key: u32, range: u32) -> u32 {
    ((u64::from(mix32(x ^ key)) * u64::from(range)) >> 32) as u32
}

/// Returns a + b mod range, for a and b below range. The sum a + b cannot overflow because range <
/// 2³¹.
#[inline(always)]
fn add_modulo(a: u32, b: u32, range: u32) -> u32 {
    subtract_modulo(a + b, range, range)
}

/// Returns a − b mod range, for a − b from −range to range − 1.
#[inline(always)]
pub(super) fn subtract_modulo(a: u32, b: u32, range: u32) -> u32 {
    // No branch: the arithmetic shift turns a negative difference into a mask of ones.
    let difference = a.wrapping_sub(b);
    difference.wrapping_add((difference.cast_signed() >> 31).cast_unsigned() & range)
}

#[inline(always)]
const fn mix32(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x21f0_aaad);
    h = (h ^ (h >> 15)).wrapping_mul(0x735a_2d97);
    h ^ (h >> 15)
}
