//! The balanced hash: a keyed permutation of slots.

use super::keys::{Keys, ROUNDS};

/// Rounds added where buckets have few slots, an even number; see
/// [`Balanced::rounds`].
const MORE_ROUNDS: usize = 16;
/// Below so many slots in a bucket rounds are added, unless there is but one.
const FEW_SLOTS: u32 = 8;

/// Slots that are worked out side by side. With sixteen, four 128-bit registers
/// for each coordinate, the compiler vectorises the rounds, which it does not
/// with eight. Pages' modules, made for size, have no vectors.
pub(super) const LANES: usize = if cfg!(target_arch = "wasm32") { 1 } else { 16 };
/// The same where no more are left.
pub(super) const FEW_LANES: usize = if cfg!(target_arch = "wasm32") { 1 } else { 4 };

/// The balanced hash of a closed domain: m·t slots, exactly m in each of t
/// buckets.
///
/// A slot w·t + z, with z below t and w below m, goes through alternating
/// rounds, five or [more](Balanced::rounds), in which one coordinate is shifted
/// by a keyed function of the other; each round is a bijection, so the whole is
/// a permutation of the slots. The final z is the bucket. Because rounds can be
/// undone, the slots of a bucket are listed in O(m) instead of being searched
/// for among all.
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
    buckets: u32,
    per_bucket: u32,
    rounds: usize,
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
            rounds: if 1 < per_bucket && per_bucket < FEW_SLOTS {
                ROUNDS + MORE_ROUNDS
            } else {
                ROUNDS
            },
        }
    }

    /// Number of rounds: five; 21 where 2 to 7 slots share a bucket.
    ///
    /// Where w takes few values, five rounds leave slots of equal w together too
    /// often, by threes and more though not by pairs. Favoured buckets then hold
    /// less than a random permutation gives them: with m = 2, d = 256, s = 64,
    /// t = 288, c = 61 the gap p_true − p_false was 1.46% too small after five
    /// rounds, 0.35% after 9, 0.08% after 13, and not visibly (0.005%) after 21.
    #[must_use]
    pub const fn rounds(&self) -> usize {
        self.rounds
    }

    /// t, the number of buckets.
    #[must_use]
    pub const fn buckets(&self) -> u32 {
        self.buckets
    }

    /// m, the number of slots in each bucket.
    #[must_use]
    pub const fn per_bucket(&self) -> u32 {
        self.per_bucket
    }

    /// N = m·t, the number of slots.
    #[must_use]
    pub const fn slots(&self) -> u64 {
        self.per_bucket as u64 * self.buckets as u64
    }

    /// The bucket of a slot.
    #[inline]
    #[must_use]
    pub fn bucket(&self, keys: &Keys, slot: u32) -> u32 {
        let [bucket] = self.go(keys, [slot]);
        bucket
    }

    /// Calls `visit` with each of the m slots of `bucket`, in no particular
    /// order. Slots at and beyond the number of elements belong to nobody.
    #[inline]
    pub fn for_each_slot(&self, keys: &Keys, bucket: u32, mut visit: impl FnMut(u32)) {
        let mut begin = 0;
        while self.per_bucket - begin > FEW_LANES as u32 {
            begin = self.visit_lanes::<LANES>(keys, bucket, begin, &mut visit);
        }
        if begin < self.per_bucket {
            self.visit_lanes::<FEW_LANES>(keys, bucket, begin, &mut visit);
        }
    }

    /// Visits up to L slots from w = `begin` on; returns where they end.
    #[inline(always)]
    fn visit_lanes<const L: usize>(
        &self,
        keys: &Keys,
        bucket: u32,
        begin: u32,
        visit: &mut impl FnMut(u32),
    ) -> u32 {
        let slots: [_; L] = self.undo(keys, bucket, begin);
        let end = self.per_bucket.min(begin + L as u32);
        for &slot in &slots[..(end - begin) as usize] {
            visit(slot);
        }
        end
    }

    /// Takes slots through the rounds side by side, to their buckets.
    #[inline(always)]
    fn go<const L: usize>(&self, keys: &Keys, slots: [u32; L]) -> [u32; L] {
        let (t, m) = (self.buckets, self.per_bucket);
        let mut w = slots.map(|slot| slot / t);
        let mut z: [u32; L] = core::array::from_fn(|lane| {
            let z = slots[lane] - w[lane] * t;
            add(z, scaled(w[lane], keys.rounds[0], t), t)
        });
        for index in 0..self.rounds / 2 {
            let [for_w, for_z] = keys.pair(index);
            for (w, &z) in w.iter_mut().zip(&z) {
                *w = add(*w, scaled(z, for_w, m), m);
            }
            for (z, &w) in z.iter_mut().zip(&w) {
                *z = add(*z, scaled(w, for_z, t), t);
            }
        }
        z
    }

    /// Puts the buckets of at most L slots in their places.
    pub(super) fn replace<const L: usize>(&self, keys: &Keys, slots: &mut [u64]) {
        let mut lanes = [0; L];
        for (lane, &slot) in lanes.iter_mut().zip(&*slots) {
            *lane = slot as u32;
        }
        for (slot, bucket) in slots.iter_mut().zip(self.go(keys, lanes)) {
            *slot = u64::from(bucket);
        }
    }

    /// The slots of `bucket` that end the rounds at w = `begin`, `begin` + 1, …,
    /// the last repeated.
    #[inline(always)]
    fn undo<const L: usize>(&self, keys: &Keys, bucket: u32, begin: u32) -> [u32; L] {
        let (t, m) = (self.buckets, self.per_bucket);
        let mut w: [u32; L] = core::array::from_fn(|lane| (begin + lane as u32).min(m - 1));
        let mut z = [bucket; L];
        for index in (0..self.rounds / 2).rev() {
            let [for_w, for_z] = keys.pair(index);
            for (z, &w) in z.iter_mut().zip(&w) {
                *z = sub(*z, scaled(w, for_z, t), t);
            }
            for (w, &z) in w.iter_mut().zip(&z) {
                *w = sub(*w, scaled(z, for_w, m), m);
            }
        }
        core::array::from_fn(|lane| {
            let w = w[lane];
            w * t + sub(z[lane], scaled(w, keys.rounds[0], t), t)
        })
    }
}

/// A keyed function of `x` with values below `range`.
#[inline(always)]
fn scaled(x: u32, key: u32, range: u32) -> u32 {
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
fn sub(a: u32, b: u32, range: u32) -> u32 {
    let difference = a.wrapping_sub(b);
    difference.wrapping_add((difference.cast_signed() >> 31).cast_unsigned() & range)
}

#[inline(always)]
const fn mix32(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x21f0_aaad);
    h = (h ^ (h >> 15)).wrapping_mul(0x735a_2d97);
    h ^ (h >> 15)
}
