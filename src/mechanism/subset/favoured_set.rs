//! Favoured set under the rules that favour the c strongest of all buckets. Ties are broken
//! uniformly at random. The type stores the number of buckets that are certainly in the set, and
//! the number of buckets that tie. It can draw a bucket.
//!
//! [`CellStrengths`] ranks the buckets that have a strength. The sampler draws a rank inside or
//! outside the set. Tied buckets are interchangeable: if the rank belongs to a tied bucket, one of
//! all tied buckets is drawn uniformly. So it is never decided which tied buckets are in the set.

use rand_core::Rng;

use super::cell_strengths::CellStrengths;
use crate::sample::{Threshold, draw_below};

/// Set of favoured buckets for one seed and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mechanism) struct FavouredSet {
    /// Size c of the set.
    pub(super) size: u32,
    /// Number of ranked buckets: those that have a strength.
    buckets_with_strength: u32,
    /// Number of ranked buckets that are certainly in the set.
    certain_member_count: u32,
    /// Number of buckets that tie for the last places of the set.
    pub(super) tied_bucket_count: u32,
    /// Strength of the tied buckets, 0 if they are not ranked.
    pub(super) tied_strength: u32,
}

/// Drawn bucket, in a form that the mechanism translates to a bucket's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mechanism) enum DrawnBucket {
    /// Bucket with this rank, among those that have a strength.
    Ranked(u32),
    /// Tied bucket of strength 0, by its index in any fixed order.
    TiedAtZeroStrength(u32),
    /// Bucket that is neither ranked nor tied, by its index in any fixed order.
    UnrankedUntied(u32),
}

impl FavouredSet {
    /// Creates the favoured set of `size` buckets. `cells` ranks the buckets that have a strength.
    /// `zeros` is the number of buckets without strength that may be favoured.
    ///
    /// `size` is at least 1, and at most the number of ranked buckets plus `zeros`.
    pub(in crate::mechanism) fn new(size: u32, cells: &CellStrengths, zeros: u32) -> Self {
        let ranked = cells.strong_side_count();
        let (mut certain, mut tied, mut strength) = (ranked, zeros, 0);
        if size <= ranked {
            (certain, strength) = (0, cells.max_possible_strength());
            tied = cells.side_count_of_strength(strength);
            // Go down in strength until the set is full. The last strength is the tied one.
            while certain + tied < size {
                certain += tied;
                strength -= 1;
                tied = cells.side_count_of_strength(strength);
            }
        }
        Self {
            size,
            buckets_with_strength: ranked,
            certain_member_count: certain,
            tied_bucket_count: tied,
            tied_strength: strength as u32,
        }
    }

    /// Number of tied buckets that the set includes.
    pub(super) const fn included_tied_count(&self) -> u32 {
        self.size - self.certain_member_count
    }

    /// Draws a bucket of the set with the probability of `threshold`, else a bucket outside the
    /// set. All buckets of the set are equally likely, and so are all buckets outside. Consumes a
    /// word for the threshold, then draws a rank. If the rank belongs to a tied bucket, also draws
    /// one of the tied buckets.
    pub(in crate::mechanism) fn draw_bucket<R: Rng + ?Sized>(
        &self,
        buckets: u32,
        threshold: Threshold,
        rng: &mut R,
    ) -> DrawnBucket {
        if threshold.draw_bool(rng) {
            let rank = draw_below(rng, self.size);
            if rank < self.certain_member_count {
                DrawnBucket::Ranked(rank)
            } else {
                self.draw_tied_bucket(rng)
            }
        } else {
            let rank = draw_below(rng, buckets - self.size);
            let tied_outside = self.tied_bucket_count - self.included_tied_count();
            if rank < tied_outside {
                self.draw_tied_bucket(rng)
            } else {
                self.bucket_outside_set(rank - tied_outside)
            }
        }
    }

    fn draw_tied_bucket<R: Rng + ?Sized>(&self, rng: &mut R) -> DrawnBucket {
        let index = draw_below(rng, self.tied_bucket_count);
        if self.is_tie_at_zero() {
            DrawnBucket::TiedAtZeroStrength(index)
        } else {
            DrawnBucket::Ranked(self.certain_member_count + index)
        }
    }

    /// Returns the `index`-th bucket that is certainly outside the set: a bucket ranked after the
    /// tied ones, or a bucket neither ranked nor tied.
    const fn bucket_outside_set(&self, index: u32) -> DrawnBucket {
        if self.is_tie_at_zero() {
            return DrawnBucket::UnrankedUntied(index);
        }
        let rank = self.certain_member_count + self.tied_bucket_count + index;
        if rank < self.buckets_with_strength {
            DrawnBucket::Ranked(rank)
        } else {
            DrawnBucket::UnrankedUntied(rank - self.buckets_with_strength)
        }
    }

    /// Returns true if the tied buckets are those of strength 0.
    pub(in crate::mechanism) const fn is_tie_at_zero(&self) -> bool {
        self.tied_strength == 0
    }
}
