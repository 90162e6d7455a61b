//! The balanced hash: a keyed permutation of slots.

use super::keys::{Keys, ROUNDS};
use super::shuffled;

/// Rounds where a coordinate takes few values: an odd number, as of all; see
/// [`Balanced::rounds`].
const MORE_ROUNDS: usize = 21;
/// The same where z alone does, and w takes many.
const SOME_ROUNDS: usize = 9;
/// Number of rounds that stands for a shuffle.
const SHUFFLED: usize = 0;
/// Rounds of windows over two slots to a bucket.
const MOST_ROUNDS: usize = 41;
/// Fewer values than these are few, unless there is but one.
const FEW: u32 = 8;
/// These and more are many.
const MANY: u32 = 32;

/// The balanced hash of a closed domain: m·t slots, exactly m in each of t buckets.
///
/// A slot w·t + z, with z below t and w below m, goes through alternating rounds, five or
/// [more](Balanced::rounds), in which one coordinate is shifted by a keyed function of the other;
/// each round is a bijection, so the whole is a permutation of the slots. The final z is the
/// bucket. Because rounds can be undone, the slots of a bucket are listed in O(m) instead of being
/// searched for among all.
///
/// A slot is in each bucket with the same probability. Two slots meet in one
/// with the probability (m − 1)/(N − 1) of a random permutation, up to a factor
/// within 1/N² of 1, N = m·t. With m = 1 no two ever meet.
///
/// ```
/// use hushbin::hash::{Balanced, Keys};
///
/// let hash = Balanced::new(100, 8);      // 100 elements, 8 buckets of 13 slots
/// let keys = Keys::new(7);
/// let mut slots = Vec::new();
/// hash.for_each_slot(&keys, 3, |slot| slots.push(slot));
/// assert_eq!(slots.len(), 13);
/// assert!(slots.iter().all(|&slot| hash.bucket(&keys, slot) == 3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balanced {
    pub(super) buckets: u32,
    pub(super) per_bucket: u32,
    pub(super) rounds: usize,
}

impl Balanced {
    /// The hash of `elements` elements to `buckets` buckets; m is the least
    /// number of slots per bucket that gives each element a slot.
    ///
    /// # Panics
    /// If `buckets` is 0.
    #[must_use]
    pub const fn new(elements: u32, buckets: u32) -> Self {
        let per_bucket = elements.div_ceil(buckets);
        Self {
            buckets,
            per_bucket,
            rounds: match (per_bucket, buckets) {
                (_, 1) => 1,
                (1, _) => ROUNDS,
                (MANY.., ..FEW) => SOME_ROUNDS,
                (..FEW, _) | (_, ..FEW) => MORE_ROUNDS,
                _ => ROUNDS,
            },
        }
    }

    /// Returns the same for elements in several buckets, one behind the other. Sums of answers
    /// need three slots as far apart as in a random order, which takes more rounds; with one slot
    /// to a bucket it takes a shuffle.
    pub(super) const fn of_windows(elements: u32, buckets: u32) -> Self {
        let plain = Self::new(elements, buckets);
        Self {
            rounds: match plain.per_bucket {
                1 => SHUFFLED,
                2 => MOST_ROUNDS,
                3..=15 => MORE_ROUNDS,
                _ => SOME_ROUNDS,
            },
            ..plain
        }
    }

    /// Number of rounds: five; 21 where 2 to 7 slots share a bucket, or there are 2 to 7 buckets of
    /// several slots, but 9 where these are 32 or more; one where a single bucket leaves nothing to
    /// mix. Windows have others: 41 where two slots share a bucket, 21 from 3 to 15 and 9 from 16
    /// on, 0 for a shuffle. The book says why, in `math/hashing`.
    #[must_use]
    pub const fn rounds(&self) -> usize {
        self.rounds
    }

    /// Returns true for a shuffle. Rounds only turn the slots of a single row: neighbours stay
    /// neighbours.
    pub(super) const fn is_shuffled(&self) -> bool {
        self.rounds == SHUFFLED
    }

    /// t, the number of buckets.
    pub(crate) const fn buckets(&self) -> u32 {
        self.buckets
    }

    /// Where a slot stands before the rounds, whatever the keys: w in the upper
    /// half, z in the lower.
    pub(super) const fn place(&self, slot: u32) -> u64 {
        ((slot / self.buckets) as u64) << 32 | (slot % self.buckets) as u64
    }

    /// Takes slots that are [placed](Balanced::place) through the rounds side by side, to their
    /// buckets, by the keys of the first round and those of each two that follow.
    #[inline(always)]
    pub(super) fn go<const L: usize>(
        &self,
        placed: [u64; L],
        first: [u32; L],
        pair: impl Fn(usize) -> [[u32; L]; 2],
    ) -> [u32; L] {
        let (t, m) = (self.buckets, self.per_bucket);
        let mut w = placed.map(|place| (place >> 32) as u32);
        let mut z = placed.map(|place| place as u32);
        shift(&mut z, &w, first, t);
        for index in 0..self.rounds / 2 {
            let [for_w, for_z] = pair(index);
            shift(&mut w, &z, for_w, m);
            shift(&mut z, &w, for_z, t);
        }
        z
    }

    /// The bucket of a slot that is [placed](Balanced::place).
    #[inline]
    pub(super) fn bucket_of_place(&self, keys: &Keys, place: u64) -> u32 {
        if self.is_shuffled() {
            return shuffled::place(keys, self.buckets, place as u32);
        }
        let pair = |index| keys.pair(index).map(|key| [key]);
        self.go([place], [keys.rounds[0]], pair)[0]
    }
}

/// Shifts one coordinate by a keyed function of the other.
#[inline(always)]
fn shift<const L: usize>(shifted: &mut [u32; L], by: &[u32; L], keys: [u32; L], range: u32) {
    for ((shifted, &by), key) in shifted.iter_mut().zip(by).zip(keys) {
        *shifted = add(*shifted, scaled(by, key, range), range);
    }
}

/// A keyed function of `x` with values below `range`.
#[inline(always)]
pub(super) fn scaled(x: u32, key: u32, range: u32) -> u32 {
    ((u64::from(mix32(x ^ key)) * u64::from(range)) >> 32) as u32
}

/// a + b mod range, for a and b below range; no overflow as range < 2³¹.
#[inline(always)]
fn add(a: u32, b: u32, range: u32) -> u32 {
    sub(a + b, range, range)
}

/// a − b mod range, for a − b from −range to range − 1, without a branch: a
/// negative difference has all bits of its sign.
#[inline(always)]
pub(super) fn sub(a: u32, b: u32, range: u32) -> u32 {
    let difference = a.wrapping_sub(b);
    difference.wrapping_add((difference.cast_signed() >> 31).cast_unsigned() & range)
}

#[inline(always)]
const fn mix32(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x21f0_aaad);
    h = (h ^ (h >> 15)).wrapping_mul(0x735a_2d97);
    h ^ (h >> 15)
}
