//! What an observer concludes from a report, by Bayes' rule.

use hushbin::Report;
use hushbin::domain::Signed;
use serde::Serialize;

use super::error::ExplainError;
use super::explainer::Explainer;

/// Answers of which the one about `item` is replaced by `claim`.
fn supposing(answers: &[Signed], item: u64, claim: i8) -> Vec<Signed> {
    let others = answers.iter().filter(|signed| signed.item != item);
    let own = (claim != 0).then_some(Signed {
        item,
        negative: claim < 0,
    });
    let mut all: Vec<Signed> = others.copied().chain(own).collect();
    all.sort_unstable_by_key(|signed| signed.item);
    all
}

/// What an observer believes before and after a report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Belief {
    /// Likelihood of the report under the claim, over that under its contrary;
    /// from exp(−ε) to exp(ε).
    pub ratio: f64,
    /// Probability of the claim, given the report.
    pub after: f64,
    /// The least and most that any report can lead to.
    pub bounds: [f64; 2],
}

/// The probability of a claim after evidence of this likelihood ratio, where it
/// was `before`: Bayes' rule.
///
/// ```
/// use hushbin_demo::explain::posterior;
///
/// assert_eq!(posterior(0.5, 1.0), 0.5);
/// assert!((posterior(0.2, 4.0) - 0.5).abs() < 1e-15);
/// ```
#[must_use]
pub fn posterior(before: f64, ratio: f64) -> f64 {
    before * ratio / (before * ratio + 1.0 - before)
}

impl Explainer {
    /// The belief that `item` was answered with `claim` (1, −1, or 0: not set) of
    /// an observer who knows all other answers, thought so with probability
    /// `before`, and held the two contrary answers for equally likely.
    ///
    /// # Errors
    /// As [`Explainer::log_likelihood`].
    pub fn belief(
        &self,
        answers: &[Signed],
        report: &Report,
        item: u64,
        claim: i8,
        before: f64,
    ) -> Result<Belief, ExplainError> {
        let likelihood = |claim| self.log_likelihood(&supposing(answers, item, claim), report);
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
            after: posterior(before, ratio),
            bounds: [-epsilon, epsilon].map(|loss: f64| posterior(before, loss.exp())),
        })
    }
}
