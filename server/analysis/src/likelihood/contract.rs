//! What an audit needs of every mechanism.

use hushbin::Task;
use hushbin::domain::{Domain, Signed};

use super::hypothesis::Hypothesis;
use super::neighbours::{NeighbourPair, pairs_of_any_inputs};
use super::observation::Observation;

/// Probabilities of each bucket, by a seed, signed items and the signs of paddings
/// (bit i set for a negative one; Collision's paddings have none).
pub type BucketProbabilities = Box<dyn FnMut(u64, &[Signed], u64) -> Vec<f64>>;

/// What reports that are buckets are drawn with.
pub struct Enumerable {
    /// t, the number of buckets.
    pub buckets: u32,
    /// Whether paddings have signs, which are secret.
    pub signed_paddings: bool,
    /// As the core draws them.
    pub probabilities: BucketProbabilities,
}

/// A mechanism whose reports an attacker can hold against inputs.
pub(super) trait Observed {
    /// One randomised message.
    type Report;

    /// Observation of a report by an attacker who holds it against two inputs.
    fn observe(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &Self::Report,
    ) -> Observation;

    /// What reports are drawn with, where they are buckets.
    fn enumerable(&self, _: &Domain, _: f64) -> Option<Enumerable> {
        None
    }

    /// Pairs of inputs that are hardest to hide from each other.
    fn neighbour_pairs(&self, task: &Task) -> Vec<NeighbourPair> {
        pairs_of_any_inputs(task, task.sparsity())
    }
}
