//! Slots of a bucket, which are listed by running the balanced hash backwards.

use super::balanced::{Balanced, FEW_LANES, LANES, scaled, sub};
use super::keys::Keys;

impl Balanced {
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
        let [bucket] = self.buckets_of(keys, &[self.place(slot)]);
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
