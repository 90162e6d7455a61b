//! Thresholds for candidates, and hit rates of reports.

use crate::numeric::clopper_pearson::critical_count;
use hushbin::mechanism::collision::Collision;
use hushbin::task::{Kind, Prefixes};
use hushbin::{Mechanism, Question};

/// Maximum expected number of prefixes without people that continue to the next length.
pub(super) const MAX_FALSE_PREFIXES: f64 = 16.0;

/// Early stages of a length: (fraction of its reports, tail probability that a candidate must
/// reach).
///
/// Candidates without people survive with probability 0.4 after a quarter of the reports, and 0.06
/// after half of them. So 0.25 + 0.25 · 0.4 + 0.5 · 0.06 = 0.38 of all hashes are computed. A
/// prefix that would continue with probability 99 per cent is lost in these stages with probability
/// about 0.2 per cent. [`Detectable`](super::Detectable) includes this loss.
const STAGES: [(f64, f64); 2] = [(0.25, 0.4), (0.5, 0.06)];

/// Returns (number of reports, required hits) for each early stage.
///
/// `other` is the hit probability of a candidate without people. Up to 1000 candidates need no
/// early stages.
pub(super) fn stages(reports: u64, candidates: u64, other: f64) -> Vec<(u64, u64)> {
    let stage = |(part, tail)| {
        let reports = (part * reports as f64) as u64;
        (reports, critical_count(reports, other, tail))
    };
    let stages = STAGES.into_iter().filter(|_| candidates > 1000);
    stages.map(stage).collect()
}

/// Returns the tail probability at which a candidate continues: at most 0.1, and at least `strict`,
/// at which it is found.
pub(super) fn screened(candidates: u64, strict: f64) -> f64 {
    (MAX_FALSE_PREFIXES / candidates.max(1) as f64)
        .min(0.1)
        .max(strict)
}

/// Returns the one-sided tail probability at which a candidate of one length is found. Bonferroni
/// over lengths and candidates.
pub(super) fn strict(confidence: f64, lengths: usize, candidates: u64) -> f64 {
    (1.0 - confidence) / 2.0 / lengths as f64 / candidates.max(1) as f64
}

/// Returns the prefixes and the mechanism of a text question. `None` for any other question.
pub(super) const fn text_parameters(question: &Question) -> Option<(&Prefixes, &Collision)> {
    match (question.kind(), question.mechanism()) {
        (Kind::Text(prefixes), Mechanism::Collision(collision)) => Some((prefixes, collision)),
        _ => None,
    }
}

/// Returns the probabilities that a report hits [its person's prefix, another prefix].
pub(super) fn hit_rates(question: &Question, collision: &Collision) -> [f64; 2] {
    let rates = collision.rates(&question.domain(), question.epsilon());
    [rates.p_true, rates.p_false]
}
