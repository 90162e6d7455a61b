//! Integer thresholds for the probability that a report is one of the favoured outputs.

use alloc::vec::Vec;

use super::parameters::{BucketFavouringRule, HashedSubsetSelection};
use crate::sample::{ExpLowerBound, Threshold};

/// Integer thresholds for drawing one of t outputs, some of which the input favours. The sampler,
/// the estimates and the privacy accounting all use the same thresholds.
///
/// ```
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
///
/// let rule = FavouredBucketRule::Heaviest { favoured: 2 };
/// let collision = Collision::new(rule, HashFamily::Balanced, 12).unwrap();
/// let thresholds = collision.thresholds(3, 1.0);
/// assert_eq!(thresholds.favoured_count(1), 2);
/// assert!(thresholds.favoured_threshold(1).probability() > 2.0 / 12.0);
/// assert!(thresholds.effective_epsilon() <= 1.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    /// Probabilities of drawing a favoured output. Under a paper's rule, entry k − 1 is for inputs
    /// whose elements are in k different cells. Otherwise there is a single entry.
    pub(super) favoured_thresholds: Vec<Threshold>,
    /// Number c of favoured outputs if it is the same for every input, else `None`.
    fixed_favoured_count: Option<u32>,
    pub(in crate::mechanism) outcome_count: u32,
    /// Probability of drawing the side that the deciding entry pushes to, given that the side's
    /// pair is drawn. `None` except under CoCo's rule `overwrite`.
    pub(in crate::mechanism) side_given_pair_threshold: Option<Threshold>,
    pub(super) epsilon: f64,
}

impl Thresholds {
    /// Creates the thresholds if every input favours c = `favoured` of `outcomes` outputs.
    pub(in crate::mechanism) fn for_fixed_favoured_count(
        epsilon: f64,
        favoured: u32,
        outcomes: u32,
    ) -> Self {
        let bound = ExpLowerBound::new(epsilon);
        Self {
            favoured_thresholds: alloc::vec![compute_favoured_threshold(
                &bound,
                favoured,
                outcomes - favoured
            )],
            fixed_favoured_count: Some(favoured),
            outcome_count: outcomes,
            side_given_pair_threshold: None,
            epsilon,
        }
    }

    /// Probability of drawing a favoured output, for an input whose elements are in `cells`
    /// different cells. `cells` is at least 1.
    #[inline]
    #[must_use]
    pub fn favoured_threshold(&self, cells: u32) -> Threshold {
        let varies = cfg!(feature = "complete") && self.fixed_favoured_count.is_none();
        self.favoured_thresholds[if varies { cells as usize - 1 } else { 0 }]
    }

    /// Number of favoured outputs, for an input whose elements are in `cells` different cells.
    #[inline]
    #[must_use]
    pub fn favoured_count(&self, cells: u32) -> u32 {
        self.fixed_favoured_count.unwrap_or(cells)
    }
}

/// Computes the threshold for drawing a favoured output. The c = `favoured` outputs have the weight
/// e = exp(ε), and the `others` outputs have the weight 1. The threshold is floor(2⁶⁴·c·e/(c·e +
/// `others`)), where e is rounded down.
pub(in crate::mechanism) fn compute_favoured_threshold(
    bound: &ExpLowerBound,
    favoured: u32,
    others: u32,
) -> Threshold {
    Threshold(bound.favoured_probability(favoured.into(), favoured.into(), others.into()))
}

impl<R: BucketFavouringRule> HashedSubsetSelection<R> {
    /// Computes the thresholds at sparsity s and local ε.
    ///
    /// # Panics
    /// If a paper's rule has no more cells than `sparsity`.
    #[must_use]
    pub fn thresholds(&self, sparsity: u32, epsilon: f64) -> Thresholds {
        let outcomes = self.total_buckets();
        if let Some(favoured) = self.favoured_count() {
            return Thresholds::for_fixed_favoured_count(epsilon, favoured, outcomes);
        }
        assert!(
            self.cells_per_hash() > sparsity,
            "a rule takes more cells than s"
        );
        let bound = ExpLowerBound::new(epsilon);
        let others = outcomes - R::SIDES_PER_CELL * sparsity;
        // A pushed pair has the weight e + 1 of a total of Ω = s(e + 1) + t − 2s. This share is
        // rounded once and then multiplied. So all pushed pairs of all inputs have the same
        // probability to the last bit, and s of them are below 2⁶⁴ together.
        let pair = (R::SIDES_PER_CELL == 2).then(|| bound.pair_probability(sparsity, others));
        let inside = |k: u32| match pair {
            Some(pair) => u64::from(k) * pair,
            // floor(2⁶⁴·k·e/Ω), Ω = s·e + t − s.
            None => bound.favoured_probability(k.into(), sparsity.into(), others.into()),
        };
        Thresholds {
            favoured_thresholds: (1..=sparsity).map(|k| Threshold(inside(k))).collect(),
            fixed_favoured_count: None,
            outcome_count: outcomes,
            // floor(2⁶⁴·e/(e + 1)), rounded towards 1/2.
            side_given_pair_threshold: pair.map(|_| compute_favoured_threshold(&bound, 1, 1)),
            epsilon,
        }
    }
}
