//! Prediction of the smallest share of people for which a search finds a text.

use hushbin::Question;
use serde::Serialize;

use super::candidates;
use super::thresholds::{
    MAX_FALSE_PREFIXES, early_test_stages, max_tail_probability_for_result,
    max_tail_probability_to_continue, prefix_lengths_and_mechanism, true_and_false_hit_rates,
};
use crate::numeric::clopper_pearson::critical_hit_count;
use crate::numeric::roots::{bisect, geometric_midpoint_function};
use statrs::function::beta::beta_reg;

/// Default probability of finding a text if the share of people with this text is
/// [`DetectableShare::share`].
pub const DEFAULT_FIND_PROBABILITY: f64 = 0.99;

/// Predicted sensitivity of a search, before any report exists.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DetectableShare {
    /// Smallest share of people for which a text or prefix of the greatest length is found with the
    /// requested probability. Shorter texts are found at a smaller share. Infinite if there are too
    /// few people to find any text.
    pub share: f64,
}

impl DetectableShare {
    /// Predicts the smallest share that is found, for `people` reports and an alphabet of `letters`
    /// letters. `confidence` is the joint confidence of the search's intervals. `probability` is
    /// the probability with which a text must be found.
    ///
    /// A text is found if enough reports hit it, at its own length, and hit its prefixes at all
    /// shorter lengths. The probability of losing it is at most the sum of the probabilities of
    /// losing it at each length (union bound). These probabilities are computed from binomial
    /// distributions. In a fixed population, the number of hits varies at most as much.
    ///
    /// Returns `None` if the question does not ask for a text.
    ///
    /// ```
    /// use hushbin_analysis::heavy_hitters::DetectableShare;
    ///
    /// let draft: hushbin::TaskDraft = serde_json::from_str(
    ///     r#"{ "id": "t", "epsilon": 4.0,
    ///          "questions": [{ "name": "query", "kind": "text", "length": 6 }] }"#,
    /// ).unwrap();
    /// let task = draft.resolve_task().unwrap();
    /// let question = &task.questions()[0];
    /// let found = |people| DetectableShare::new(question, people, 38, 0.95, 0.99).unwrap();
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
        let (prefixes, collision) = prefix_lengths_and_mechanism(question)?;
        let [own, other] = true_and_false_hit_rates(question, collision);
        let all = prefixes.lengths().len() as f64;
        let lengths = prefixes.lengths_with_repeat_counts().count();
        let (mut before, mut begun) = (0, 1.0);
        // Pairs (number of reports, minimum number of hits to continue), for each stage of each
        // length.
        let mut needed = Vec::new();
        for (index, (length, parts)) in prefixes.lengths_with_repeat_counts().enumerate() {
            let part = people as f64 * parts as f64 / all;
            // The number of reports of a length is random. Assume that it is four standard
            // deviations below its mean.
            let reports = (part - 4.0 * part.sqrt()).max(0.0) as u64;
            let candidates = candidates::extension_count(letters, length - before) as f64 * begun;
            let strict = max_tail_probability_for_result(confidence, lengths, candidates as u64);
            // After the last length there is no other test, so the stricter threshold for results
            // applies.
            let tail = if index + 1 == lengths {
                strict
            } else {
                max_tail_probability_to_continue(candidates as u64, strict)
            };
            let enough = critical_hit_count(reports, other, tail);
            needed.extend(early_test_stages(reports, candidates as u64, other));
            needed.push((reports, enough));
            // Share of people for which the expected number of hits equals the threshold. A prefix
            // with this share continues with a probability of about 1/2. At most 1/`even` prefixes
            // have this share. How many continue is unknown beforehand, so assume twice as many.
            // Assuming ten times as many would raise the result by about 5 per cent.
            let even = (enough as f64 / reports as f64 - other) / (own - other);
            begun = candidates.min(2.0 / even.max(1e-12) + MAX_FALSE_PREFIXES);
            before = length;
        }
        let is_found = |share: f64| {
            // Expected hit rate of a text that a proportion `share` of people have.
            let rate = (other + share * (own - other)).min(1.0);
            let lost = needed
                .iter()
                .map(|&(reports, enough)| candidate_miss_probability(reports, enough, rate));
            lost.sum::<f64>() <= 1.0 - probability
        };
        let share = if is_found(1.0) {
            bisect(1.0, 1e-12, geometric_midpoint_function(1e-6), is_found).0
        } else {
            f64::INFINITY
        };
        Some(Self { share })
    }
}

/// Returns the probability that fewer than `enough` of `reports` reports hit a candidate. `rate` is
/// the hit probability.
fn candidate_miss_probability(reports: u64, enough: u64, rate: f64) -> f64 {
    if enough > reports {
        return 1.0;
    }
    // P(X ≥ k) = I_p(k, n − k + 1) for X ~ Binomial(n, p).
    1.0 - beta_reg(enough as f64, (reports - enough + 1) as f64, rate)
}
