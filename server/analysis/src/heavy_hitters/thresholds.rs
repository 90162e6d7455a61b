//! Thresholds of candidates, and the rates of their hits.

use crate::numeric::clopper_pearson::least_rare;
use hushbin::mechanism::collision::Collision;
use hushbin::task::{Kind, Prefixes};
use hushbin::{Mechanism, Question};

/// How many prefixes that nobody has go on to the next length, at most, on average.
pub(super) const SPURIOUS: f64 = 16.0;

/// How many reports of a length, of all, hold its candidates back whose hits are not even
/// as rare as that.
///
/// Of candidates that nobody has 4 of 10 are left after a quarter of the reports, and 6 of
/// 100 after half of them, so that 0.38 of all hashes are worked out. What so many have that it goes
/// on with a probability of 99 per cent is lost here with one of some 0.2 per cent, which
/// [`Detectable`](super::Detectable) counts in.
const STAGES: [(f64, f64); 2] = [(0.25, 0.4), (0.5, 0.06)];

/// The numbers of reports, of all, after which candidates are held back, and the hits that are
/// enough then, of hits of what nobody has with probability `other`. Few candidates are not.
pub(super) fn stages(reports: u64, candidates: u64, other: f64) -> Vec<(u64, u64)> {
    let stage = |(part, tail)| {
        let reports = (part * reports as f64) as u64;
        (reports, least_rare(reports, other, tail))
    };
    let stages = STAGES.into_iter().filter(|_| candidates > 1000);
    stages.map(stage).collect()
}

/// Tail at which a candidate goes on: at most one in ten, and at least `strict`, at which it
/// is found.
pub(super) fn screened(candidates: u64, strict: f64) -> f64 {
    (SPURIOUS / candidates.max(1) as f64).min(0.1).max(strict)
}

/// Tail at which a candidate of a length is found, on either side.
pub(super) fn strict(confidence: f64, lengths: usize, candidates: u64) -> f64 {
    (1.0 - confidence) / 2.0 / lengths as f64 / candidates.max(1) as f64
}

/// The prefixes of a text and what reports on them; `None` of a question for anything else.
pub(super) const fn asked(question: &Question) -> Option<(&Prefixes, &Collision)> {
    match (question.kind(), question.mechanism()) {
        (Kind::Text(prefixes), Mechanism::Collision(collision)) => Some((prefixes, collision)),
        _ => None,
    }
}

/// Probabilities that a report hits its person's prefix, and another.
pub(super) fn hit_rates(question: &Question, collision: &Collision) -> [f64; 2] {
    let rates = collision.rates(&question.domain(), question.epsilon());
    [rates.p_true, rates.p_false]
}
