//! Thresholds on the number of hits of a candidate, and hit rates of reports.
//!
//! The tail probability of a candidate is the probability that at least as many reports would hit
//! it if no person had it.

use crate::numeric::clopper_pearson::critical_hit_count;
use hushbin::mechanism::collision::Collision;
use hushbin::task::{PrefixLengths, QuestionKind};
use hushbin::{Mechanism, Question};

/// Maximum expected number of prefixes that continue to the next length although no person has
/// them.
pub(super) const MAX_FALSE_PREFIXES: f64 = 16.0;

/// Early stages of the test of candidates at one length. Each pair contains a fraction of the
/// reports, and the maximum tail probability at which a candidate continues.
///
/// A candidate that no person has is kept with probability 0.4 after a quarter of the reports, and
/// 0.06 after half of them. So only a fraction 0.25 + 0.25 · 0.4 + 0.5 · 0.06 = 0.38 of all hashes
/// is computed. A prefix that would otherwise continue with probability 0.99 is lost in these
/// stages with a probability of about 0.002. [`DetectableShare`](super::DetectableShare) includes
/// this loss.
const EARLY_REJECTION_SCHEDULE: [(f64, f64); 2] = [(0.25, 0.4), (0.5, 0.06)];

/// Returns the early stages of the test for a group of `reports` reports. Each pair contains a
/// number of reports, and the minimum number of hits with which a candidate continues.
///
/// `other` is the hit probability of a candidate that no person has. For at most 1000 candidates
/// there are no early stages.
pub(super) fn early_test_stages(reports: u64, candidates: u64, other: f64) -> Vec<(u64, u64)> {
    let stage = |(part, tail)| {
        let reports = (part * reports as f64) as u64;
        (reports, critical_hit_count(reports, other, tail))
    };
    let stages = EARLY_REJECTION_SCHEDULE
        .into_iter()
        .filter(|_| candidates > 1000);
    stages.map(stage).collect()
}

/// Returns the maximum tail probability at which a candidate continues to the next length. It is at
/// most 0.1 and at least `strict`, the maximum tail probability for the result.
pub(super) fn max_tail_probability_to_continue(candidates: u64, strict: f64) -> f64 {
    (MAX_FALSE_PREFIXES / candidates.max(1) as f64)
        .min(0.1)
        .max(strict)
}

/// Returns the maximum one-sided tail probability at which a candidate of one length is included in
/// the result. The Bonferroni correction covers all lengths and candidates.
pub(super) fn max_tail_probability_for_result(
    confidence: f64,
    lengths: usize,
    candidates: u64,
) -> f64 {
    (1.0 - confidence) / 2.0 / lengths as f64 / candidates.max(1) as f64
}

/// Returns the prefixes and the mechanism of a question that asks for a text. `None` for other
/// kinds of question.
pub(super) const fn prefix_lengths_and_mechanism(
    question: &Question,
) -> Option<(&PrefixLengths, &Collision)> {
    match (question.kind(), question.mechanism()) {
        (QuestionKind::Text(prefixes), Mechanism::Collision(collision)) => {
            Some((prefixes, collision))
        }
        _ => None,
    }
}

/// Returns the probability that a report hits the prefix of its sender's text, and the probability
/// that the report hits any other given prefix.
pub(super) fn true_and_false_hit_rates(question: &Question, collision: &Collision) -> [f64; 2] {
    let rates = collision.hit_probabilities(&question.domain(), question.epsilon());
    [rates.p_true, rates.p_false]
}
