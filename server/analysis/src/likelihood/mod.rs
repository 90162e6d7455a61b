//! Likelihoods of reports: how much likelier one is under one input than under
//! another, by the mechanisms' definitions.
//!
//! An audit that shared the randomizer's code would share its mistakes. This is written from the
//! definitions (Wang et al., "Differentially Private Numerical Vector Analyses in the Local and
//! Shuffle Model", Definition 5 and Algorithm 1, and the rules `heaviest` and `strongest`; Zhou et
//! al., "Locally Differentially Private Sparse Vector Aggregation", Algorithm 1), in floating point
//! and from the requested ε. In common are the numbering of elements and the hashes, which say what
//! a report means.

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
pub use observation::{Fall, Observation, Place};

use hushbin::{Mechanism, Question, Report};

use contract::Observed;

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        $(mod $module;)+

        /// Observation of a report of `question` by an attacker who holds it against two
        /// inputs, such as those of [`neighbour_pairs`].
        ///
        /// Exact but for CoCo's rule `strongest` with fewer than s entries, where what
        /// makes up for the others, with signs that are secret, is left out; for Laplace noise on sums
        /// that are off the grid; and for inputs that are mixtures of more parts than
        /// a [`Hypothesis`] looks at.
        ///
        /// # Panics
        /// If the report is of another mechanism.
        #[must_use]
        pub fn observe(question: &Question, inputs: [&Hypothesis; 2], report: &Report) -> Observation {
            let [one, other] = inputs.map(|input| input.told(question, report.seed()));
            let inputs = [&*one, &*other];
            match (question.mechanism(), report) {
                $((Mechanism::$Name(own), Report::$Name(report)) => {
                    own.observe(&question.domain(), question.epsilon(), inputs, report)
                })+
                _ => panic!("reports are of the task's mechanism"),
            }
        }

        /// What the reports of a task are drawn with, where they are buckets whose
        /// probabilities the core can list; `None` where they are not.
        #[must_use]
        pub fn enumerable(question: &Question) -> Option<Enumerable> {
            match question.mechanism() {
                $(Mechanism::$Name(own) => own.enumerable(&question.domain(), question.epsilon()),)+
            }
        }

        /// Pairs of inputs to try on `question`, each once.
        ///
        /// Where any two inputs are neighbours the greatest ratio is between inputs that favour
        /// disjoint sets of buckets. Items with opposite signs do so under CoCo wherever a pair is
        /// pushed off balance, whatever the seed; under Collision any inputs without a common
        /// element do for most seeds. Hash-bin's sums move most where values go from 1 to −1: of
        /// one item, of as many as the distance allows, or of so many that sums reach the clip.
        ///
        /// The others are there for randomizers that go wrong on inputs of another kind: with less
        /// entries than s or more, which are sampled down, with fractions, which are ternarised or
        /// rounded, with 0, which is as if absent. Under a randomizer that does what it says none
        /// of them loses more: what becomes of them is a mixture of inputs of −1 and 1, and a
        /// mixture's ratios are at most the greatest of its parts.
        #[must_use]
        pub fn neighbour_pairs(question: &Question) -> Vec<NeighbourPair> {
            match question.mechanism() {
                $(Mechanism::$Name(own) => own.neighbour_pairs(question),)+
            }
        }
    };
}

hushbin::mechanisms!(register);

/// The core's probabilities of buckets ([`Enumerable::probabilities`]); `None`
/// where reports have none.
#[must_use]
pub fn core_probabilities(question: &Question) -> Option<BucketProbabilities> {
    enumerable(question).map(|enumerable| enumerable.probabilities)
}
