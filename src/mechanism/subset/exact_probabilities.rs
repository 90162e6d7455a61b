//! Exact probabilities of buckets, from the thresholds of the sampler.

use super::cell_strengths::{CellStrengths, unpack_side, unpack_strength};
use super::favoured_set::FavouredSet;
use super::parameters::{BucketFavouringRule, HashedSubsetSelection};

use crate::domain::Domain;
use crate::mechanism::occupancy::CellOccupancyModel;
use crate::sample::Threshold;

/// Probability that a given bucket is reported, by the bucket's relation to the favoured set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::mechanism) struct BucketProbabilities {
    /// Probability of a bucket that is certainly in the favoured set.
    pub(in crate::mechanism) favoured_probability: f64,
    /// Probability of a bucket that ties for the last places of the favoured set.
    pub(in crate::mechanism) tied_bucket_probability: f64,
    /// Probability of a bucket that is certainly not in the favoured set.
    pub(in crate::mechanism) unfavoured_probability: f64,
}

impl FavouredSet {
    /// Computes the probabilities with which [`FavouredSet::draw_bucket`] draws a given bucket.
    pub(in crate::mechanism) fn bucket_probabilities(
        &self,
        buckets: u32,
        threshold: Threshold,
    ) -> BucketProbabilities {
        let inside = threshold.probability() / f64::from(self.size);
        let outside = threshold.false_probability() / f64::from(buckets - self.size);
        // Probability that a tied bucket is in the set.
        let share =
            f64::from(self.included_tied_count()) / f64::from(self.tied_bucket_count.max(1));
        BucketProbabilities {
            favoured_probability: inside,
            tied_bucket_probability: outside + (inside - outside) * share,
            unfavoured_probability: outside,
        }
    }

    /// Returns the probability that a given bucket of this strength is reported. A strength of 0
    /// stands for a bucket without strength that may be favoured.
    pub(in crate::mechanism) const fn bucket_probability_at_strength(
        &self,
        levels: &BucketProbabilities,
        strength: u32,
    ) -> f64 {
        if strength > self.tied_strength {
            levels.favoured_probability
        } else if strength == self.tied_strength {
            levels.tied_bucket_probability
        } else {
            levels.unfavoured_probability
        }
    }
}

impl CellStrengths {
    /// Returns each side that has a strength, with this strength, in no particular order.
    pub(in crate::mechanism) fn sides_and_strengths(&self) -> impl Iterator<Item = (u32, u32)> {
        let held = self.packed_cells[..self.strong_side_count() as usize].iter();
        held.map(|&held| (unpack_side(held), unpack_strength(held)))
    }
}

impl<R: BucketFavouringRule> HashedSubsetSelection<R> {
    /// Returns the model of how the elements of an input are spread over the cells of one hash
    /// function.
    pub(crate) fn cell_occupancy_model(&self, domain: &Domain) -> CellOccupancyModel {
        CellOccupancyModel {
            element_count: domain.sparsity(),
            cell_count: self.cells_per_hash(),
            slots_per_cell: self.element_to_cell_hash(domain).slots_per_bucket(),
        }
    }
}
