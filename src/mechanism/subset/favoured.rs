//! The favoured set of rules that take the c strongest of t buckets, ties broken
//! uniformly at random: who is in it, who ties, and how to draw a bucket.
//!
//! Buckets come ranked by falling strength, except those of strength zero,
//! which are not listed. A rank drawn inside or outside the set is all that is
//! needed: buckets that tie are interchangeable, so one of them is drawn for a
//! rank among them, and which of them are in the set need never be settled.

use rand_core::Rng;

use crate::sample::{ExpLowerBound, Threshold, below};

/// A bucket with its strength, which is not zero, packed so that sorting ranks:
/// by falling strength, equals by bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mechanism) struct Ranked(u64);

impl Ranked {
    pub(in crate::mechanism) const fn new(bucket: u32, strength: u32) -> Self {
        Self(((u32::MAX - strength) as u64) << 32 | bucket as u64)
    }

    pub(in crate::mechanism) const fn from_key(key: u64) -> Self {
        Self(key)
    }

    pub(in crate::mechanism) const fn key(self) -> u64 {
        self.0
    }

    pub(in crate::mechanism) const fn bucket(self) -> u32 {
        self.0 as u32
    }

    pub(in crate::mechanism) const fn strength(self) -> u32 {
        u32::MAX - (self.0 >> 32) as u32
    }
}

/// Who is favoured, for one seed and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mechanism) struct Favoured {
    /// c, the size of the set.
    size: u32,
    /// How many buckets are ranked.
    ranked: u32,
    /// Ranked buckets that are in it for sure.
    sure: u32,
    /// How many buckets tie for its last places.
    tied: u32,
    /// Whether those are the buckets of strength zero, rather than ranked ones.
    zeros_tie: bool,
}

/// Of drawing inside a set of so many of t buckets, which weigh e and the others
/// 1: floor(2⁶⁴·c·e/Ω), Ω = c·e + t − c.
// Called, it would make the module that pages download larger.
#[inline(always)]
pub(in crate::mechanism) fn threshold(bound: &ExpLowerBound, size: u32, buckets: u32) -> Threshold {
    Threshold(bound.share(size, size, buckets - size))
}

/// A bucket drawn, for the mechanism to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mechanism) enum Drawn {
    /// The ranked bucket of this rank.
    Ranked(u32),
    /// The bucket of strength zero of this index, in any fixed order.
    Zero(u32),
    /// Of the buckets that are neither ranked nor tied, the one of this index,
    /// in any fixed order.
    Other(u32),
}

/// Probabilities of single buckets.
#[cfg(feature = "analysis")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::mechanism) struct Levels {
    /// Surely inside.
    pub(in crate::mechanism) inside: f64,
    /// Of the tied.
    pub(in crate::mechanism) tied: f64,
    /// Surely outside.
    pub(in crate::mechanism) outside: f64,
}

impl Favoured {
    /// For [`Ranked::key`]s in order, and `zeros` buckets of strength zero.
    ///
    /// `size` is at least 1, and there are at least that many buckets of either
    /// kind.
    pub(in crate::mechanism) fn new(size: u32, ranked: &[u64], zeros: u32) -> Self {
        let strength = |key: u64| Ranked::from_key(key).strength();
        let (sure, tied) = match ranked.get(size as usize - 1) {
            None => (ranked.len(), zeros),
            Some(&last) => {
                let last = strength(last);
                let sure = ranked.partition_point(|&key| strength(key) > last);
                let tied = ranked[sure..].partition_point(|&key| strength(key) == last);
                (sure, tied as u32)
            }
        };
        Self {
            size,
            ranked: ranked.len() as u32,
            sure: sure as u32,
            tied,
            zeros_tie: size > ranked.len() as u32,
        }
    }

    /// How many of the tied are in the set.
    const fn chosen(&self) -> u32 {
        self.size - self.sure
    }

    /// Draws a bucket: inside the set by `threshold`, uniformly on either side.
    /// Consumes the threshold's draw, a rank, and, where the rank falls among
    /// the tied, one of them.
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
        if self.zeros_tie {
            Drawn::Zero(index)
        } else {
            Drawn::Ranked(self.sure + index)
        }
    }

    /// The `index`-th bucket surely outside: ranked behind the tied, or neither
    /// ranked nor tied.
    const fn lighter(&self, index: u32) -> Drawn {
        if self.zeros_tie {
            return Drawn::Other(index);
        }
        let rank = self.sure + self.tied + index;
        if rank < self.ranked {
            Drawn::Ranked(rank)
        } else {
            Drawn::Other(rank - self.ranked)
        }
    }

    /// The probabilities that [`Favoured::sample`] draws with.
    #[cfg(feature = "analysis")]
    pub(in crate::mechanism) fn levels(&self, buckets: u32, threshold: Threshold) -> Levels {
        let inside = threshold.probability() / f64::from(self.size);
        let outside = threshold.complement() / f64::from(buckets - self.size);
        let share = f64::from(self.chosen()) / f64::from(self.tied.max(1));
        Levels {
            inside,
            tied: outside + (inside - outside) * share,
            outside,
        }
    }

    /// Whether the buckets of strength zero tie for the last places.
    pub(in crate::mechanism) const fn zeros_tie(&self) -> bool {
        self.zeros_tie
    }

    /// Which level the ranked bucket of this rank is at.
    #[cfg(feature = "analysis")]
    pub(in crate::mechanism) const fn level(&self, levels: &Levels, rank: u32) -> f64 {
        if rank < self.sure {
            levels.inside
        } else if !self.zeros_tie && rank < self.sure + self.tied {
            levels.tied
        } else {
            levels.outside
        }
    }

    /// Which level buckets of strength zero are at.
    #[cfg(feature = "analysis")]
    pub(in crate::mechanism) const fn zero_level(&self, levels: &Levels) -> f64 {
        if self.zeros_tie {
            levels.tied
        } else {
            levels.outside
        }
    }
}
