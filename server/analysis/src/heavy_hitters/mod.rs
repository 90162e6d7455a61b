//! Texts that many people have, found without a list of them.
//!
//! Every report tells of one prefix of its person's text, whose length its seed drew
//! ([`Prefixes`]): an independent hash of the prefix names a bucket, which is reported
//! with up to exp(ε) times the probability of another. [`Reports`] of one length are a
//! group of people drawn at random. A [`Search`] begins with all prefixes of the least
//! length over an alphabet, keeps those that its group hits often enough, extends them
//! to the next length, and so on (Bassily, Nissim, Stemmer, Thakurta, "Practical Locally
//! Private Heavy Hitters", 2017; T. Wang, Li, Jha, "Locally Differentially Private Heavy
//! Hitter Identification", 2018).
//!
//! # What is promised
//!
//! Which candidates a length has depends on the reports of lesser lengths alone, so that
//! for each of them the tail of the binomial law is what it would be for a text that was
//! named before any report came in: n people without it hit its bucket Binomial(n, 1/t)
//! times. A text that nobody has is therefore found with a probability of at most
//! (1 − confidence)/2 in all (Bonferroni), whoever has what. With the confidence all
//! intervals hold the true shares among the many that people are drawn from. Where people
//! are given, groups are drawn from them: hits spread less than the binomial law of the
//! same mean then (Hoeffding 1956 and 1963), so that intervals by Clopper and Pearson stay
//! on the safe side for any text that is a candidate whatever the reports of lesser
//! lengths are, as all are that many people have.
//!
//! Between lengths a prefix goes on when its tail is below `SPURIOUS` over the number
//! of candidates. That costs hashing and no promise.
//!
//! A text that is no longer than a prefix is told of whole from there on: all reports of
//! that length and of greater ones count for it.

mod candidates;
mod detectable;
mod groups;
mod search;

pub use detectable::{Detectable, PROBABILITY};
pub use groups::Reports;
pub use search::{DEFAULT_ALPHABET, Found, Group, Options, Search, SearchError, Text};

use crate::numeric::clopper_pearson::least_rare;
use hushbin::mechanism::collision::Collision;
use hushbin::task::{Kind, Prefixes};
use hushbin::{Mechanism, Question};

/// How many prefixes that nobody has go on to the next length, at most, on average.
const SPURIOUS: f64 = 16.0;

/// How many reports of a length, of all, hold its candidates back whose hits are not even
/// as rare as that.
///
/// Of candidates that nobody has 4 of 10 are left after a quarter of the reports, and 6 of
/// 100 after half of them, so that 0.38 of all hashes are worked out. What so many have that it goes
/// on with a probability of 99 per cent is lost here with one of some 0.2 per cent, which
/// [`Detectable`] counts in.
const STAGES: [(f64, f64); 2] = [(0.25, 0.4), (0.5, 0.06)];

/// The numbers of reports, of all, after which candidates are held back, and the hits that
/// are enough then, of hits of what nobody has with probability `other`. Few candidates
/// are not.
fn stages(reports: u64, candidates: u64, other: f64) -> Vec<(u64, u64)> {
    let stage = |(part, tail)| {
        let reports = (part * reports as f64) as u64;
        (reports, least_rare(reports, other, tail))
    };
    let stages = STAGES.into_iter().filter(|_| candidates > 1000);
    stages.map(stage).collect()
}

/// The tail at which one of so many candidates goes on: never more than one in ten, nor
/// less than `strict`, at which it is found.
fn screened(candidates: u64, strict: f64) -> f64 {
    (SPURIOUS / candidates.max(1) as f64).min(0.1).max(strict)
}

/// The tail at which one of so many candidates of a length is found, on either side, of
/// so many lengths.
fn strict(confidence: f64, lengths: usize, candidates: u64) -> f64 {
    (1.0 - confidence) / 2.0 / lengths as f64 / candidates.max(1) as f64
}

/// The prefixes of a text and what reports on them; `None` of a question for anything else.
const fn asked(question: &Question) -> Option<(&Prefixes, &Collision)> {
    match (question.kind(), question.mechanism()) {
        (Kind::Text(prefixes), Mechanism::Collision(collision)) => Some((prefixes, collision)),
        _ => None,
    }
}

/// With which probability a report hits a prefix that its person has, and another.
fn hit_rates(question: &Question, collision: &Collision) -> [f64; 2] {
    let rates = collision.rates(&question.domain(), question.epsilon());
    [rates.p_true, rates.p_false]
}
