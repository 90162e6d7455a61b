//! Favoured set of the rules that take the c strongest of all buckets, with ties broken uniformly
//! at random. It knows which buckets are in the set, which ones tie, and how to draw a bucket.
//!
//! [`CellStrengths`] rank the buckets that have a strength. The sampler only draws a rank inside or
//! outside the set. Tied buckets are interchangeable, so for a rank among them one of them is
//! drawn. It is never decided which of them are in the set.

use rand_core::Rng;

use super::cell_strengths::CellStrengths;
use crate::sample::{Threshold, below};

/// Favoured set for one seed and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mechanism) struct FavouredSet {
    /// Size c of the set.
    pub(super) size: u32,
    /// Number of ranked buckets.
    ranked: u32,
    /// Number of ranked buckets that are certainly in the set.
    certain: u32,
    /// Number of buckets that tie for the last places of the set.
    pub(super) tied: u32,
    /// Strength of the tied buckets, 0 if they are not ranked.
    pub(super) strength: u32,
}

/// Drawn bucket, for the mechanism to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mechanism) enum DrawnBucket {
    /// Ranked bucket of this rank.
    Ranked(u32),
    /// Bucket of strength 0 with this index, in any fixed order.
    Zero(u32),
    /// Bucket with this index, in any fixed order, among those that are neither ranked nor tied.
    Other(u32),
}

impl FavouredSet {
    /// Creates the favoured set of these cells. `zeros` buckets have no strength and may be
    /// favoured.
    ///
    /// `size` is at least 1. There are at least `size` buckets that are ranked or counted by
    /// `zeros`.
    pub(in crate::mechanism) fn new(size: u32, cells: &CellStrengths, zeros: u32) -> Self {
        let ranked = cells.len();
        let (mut certain, mut tied, mut strength) = (ranked, zeros, 0);
        if size <= ranked {
            (certain, strength) = (0, cells.greatest());
            tied = cells.sides_of_strength(strength);
            while certain + tied < size {
                certain += tied;
                strength -= 1;
                tied = cells.sides_of_strength(strength);
            }
        }
        Self {
            size,
            ranked,
            certain,
            tied,
            strength: strength as u32,
        }
    }

    /// Number of tied buckets in the set.
    pub(super) const fn chosen(&self) -> u32 {
        self.size - self.certain
    }

    /// Draws a bucket: inside the set with the probability of `threshold`, and uniformly on either
    /// side. Consumes the threshold's draw, a rank and, if the rank falls among the tied buckets,
    /// one of them.
    pub(in crate::mechanism) fn sample<R: Rng + ?Sized>(
        &self,
        buckets: u32,
        threshold: Threshold,
        rng: &mut R,
    ) -> DrawnBucket {
        if threshold.sample(rng) {
            let rank = below(rng, self.size);
            if rank < self.certain {
                DrawnBucket::Ranked(rank)
            } else {
                self.tied(rng)
            }
        } else {
            let rank = below(rng, buckets - self.size);
            let tied_outside = self.tied - self.chosen();
            if rank < tied_outside {
                self.tied(rng)
            } else {
                self.draw_outside(rank - tied_outside)
            }
        }
    }

    fn tied<R: Rng + ?Sized>(&self, rng: &mut R) -> DrawnBucket {
        let index = below(rng, self.tied);
        if self.zeros_tie() {
            DrawnBucket::Zero(index)
        } else {
            DrawnBucket::Ranked(self.certain + index)
        }
    }

    /// Returns the `index`-th bucket that is certainly outside: ranked after the tied ones, or
    /// neither ranked nor tied.
    const fn draw_outside(&self, index: u32) -> DrawnBucket {
        if self.zeros_tie() {
            return DrawnBucket::Other(index);
        }
        let rank = self.certain + self.tied + index;
        if rank < self.ranked {
            DrawnBucket::Ranked(rank)
        } else {
            DrawnBucket::Other(rank - self.ranked)
        }
    }

    /// Returns true if the buckets of strength 0 tie for the last places.
    pub(in crate::mechanism) const fn zeros_tie(&self) -> bool {
        self.strength == 0
    }
}
