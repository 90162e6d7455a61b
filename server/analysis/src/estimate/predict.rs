//! What error to expect before there are reports.

use hushbin::choose::{Population, Predicted};
use hushbin::domain::Domain;
use hushbin::{Entry, Question};

use super::Prepared;
use super::contribution::Contribution;
use super::point::Estimand;

/// Prediction of the noise of one question's estimates.
#[derive(Debug, Clone)]
pub struct Predictor {
    prepared: Prepared,
    domain: Domain,
    /// Of one person with s full entries.
    person: Predicted,
}

impl Predictor {
    /// The predictor of a question, whose rates are computed once.
    #[must_use]
    pub fn for_question(question: &Question) -> Self {
        let person = Population::even(1.0, question.sparsity());
        let (mechanism, domain) = (question.mechanism(), question.domain());
        Self {
            prepared: Prepared::for_question(question),
            domain,
            person: mechanism.predict(&domain, question.epsilon(), &person),
        }
    }

    /// Standard error at n `reports` of an item that hardly anybody has, of people
    /// with s full entries; one that many have is of the same order. `None` where
    /// the mechanism does not estimate this.
    #[must_use]
    pub fn standard_error(&self, estimand: Estimand, reports: f64) -> Option<f64> {
        let variance = match estimand {
            Estimand::Mean => self.person.mean?.rare_variance,
            Estimand::Plus | Estimand::Minus | Estimand::Share => {
                self.person.frequency?.rare_variance
            }
            Estimand::Nonmissing => self.contribution(estimand, &[])?.nobody,
        };
        Some((variance / reports).sqrt())
    }

    /// What a report of these entries contributes; `None` where the mechanism
    /// does not estimate this.
    pub(super) fn contribution(
        &self,
        estimand: Estimand,
        entries: &[Entry],
    ) -> Option<Contribution> {
        self.prepared.contribution(&self.domain, estimand, entries)
    }
}
