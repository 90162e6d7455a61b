//! Prediction of a question's noise.

use std::sync::Arc;

use hushbin::Question;
use hushbin::choose::{Population, Predicted};
use hushbin::domain::Domain;
use hushbin::mechanism::collision::Rates;
use hushbin::task::{Kind, Part};

use super::worst;
use crate::estimate::mechanism::{Prepared, SumRates, prepared};
use crate::estimate::point::{Estimand, People, variance_over_people};
use crate::estimate::question::contrast;

/// Prediction of the noise of one question's estimates.
#[derive(Debug, Clone)]
pub struct Predictor {
    prepared: Arc<dyn Prepared>,
    domain: Domain,
    kind: Kind,
    /// Of one person with s full entries.
    person: Predicted,
}

/// What a question is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// A mean: of a rating or one of several numbers, from −1 to 1; of a number that has
    /// levels, its place in its range, from 0 to 1.
    Mean,
    /// Of a cross, the mean of its number among the people of a row that this share of all
    /// is in: its place in its range, from 0 to 1, to first order.
    MeanWithin(f64),
    /// The share of an answer.
    Share,
    /// The distribution function of a number in bins, where it is this part.
    Distribution(f64),
}

impl Predictor {
    /// The predictor of a question, whose rates are computed once.
    #[must_use]
    pub fn for_question(question: &Question) -> Self {
        let person = Population::even(1.0, question.sparsity());
        let domain = question.domain();
        Self {
            prepared: prepared(question),
            domain,
            kind: question.kind().clone(),
            person: (question.mechanism()).predict(&domain, question.epsilon(), &person),
        }
    }

    /// Standard error at n `reports` of an item that hardly anybody has, of people with s full
    /// entries; one that many have is of the same order. Of parts that are asked together it is
    /// that of the one with most options. `None` where the mechanism does not estimate this.
    #[must_use]
    pub fn standard_error(&self, estimand: Estimand, reports: f64) -> Option<f64> {
        let variance = match estimand {
            Estimand::Share if matches!(self.kind, Kind::Together(_)) => {
                self.full(Estimand::Share)?[1]
            }
            Estimand::Mean => self.person.mean?.rare_variance,
            Estimand::Plus | Estimand::Minus | Estimand::Share => {
                self.person.frequency?.rare_variance
            }
            Estimand::Nonmissing => self.prepared.variances(estimand)?[1],
        };
        Some((variance / reports).sqrt())
    }

    /// Variance of one report's estimate, at the worst over what people may answer, of
    /// people with s full entries; `several` questions are asked, of which it is one. As
    /// with estimates that are answered, who is asked varies too where that is by chance.
    /// `None` where the question is not answered with this.
    ///
    /// ```
    /// use hushbin_analysis::estimate::{Aim, Predictor};
    ///
    /// let draft: hushbin::TaskDraft = serde_json::from_str(r#"{ "id": "t", "epsilon": 1.0,
    ///     "questions": [{ "name": "beta", "kind": "flag" }] }"#).unwrap();
    /// let task = draft.resolve().unwrap();
    /// let predictor = Predictor::for_question(&task.questions()[0]);
    /// let variance = predictor.worst_variance(Aim::Share, false).unwrap();
    /// // e/(e − 1)² of a yes or no.
    /// assert!((variance - 0.9207).abs() < 1e-4);
    /// assert!(predictor.worst_variance(Aim::Mean, false).is_none());
    /// ```
    #[must_use]
    pub fn worst_variance(&self, aim: Aim, several: bool) -> Option<f64> {
        let whose = People::of(&self.kind, several);
        match (aim, &self.kind) {
            (Aim::Distribution(part), Kind::Number(scale)) => Some(match self.prepared.sums()? {
                SumRates::Outputs(rates) => worst::of_pattern(rates, part),
                SumRates::Hits(rates) => worst::of_distribution(whose, rates, scale.cells(), part),
            }),
            (Aim::Distribution(_), _) => None,
            (Aim::MeanWithin(share), Kind::Cross(cross)) => {
                let (rates, levels) = (self.hits()?, cross.levels()?.cells());
                Some(contrast::worst_of_mean(whose, rates, levels, share))
            }
            (Aim::MeanWithin(_), _) => None,
            (Aim::Mean, _) => {
                let [with, without] = self.full(Estimand::Mean)?;
                // Halves of either sign have a mean of 0.
                let apart = f64::from(u8::from(whose == People::Drawn));
                Some((with + apart).max(without))
            }
            (Aim::Share, _) => {
                let [with, without] = self.full(self.share())?;
                Some(worst::of_share(whose, with, without))
            }
        }
    }

    /// Variance of one report's estimate of an answer that this part of people give, as
    /// [`Predictor::worst_variance`] is the greatest over all parts.
    #[must_use]
    pub fn share_variance(&self, share: f64, several: bool) -> Option<f64> {
        let [with, without] = self.full(self.share())?;
        let whose = People::of(&self.kind, several);
        Some(variance_over_people(whose, share, with, without))
    }

    /// [`Predictor::worst_variance`] of the distribution function of so many bins, where
    /// each is an item that one person rates.
    #[must_use]
    pub(crate) fn worst_of_rated_bins(&self, part: f64, several: bool) -> Option<f64> {
        let rates = self.hits()?;
        let bins = self
            .domain
            .items()
            .filter(|_| self.domain.sparsity() == 1)?;
        Some(worst::of_distribution(
            People::of(&self.kind, several),
            rates,
            bins,
            part,
        ))
    }

    /// Rates of hits, where sums of shares are sums of hits.
    fn hits(&self) -> Option<&Rates> {
        match self.prepared.sums()? {
            SumRates::Hits(rates) => Some(rates),
            SumRates::Outputs(_) => None,
        }
    }

    /// What estimates the share of an answer.
    const fn share(&self) -> Estimand {
        if self.domain.is_rated() {
            Estimand::Plus
        } else {
            Estimand::Share
        }
    }

    /// Variances of one report's estimate of an item, of people with s full entries who
    /// have it, or do not; of parts those of the one with most options, which are greatest.
    fn full(&self, estimand: Estimand) -> Option<[f64; 2]> {
        if let Kind::Together(together) = &self.kind {
            let options = together.parts().iter().map(Part::cells).max()?;
            let rates = self.hits()?;
            return Some([true, false].map(|given| rates.option_variance(options, given)));
        }
        self.prepared.variances(estimand)
    }
}
