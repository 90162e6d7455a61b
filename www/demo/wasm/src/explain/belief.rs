//! Belief of an observer who has seen a report, by Bayes' rule.

use hushbin::Report;
use hushbin::domain::SignedItem;
use serde::Serialize;

use super::error::ExplainError;
use super::ratings_explainer::Explainer;

/// Returns the answers after a change: the new answer about `item` is `claim` (1, −1, or 0 for no
/// answer).
fn answers_with_claim(answers: &[SignedItem], item: u64, claim: i8) -> Vec<SignedItem> {
    let others = answers.iter().filter(|signed| signed.item != item);
    let own = (claim != 0).then_some(SignedItem {
        item,
        is_negative: claim < 0,
    });
    let mut all: Vec<SignedItem> = others.copied().chain(own).collect();
    all.sort_unstable_by_key(|signed| signed.item);
    all
}

/// Belief of an observer in a claim, after seeing a report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Belief {
    /// Likelihood ratio of the claim against the other answers to the item, from exp(−ε) to exp(ε).
    pub ratio: f64,
    /// Posterior probability of the claim, given the report.
    pub after: f64,
    /// Minimum and maximum posterior probability over all possible reports.
    pub bounds: [f64; 2],
}

/// Returns the posterior probability of a claim, by Bayes' rule. `before` is the prior probability,
/// and `ratio` is the likelihood ratio of the evidence.
///
/// ```
/// use hushbin_demo::explain::posterior_probability;
///
/// assert_eq!(posterior_probability(0.5, 1.0), 0.5);
/// assert!((posterior_probability(0.2, 4.0) - 0.5).abs() < 1e-15);
/// ```
#[must_use]
pub fn posterior_probability(before: f64, ratio: f64) -> f64 {
    before * ratio / (before * ratio + 1.0 - before)
}

impl Explainer {
    /// Returns an observer's belief that the answer to `item` is `claim` (1, −1, or 0 for no
    /// answer). The observer knows all other answers. Before the report, the observer believes the
    /// claim with probability `before` and considers the two other answers to `item` equally
    /// likely.
    ///
    /// # Errors
    /// Errors of [`Explainer::log_likelihood`].
    pub fn belief_in_claim(
        &self,
        answers: &[SignedItem],
        report: &Report,
        item: u64,
        claim: i8,
        before: f64,
    ) -> Result<Belief, ExplainError> {
        let likelihood =
            |claim| self.log_likelihood(&answers_with_claim(answers, item, claim), report);
        let own = likelihood(claim)?;
        let mut contrary = 0.0;
        for other in [1, -1, 0] {
            if other != claim {
                contrary += 0.5 * (likelihood(other)? - own).exp();
            }
        }
        let ratio = 1.0 / contrary;
        let epsilon = self.task.epsilon();
        Ok(Belief {
            ratio,
            after: posterior_probability(before, ratio),
            bounds: [-epsilon, epsilon].map(|loss: f64| posterior_probability(before, loss.exp())),
        })
    }
}
