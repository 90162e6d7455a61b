//! The favoured set of rules that take the c strongest of all buckets, ties broken
//! uniformly at random: who is in it, who ties, and how to draw a bucket.
//!
//! [`Cells`] rank the buckets that have a strength. A rank drawn inside or outside the set is all
//! that is needed: buckets that tie are interchangeable, so one of them is drawn for a rank among
//! them, and which of them are in the set need never be settled.

use rand_core::Rng;

use super::cells::Cells;
use crate::sample::{Threshold, below};

/// Who is favoured, for one seed and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mechanism) struct Favoured {
    /// c, the size of the set.
    pub(super) size: u32,
    /// How many buckets are ranked.
    ranked: u32,
    /// Ranked buckets that are in it for sure.
    sure: u32,
    /// How many buckets tie for its last places.
    pub(super) tied: u32,
    /// The strength of those, 0 where they are not ranked.
    pub(super) strength: u32,
}

/// A bucket drawn, for the mechanism to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mechanism) enum Drawn {
    /// The ranked bucket of this rank.
    Ranked(u32),
    /// The bucket of strength zero of this index, in any fixed order.
    Zero(u32),
    /// Of the buckets that are neither ranked nor tied, the one of this index, in any fixed order.
    Other(u32),
}

impl Favoured {
    /// Of these cells, where `zeros` buckets have no strength and may be favoured.
    ///
    /// `size` is at least 1, and there are at least that many buckets of either kind.
    pub(in crate::mechanism) fn new(size: u32, cells: &Cells, zeros: u32) -> Self {
        let ranked = cells.len();
        let (mut sure, mut tied, mut strength) = (ranked, zeros, 0);
        if size <= ranked {
            (sure, strength) = (0, cells.greatest());
            tied = cells.level(strength);
            while sure + tied < size {
                sure += tied;
                strength -= 1;
                tied = cells.level(strength);
            }
        }
        Self {
            size,
            ranked,
            sure,
            tied,
            strength: strength as u32,
        }
    }

    /// How many of the tied are in the set.
    pub(super) const fn chosen(&self) -> u32 {
        self.size - self.sure
    }

    /// Draws a bucket: inside the set by `threshold`, uniformly on either side. Consumes the
    /// threshold's draw, a rank, and, where the rank falls among the tied, one of them.
    pub(in crate::mechanism) fn sample<R: Rng + ?Sized>(
        &self,
        buckets: u32,
        threshold: Threshold,
        rng: &mut R,
    ) -> Drawn {
        if threshold.sample(rng) {
            let rank = below(rng, self.size);
            if rank < self.sure {
                Drawn::Ranked(rank)
            } else {
                self.tied(rng)
            }
        } else {
            let rank = below(rng, buckets - self.size);
            let tied_outside = self.tied - self.chosen();
            if rank < tied_outside {
                self.tied(rng)
            } else {
                self.lighter(rank - tied_outside)
            }
        }
    }

    fn tied<R: Rng + ?Sized>(&self, rng: &mut R) -> Drawn {
        let index = below(rng, self.tied);
        if self.zeros_tie() {
            Drawn::Zero(index)
        } else {
            Drawn::Ranked(self.sure + index)
        }
    }

    /// The `index`-th bucket surely outside: ranked behind the tied, or neither ranked nor tied.
    const fn lighter(&self, index: u32) -> Drawn {
        if self.zeros_tie() {
            return Drawn::Other(index);
        }
        let rank = self.sure + self.tied + index;
        if rank < self.ranked {
            Drawn::Ranked(rank)
        } else {
            Drawn::Other(rank - self.ranked)
        }
    }

    /// Whether the buckets of strength zero tie for the last places.
    pub(in crate::mechanism) const fn zeros_tie(&self) -> bool {
        self.strength == 0
    }
}
