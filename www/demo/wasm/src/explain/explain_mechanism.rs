//! Interface that every mechanism implements to be explained.

use std::ops::Range;

use hushbin::domain::{Domain, SignedItem};
use serde::Serialize;

use super::answer_placement::AnswerPlacement;

/// Randomised part of a report, decoded for each mechanism.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Reported {
    /// Bucket of Collision, or output of Pattern.
    Bucket {
        /// Index of the bucket, from 0.
        bucket: u32,
    },
    /// One of the two sides of a pair of buckets in CoCo.
    Side {
        /// Index of the pair, from 0.
        pair: u32,
        /// True for the plus side.
        plus: bool,
    },
    /// Atoms that Window reports for the drawn attributes.
    Atoms {
        /// Value of each attribute's atom, divided by the maximum value (so from −1 to 1). The
        /// order is that in which the seed draws the attributes.
        values: Vec<f64>,
    },
    /// Sign of hash-bin's clipped sum.
    Sign {
        /// True for the sign +, false for −.
        plus: bool,
    },
    /// Noisy bins of hash-bin.
    Bins {
        /// Sum of the answers in each bin, plus noise. An answer counts 1 or −1.
        values: Vec<f64>,
    },
}

/// Mechanism whose reports can be explained, given a task's domain and ε.
pub(super) trait ExplainMechanism {
    type Report;

    /// Decodes the randomised part of a report.
    fn decode_randomised_part(&self, report: &Self::Report) -> Reported;

    /// Returns where the answers fall under the seed of `report`, and the probability of each
    /// possible outcome.
    fn place_answers(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &Self::Report,
    ) -> AnswerPlacement;

    /// Returns the log-likelihood of a report: ln P(response | seed, answers).
    fn log_likelihood(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &Self::Report,
    ) -> f64;

    /// Returns a score that is higher if the report supports the first input more than the second.
    fn audit_score(
        &self,
        setting: &DomainAndEpsilon,
        inputs: &[Vec<SignedItem>; 2],
        report: &Self::Report,
    ) -> f64;

    /// Returns the scale of the noise on reported numbers, in units of one answer. Returns `None`
    /// if reports have no numbers.
    fn noise_scale(&self, _: &DomainAndEpsilon) -> Option<f64> {
        None
    }
}

/// Domain and ε of a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct DomainAndEpsilon {
    pub(super) domain: Domain,
    pub(super) epsilon: f64,
}

impl DomainAndEpsilon {
    /// Returns the indices of the paddings that complete a report up to the sparsity.
    pub(super) fn padding_indices(&self, answers: &[SignedItem]) -> Range<u32> {
        0..self.domain.sparsity().saturating_sub(answers.len() as u32)
    }

    /// Returns the probability of every outcome, for a sparsity of s. `chances` computes the
    /// probabilities for at most s answers. For more answers, the probabilities are averaged over
    /// uniformly random selections of s answers.
    pub(super) fn average_over_kept_answers(
        &self,
        answers: &[SignedItem],
        chances: &mut dyn FnMut(&[SignedItem]) -> Vec<f64>,
    ) -> Vec<f64> {
        if answers.len() <= self.domain.sparsity() as usize {
            return chances(answers);
        }
        // Dropping one uniformly random answer at a time gives a uniformly random selection.
        let without = |index| [&answers[..index], &answers[index + 1..]].concat();
        mean_of_distributions(
            (0..answers.len())
                .map(|index| self.average_over_kept_answers(&without(index), chances)),
        )
    }
}

/// Returns the mean of several distributions over the same outcomes. At least one distribution is
/// required.
pub(super) fn mean_of_distributions(distributions: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    let mut sums = Vec::new();
    let mut count = 0.0;
    for distribution in distributions {
        sums.resize(distribution.len(), 0.0);
        for (sum, chance) in sums.iter_mut().zip(distribution) {
            *sum += chance;
        }
        count += 1.0;
    }
    sums.into_iter().map(|sum: f64| sum / count).collect()
}
