//! Likelihood ratios of reports between two inputs, computed from the mechanisms' definitions.
//!
//! An audit that shared the randomizer's code would share its mistakes. So this module is written
//! from the definitions, in floating point and from the requested ε. It shares only the numbering
//! of elements and the hashes, which define the meaning of a report.
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

pub(crate) use contract::BucketProbabilities;
pub use contract::Enumerable;
pub use hypothesis::Hypothesis;
pub use neighbours::NeighbourPair;
pub use observation::{BucketRank, Observation, SeedPlacement};

use hushbin::{Mechanism, Question, Report};

use contract::Observed;

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        $(mod $module;)+

        /// Computes what an attacker learns from a report of `question` about two inputs, such as
        /// those of [`neighbour_pairs`].
        ///
        /// The likelihood ratio is exact, with three exceptions:
        ///
        /// - CoCo's rule `strongest` with fewer than s entries. The paddings, whose signs are
        ///   secret, are left out.
        /// - Laplace noise on sums that are off the grid.
        /// - Mixtures of more parts than a [`Hypothesis`] enumerates.
        ///
        /// # Panics
        /// If the report is of another mechanism.
        #[must_use]
        pub fn observe(question: &Question, inputs: [&Hypothesis; 2], report: &Report) -> Observation {
            let [one, other] = inputs.map(|input| input.for_seed(question, report.seed()));
            let inputs = [&*one, &*other];
            match (question.mechanism(), report) {
                $((Mechanism::$Name(own), Report::$Name(report)) => {
                    own.observe(&question.domain(), question.epsilon(), inputs, report)
                })+
                _ => panic!("reports are of the task's mechanism"),
            }
        }

        /// Returns the core's bucket probabilities. `None` if reports are not buckets, or the core
        /// cannot list the probabilities.
        #[must_use]
        pub fn enumerable(question: &Question) -> Option<Enumerable> {
            match question.mechanism() {
                $(Mechanism::$Name(own) => own.enumerable(&question.domain(), question.epsilon()),)+
            }
        }

        /// Returns pairs of inputs to test on `question`, each pair once.
        ///
        /// If any two inputs are neighbours, the greatest ratio is between inputs with disjoint
        /// sets of favoured buckets. Under CoCo, items with opposite signs have such sets wherever
        /// a pair of sides is off balance, for every seed. Under Collision, inputs without a common
        /// element have such sets for most seeds. The sums of hash-bin move most if values change
        /// from 1 to −1. This change affects one item, the number of items that the distance
        /// allows, or enough items to reach the clip.
        ///
        /// The remaining pairs test randomizers that fail on inputs of another kind. These inputs
        /// have fewer entries than s, or more entries, which are sampled down. Some contain
        /// fractions, which are ternarised or rounded, or 0, which counts as absent. Under a
        /// correct randomizer, none of them loses more privacy. Each becomes a mixture of inputs of
        /// −1 and 1, and the ratios of a mixture are at most the greatest ratio of its parts.
        #[must_use]
        pub fn neighbour_pairs(question: &Question) -> Vec<NeighbourPair> {
            match question.mechanism() {
                $(Mechanism::$Name(own) => own.neighbour_pairs(question),)+
            }
        }
    };
}

hushbin::mechanisms!(register);

/// Returns the core's bucket probabilities ([`Enumerable::probabilities`]). `None` if reports have
/// none.
#[must_use]
pub fn core_probabilities(question: &Question) -> Option<BucketProbabilities> {
    enumerable(question).map(|enumerable| enumerable.probabilities)
}
