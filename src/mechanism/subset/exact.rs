//! Exact probabilities of buckets, from what is drawn by.

use super::cells::{Cells, side_of, strength_of};
use super::favoured::Favoured;
use super::parameters::{Rule, Subset};

use crate::domain::Domain;
use crate::mechanism::occupancy::Occupancy;
use crate::sample::Threshold;

/// Probabilities of single buckets.
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
    /// The probabilities that [`Favoured::sample`] draws with.
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

    /// Which level buckets of a strength are at: of those without, the ones that may be favoured.
    pub(in crate::mechanism) const fn level(&self, levels: &Levels, strength: u32) -> f64 {
        if strength > self.strength {
            levels.inside
        } else if strength == self.strength {
            levels.tied
        } else {
            levels.outside
        }
    }
}

impl Cells {
    /// The sides with their strengths, in no particular order.
    pub(in crate::mechanism) fn strengths(&self) -> impl Iterator<Item = (u32, u32)> {
        let held = self.held[..self.len() as usize].iter();
        held.map(|&held| (side_of(held), strength_of(held)))
    }
}

impl<R: Rule> Subset<R> {
    /// How the elements of an input share the cells of one function.
    pub(crate) fn occupancy(&self, domain: &Domain) -> Occupancy {
        Occupancy {
            elements: domain.sparsity(),
            cells: self.cells(),
            per_cell: self.hash(domain).per_bucket(),
        }
    }
}
