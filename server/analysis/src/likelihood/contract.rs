//! Interface between an audit and the mechanisms.

use hushbin::Question;
use hushbin::domain::{Domain, Signed};

use super::hypothesis::Hypothesis;
use super::neighbours::{NeighbourPair, pairs_of_any_inputs};
use super::observation::Observation;

/// Computes the probability of each bucket. Arguments: the seed, at most s signed items, and the
/// number of a completion of the missing items.
pub(crate) type BucketProbabilities = Box<dyn FnMut(u64, &[Signed], u64) -> Vec<f64>>;

/// Exact bucket probabilities of the core's randomizer.
pub struct Enumerable {
    /// Number of buckets t.
    pub buckets: u32,
    /// Returns the number of completions for a given number of signed items. All are equally likely
    /// and secret. `None` if the number overflows.
    pub completions: Box<dyn Fn(u32) -> Option<u64>>,
    /// Bucket probabilities, as the core draws reports.
    pub probabilities: BucketProbabilities,
}

/// A mechanism whose reports can be tested against two inputs.
pub(super) trait Observed {
    /// Report of the mechanism.
    type Report;

    /// Computes the observation of a report by an attacker who compares two inputs.
    fn observe(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &Self::Report,
    ) -> Observation;

    /// Returns the core's bucket probabilities. `None` if reports are not buckets.
    fn enumerable(&self, _: &Domain, _: f64) -> Option<Enumerable> {
        None
    }

    /// Returns pairs of inputs that are hardest to hide from each other.
    fn neighbour_pairs(&self, question: &Question) -> Vec<NeighbourPair> {
        pairs_of_any_inputs(question, question.sparsity())
    }
}
