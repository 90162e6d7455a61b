//! Which share of people a text needs, to be found.

use hushbin::Question;
use serde::Serialize;

use super::candidates;
use super::thresholds::{SPURIOUS, asked, hit_rates, screened, stages, strict};
use crate::numeric::clopper_pearson::least_rare;
use crate::numeric::roots::{bisect, geometric};
use statrs::function::beta::beta_reg;

/// Of finding a text of a share, where one is stated.
pub const PROBABILITY: f64 = 0.99;

/// What a search is expected to find, before there are reports.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Detectable {
    /// The least share of people with a text of the greatest length, or beginning with it, that is
    /// found with the probability; shorter ones need less. Above 1 where there are too few people.
    pub share: f64,
}

impl Detectable {
    /// Of reports of so many people, in a search over so many letters.
    ///
    /// Of a text that a part of people has, reports of its own length and of all lesser
    /// ones have to hit it often enough: its chance to be lost is at most the sum of the
    /// chances to be lost at each, of the binomial law, which people who are given do not
    /// spread more than. A length is taken to be told of by four standard deviations fewer
    /// people than its part of all. How many prefixes go on, and so how many candidates
    /// there are, is not known before: with all people among texts of the least share that
    /// is as likely to go on as not there are 1 over that, and twice as many are counted
    /// on. Ten times as many would raise shares by some 5 per cent.
    ///
    /// `None` of a question for anything but a text.
    ///
    /// ```
    /// use hushbin_analysis::heavy_hitters::Detectable;
    ///
    /// let draft: hushbin::TaskDraft = serde_json::from_str(
    ///     r#"{ "id": "t", "epsilon": 4.0,
    ///          "questions": [{ "name": "query", "kind": "text", "length": 6 }] }"#,
    /// ).unwrap();
    /// let task = draft.resolve().unwrap();
    /// let question = &task.questions()[0];
    /// let found = |people| Detectable::new(question, people, 38, 0.95, 0.99).unwrap();
    /// assert!(found(1_000_000).share < 0.006);
    /// // Four times the people find half the share.
    /// assert!((found(4_000_000).share / found(1_000_000).share - 0.5).abs() < 0.03);
    /// ```
    #[must_use]
    pub fn new(
        question: &Question,
        people: u64,
        letters: usize,
        confidence: f64,
        probability: f64,
    ) -> Option<Self> {
        let (prefixes, collision) = asked(question)?;
        let [own, other] = hit_rates(question, collision);
        let all = prefixes.lengths().len() as f64;
        let lengths = prefixes.distinct().count();
        let (mut before, mut begun) = (0, 1.0);
        // Reports of each length, and how many hits let a candidate go on.
        let mut needed = Vec::new();
        for (index, (length, parts)) in prefixes.distinct().enumerate() {
            let part = people as f64 * parts as f64 / all;
            let reports = (part - 4.0 * part.sqrt()).max(0.0) as u64;
            let candidates = candidates::count(letters, length - before) as f64 * begun;
            let strict = strict(confidence, lengths, candidates as u64);
            let tail = if index + 1 == lengths {
                strict
            } else {
                screened(candidates as u64, strict)
            };
            let enough = least_rare(reports, other, tail);
            needed.extend(stages(reports, candidates as u64, other));
            needed.push((reports, enough));
            let even = (enough as f64 / reports as f64 - other) / (own - other);
            begun = candidates.min(2.0 / even.max(1e-12) + SPURIOUS);
            before = length;
        }
        let is_found = |share: f64| {
            let rate = (other + share * (own - other)).min(1.0);
            let lost = needed
                .iter()
                .map(|&(reports, enough)| lost(reports, enough, rate));
            lost.sum::<f64>() <= 1.0 - probability
        };
        let share = if is_found(1.0) {
            bisect(1.0, 1e-12, geometric(1e-6), is_found).0
        } else {
            f64::INFINITY
        };
        Some(Self { share })
    }
}

/// The probability of fewer hits than enough.
fn lost(reports: u64, enough: u64, rate: f64) -> f64 {
    if enough > reports {
        return 1.0;
    }
    1.0 - beta_reg(enough as f64, (reports - enough + 1) as f64, rate)
}
