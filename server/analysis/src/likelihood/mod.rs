//! Likelihood ratios of reports between two inputs, for audits. They are computed from the
//! definitions of the mechanisms.
//!
//! An audit that used the randomizer's code would repeat the mistakes in that code. So this module
//! is written from the definitions, in floating point, and uses the requested ε. Only the numbering
//! of elements and the hash functions are taken from the core, because they define the meaning of a
//! report.
//!
//! Sources: Wang et al., "Differentially Private Numerical Vector Analyses in the Local and Shuffle
//! Model", Definition 5 and Algorithm 1; the rules `heaviest` and `strongest`; Zhou et al.,
//! "Locally Differentially Private Sparse Vector Aggregation", Algorithm 1.

mod buckets;
mod contract;
mod hypothesis;
mod neighbours;
mod observation;
#[cfg(test)]
mod tests;

pub(crate) use contract::BucketProbabilityFunction;
pub use contract::ExactProbabilities;
pub use hypothesis::Hypothesis;
pub use neighbours::NeighbourPair;
pub use observation::{BucketRank, EntryCellSummary, Observation};

use hushbin::{Mechanism, Question, Report};

use contract::ObservableMechanism;

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        $(mod $module;)+

        /// Computes what a report of `question` reveals to an attacker who compares two inputs. The
        /// function [`neighbour_pairs`] returns suitable inputs.
        ///
        /// The likelihood ratio is exact, except in three cases:
        ///
        /// - CoCo's rule `strongest` with fewer than s entries. The padding elements, whose signs
        ///   are secret, are left out.
        /// - Laplace noise on sums that are not multiples of a grid step. The random rounding of
        ///   these sums is left out.
        /// - Mixtures that have more parts than a [`Hypothesis`] enumerates.
        ///
        /// # Panics
        /// If the report was made by another mechanism.
        #[must_use]
        pub fn observe_report(question: &Question, inputs: [&Hypothesis; 2], report: &Report) -> Observation {
            let [one, other] = inputs.map(|input| input.for_seed(question, report.seed()));
            let inputs = [&*one, &*other];
            match (question.mechanism(), report) {
                $((Mechanism::$Name(own), Report::$Name(report)) => {
                    own.observe_report(&question.domain(), question.epsilon(), inputs, report)
                })+
                _ => panic!("reports are of the task's mechanism"),
            }
        }

        /// Returns the exact bucket probabilities of the core's randomizer. Returns `None` if
        /// reports do not name a bucket, or if the core cannot list the probabilities.
        #[must_use]
        pub fn exact_probabilities(question: &Question) -> Option<ExactProbabilities> {
            match question.mechanism() {
                $(Mechanism::$Name(own) => own.exact_probabilities(&question.domain(), question.epsilon()),)+
            }
        }

        /// Returns pairs of inputs on which an audit should test `question`. No pair occurs twice.
        ///
        /// The first pairs have the greatest likelihood ratio. If all inputs are neighbours, these
        /// are pairs of inputs with disjoint sets of favoured buckets. Under CoCo, the same items
        /// with opposite signs have disjoint sets for every seed, in all pairs of sides whose
        /// pushes do not cancel. Under Collision, inputs without a common element have disjoint
        /// sets for most seeds. Under hash-bin, the sums change most if values change from 1 to −1.
        /// The level determines how many items change: one item, as many as the distance allows, or
        /// enough to reach the clipping bound.
        ///
        /// The remaining pairs detect incorrect randomizers that fail on other inputs. These inputs
        /// have fewer entries than s, or more entries, which are sampled down. Some contain
        /// fractions, which are ternarised or rounded, or the value 0, which counts as absent.
        /// Under a correct randomizer, no remaining pair loses more privacy. The inputs of such a
        /// pair become mixtures of inputs with the values −1 and 1. A mixture's ratio is at most
        /// the greatest ratio of its parts.
        #[must_use]
        pub fn neighbour_pairs(question: &Question) -> Vec<NeighbourPair> {
            match question.mechanism() {
                $(Mechanism::$Name(own) => own.neighbour_pairs(question),)+
            }
        }
    };
}

hushbin::mechanisms!(register);

/// Returns the function that computes the bucket probabilities of the core's randomizer
/// ([`ExactProbabilities::bucket_probability_function`]). Returns `None` if [`exact_probabilities`] returns
/// `None`.
#[must_use]
pub fn core_bucket_probability_fn(question: &Question) -> Option<BucketProbabilityFunction> {
    exact_probabilities(question).map(|enumerable| enumerable.bucket_probability_function)
}
