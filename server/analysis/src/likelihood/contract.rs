//! Interface through which an audit calls the likelihood functions of each mechanism.

use hushbin::Question;
use hushbin::domain::{Domain, SignedItem};

use super::hypothesis::Hypothesis;
use super::neighbours::{NeighbourPair, pairs_of_any_two_inputs};
use super::observation::Observation;

/// Function that returns the probability of each bucket. It takes three arguments: the seed, at
/// most s signed items, and the index of a completion. A completion is one way to choose the secret
/// padding if there are fewer than s items.
pub(crate) type BucketProbabilityFunction = Box<dyn FnMut(u64, &[SignedItem], u64) -> Vec<f64>>;

/// Exact probabilities with which the core's randomizer reports each bucket.
pub struct ExactProbabilities {
    /// Number of buckets that a report may name, over all hash functions.
    pub bucket_count: u32,
    /// Function that returns the number of completions for a given number of signed items.
    /// Completions are secret and equally likely. The function returns `None` if the number of
    /// completions exceeds 64 bits, or if there are more than s items.
    pub count_padding_choices: Box<dyn Fn(u32) -> Option<u64>>,
    /// Function that returns the bucket probabilities with which the core draws reports.
    pub bucket_probability_function: BucketProbabilityFunction,
}

/// Mechanism whose reports an audit can observe. An observation compares a report's likelihoods
/// under two inputs.
pub(super) trait ObservableMechanism {
    /// Report of the mechanism.
    type Report;

    /// Computes what a report reveals to an attacker who compares two inputs.
    fn observe_report(
        &self,
        domain: &Domain,
        epsilon: f64,
        inputs: [&Hypothesis; 2],
        report: &Self::Report,
    ) -> Observation;

    /// Returns the exact bucket probabilities of the core's randomizer, or `None` if reports do not
    /// name a bucket.
    fn exact_probabilities(&self, _: &Domain, _: f64) -> Option<ExactProbabilities> {
        None
    }

    /// Returns pairs of inputs that an attacker can distinguish most easily.
    fn neighbour_pairs(&self, question: &Question) -> Vec<NeighbourPair> {
        pairs_of_any_two_inputs(question, question.max_entries_per_report())
    }
}
