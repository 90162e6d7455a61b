//! Listing the slots of a bucket, by running the balanced hash backwards.

use core::ops::Range;

use super::balanced::{BalancedHash, keyed_value_below, subtract_modulo};
use super::keys::HashKeys;
use super::lanes::{LANE_COUNT, REMAINDER_LANE_COUNT, WIDE_LANE_COUNT};
use super::shuffle::{MAX_WINDOWED_HASH_BUCKETS, exchange_index};

impl BalancedHash {
    /// Number of slots in each bucket, m.
    #[must_use]
    pub const fn slots_per_bucket(&self) -> u32 {
        self.slots_per_bucket
    }

    /// Number of slots, N = m·t.
    #[must_use]
    pub const fn slot_count(&self) -> u64 {
        self.slots_per_bucket as u64 * self.bucket_count as u64
    }

    /// Returns the bucket of a slot.
    #[inline]
    #[must_use]
    pub fn bucket_of_slot(&self, keys: &HashKeys, slot: u32) -> u32 {
        self.bucket_of_prepared_slot(keys, self.slot_coordinates(slot))
    }

    /// Calls `visit` with each of the m slots of `bucket`, in no particular order. Slots at or
    /// above the number of elements belong to no element.
    #[inline(always)]
    pub fn for_each_slot_in_bucket(&self, keys: &HashKeys, bucket: u32, visit: impl FnMut(u32)) {
        if self.is_shuffled() {
            return self.for_each_slot_in_window(keys, bucket, 1, visit);
        }
        self.visit_slots_by_coordinates(keys, self.slots_per_bucket, |w| [w, bucket], visit);
    }

    /// Visits the slots of `buckets` consecutive buckets, the last of which is `bucket`. The order
    /// is cyclic: the bucket before bucket 0 is the last one.
    #[inline(always)]
    pub(crate) fn for_each_slot_in_window(
        &self,
        keys: &HashKeys,
        bucket: u32,
        buckets: u32,
        mut visit: impl FnMut(u32),
    ) {
        if self.is_shuffled() {
            let order = shuffled_order(keys, self.bucket_count);
            for back in 0..buckets {
                visit(order[subtract_modulo(bucket, back, self.bucket_count) as usize].into());
            }
            return;
        }
        let end = |index: u32| {
            let (w, back) = (index / buckets, index % buckets);
            [w, subtract_modulo(bucket, back, self.bucket_count)]
        };
        self.visit_slots_by_coordinates(keys, self.slots_per_bucket * buckets, end, visit);
    }

    /// Visits `count` slots. `end(i)` returns the coordinates w and z of slot i after the rounds.
    #[inline(always)]
    fn visit_slots_by_coordinates(
        &self,
        keys: &HashKeys,
        count: u32,
        end: impl Fn(u32) -> [u32; 2],
        mut visit: impl FnMut(u32),
    ) {
        let mut begin = 0;
        while count - begin > 2 * LANE_COUNT as u32 {
            begin = self.visit_slot_batch::<WIDE_LANE_COUNT>(keys, begin..count, &end, &mut visit);
        }
        while count - begin > REMAINDER_LANE_COUNT as u32 {
            begin = self.visit_slot_batch::<LANE_COUNT>(keys, begin..count, &end, &mut visit);
        }
        if begin < count {
            self.visit_slot_batch::<REMAINDER_LANE_COUNT>(keys, begin..count, &end, &mut visit);
        }
    }

    /// Visits the first L slots of `indices`, or all if there are fewer. Returns the first index
    /// not visited.
    #[inline(always)]
    fn visit_slot_batch<const L: usize>(
        &self,
        keys: &HashKeys,
        indices: Range<u32>,
        end: &impl Fn(u32) -> [u32; 2],
        visit: &mut impl FnMut(u32),
    ) -> u32 {
        let last = indices.end - 1;
        // Lanes without a slot repeat the last slot. The results of these lanes are dropped below.
        let ends = core::array::from_fn(|lane| end((indices.start + lane as u32).min(last)));
        let slots: [_; L] = self.undo_rounds(keys, ends);
        let behind = indices.end.min(indices.start + L as u32);
        for &slot in &slots[..(behind - indices.start) as usize] {
            visit(slot);
        }
        behind
    }

    /// Returns the slots that have these coordinates w and z after the rounds.
    #[inline(always)]
    fn undo_rounds<const L: usize>(&self, keys: &HashKeys, ends: [[u32; 2]; L]) -> [u32; L] {
        let (t, m) = (self.bucket_count, self.slots_per_bucket);
        let mut w = ends.map(|[w, _]| w);
        let mut z = ends.map(|[_, z]| z);
        // The rounds are undone in reverse order: in each pair z before w, and the first round
        // last.
        for index in (0..self.round_count / 2).rev() {
            let [for_w, for_z] = keys.round_key_pair(index);
            for (z, &w) in z.iter_mut().zip(&w) {
                *z = subtract_modulo(*z, keyed_value_below(w, for_z, t), t);
            }
            for (w, &z) in w.iter_mut().zip(&z) {
                *w = subtract_modulo(*w, keyed_value_below(z, for_w, m), m);
            }
        }
        core::array::from_fn(|lane| {
            let w = w[lane];
            w * t
                + subtract_modulo(
                    z[lane],
                    keyed_value_below(w, keys.standard_round_keys[0], t),
                    t,
                )
        })
    }
}

/// Returns the shuffled order under these keys: the element in each of the first `count` places.
fn shuffled_order(keys: &HashKeys, count: u32) -> [u8; MAX_WINDOWED_HASH_BUCKETS as usize] {
    let mut order = core::array::from_fn(|place| place as u8);
    for last in (1..count).rev() {
        order.swap(last as usize, exchange_index(keys, count, last) as usize);
    }
    order
}
