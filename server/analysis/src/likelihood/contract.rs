//! What an audit needs of every mechanism.

use hushbin::Question;
use hushbin::domain::{Domain, Signed};

use super::hypothesis::Hypothesis;
use super::neighbours::{NeighbourPair, pairs_of_any_inputs};
use super::observation::Observation;

/// Probabilities of each bucket, by a seed, at most s signed items, and the number of
/// one of the ways in which missing ones are made up for.
pub(crate) type BucketProbabilities = Box<dyn FnMut(u64, &[Signed], u64) -> Vec<f64>>;

/// What reports that are buckets are drawn with.
pub struct Enumerable {
    /// t, the number of buckets.
    pub buckets: u32,
    /// In how many ways, all as likely and secret, what is missing from so many signed
    /// items is made up for; `None` beyond counting.
    pub completions: Box<dyn Fn(u32) -> Option<u64>>,
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
    fn neighbour_pairs(&self, question: &Question) -> Vec<NeighbourPair> {
        pairs_of_any_inputs(question, question.sparsity())
    }
}
