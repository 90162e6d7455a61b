//! Prediction of a question's noise.

use std::sync::Arc;

use hushbin::Question;
use hushbin::choose::{Population, PredictedErrors};
use hushbin::domain::Domain;
use hushbin::mechanism::collision::Rates;
use hushbin::task::{Kind, Part};

use super::worst;
use crate::estimate::mechanism::{Prepared, SumRates, prepared};
use crate::estimate::point::{Estimand, SamplingModel, variance_over_people};
use crate::estimate::question::contrast;

/// Predicts the noise of one question's estimates.
#[derive(Debug, Clone)]
pub struct Predictor {
    prepared: Arc<dyn Prepared>,
    domain: Domain,
    kind: Kind,
    /// Prediction for one person with s full entries.
    person: PredictedErrors,
}

/// Quantity that a question is meant to estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// The mean. A rating, or one of several numbers, is scaled to [−1, 1]. A number with levels is
    /// scaled to its range, [0, 1].
    Mean,
    /// The mean of a cross's number within one row, where the given share of all people is in that
    /// row. Scaled to its range, [0, 1]; first-order approximation.
    MeanWithin(f64),
    /// The share of an answer.
    Share,
    /// The distribution function of a binned number, at an edge where it has the given value.
    Distribution(f64),
}

impl Predictor {
    /// Computes the question's rates and creates its predictor.
    #[must_use]
    pub fn for_question(question: &Question) -> Self {
        let person = Population::even(1.0, question.sparsity());
        let domain = question.domain();
        Self {
            prepared: prepared(question),
            domain,
            kind: question.kind().clone(),
            person: (question.mechanism()).predict_errors(&domain, question.epsilon(), &person),
        }
    }

    /// Returns the standard error at n = `reports` for an item that hardly any person has.
    ///
    /// People are assumed to have s full entries. For a common item the error is of the same order.
    /// For parts that are asked together, this is the error of the part with most options. Returns
    /// `None` if the mechanism does not estimate `estimand`.
    #[must_use]
    pub fn standard_error(&self, estimand: Estimand, reports: f64) -> Option<f64> {
        let variance = match estimand {
            Estimand::Share if matches!(self.kind, Kind::Together(_)) => {
                self.variances(Estimand::Share)?[1]
            }
            Estimand::Mean => self.person.mean?.rare_variance,
            Estimand::Plus | Estimand::Minus | Estimand::Share => {
                self.person.frequency?.rare_variance
            }
            Estimand::Nonmissing => self.prepared.variances(estimand)?[1],
        };
        Some((variance / reports).sqrt())
    }

    /// Returns the worst-case variance of one report's estimate, over all answers of people with s
    /// full entries.
    ///
    /// `several` means that the task asks several questions. The choice of people then adds
    /// variance if it is random, as in the reported estimates. Returns `None` if the question does
    /// not estimate `aim`.
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
        let whose = SamplingModel::of(&self.kind, several);
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
                let [with, without] = self.variances(Estimand::Mean)?;
                // If half the people have each sign, the mean is 0 and drawing people adds variance
                // 1.
                let apart = f64::from(u8::from(whose == SamplingModel::RandomSample));
                Some((with + apart).max(without))
            }
            (Aim::Share, _) => {
                let [with, without] = self.variances(self.share())?;
                Some(worst::of_share(whose, with, without))
            }
        }
    }

    /// Returns the variance of one report's estimate of an answer that a given share of people
    /// have.
    ///
    /// [`Predictor::worst_variance`] is its maximum over all shares.
    #[must_use]
    pub fn share_variance(&self, share: f64, several: bool) -> Option<f64> {
        let [with, without] = self.variances(self.share())?;
        let whose = SamplingModel::of(&self.kind, several);
        Some(variance_over_people(whose, share, with, without))
    }

    /// Returns [`Predictor::worst_variance`] of the distribution function if each bin is an item
    /// and every person rates one.
    #[must_use]
    pub(crate) fn worst_of_rated_bins(&self, part: f64, several: bool) -> Option<f64> {
        let rates = self.hits()?;
        let bins = self
            .domain
            .items()
            .filter(|_| self.domain.sparsity() == 1)?;
        Some(worst::of_distribution(
            SamplingModel::of(&self.kind, several),
            rates,
            bins,
            part,
        ))
    }

    /// Returns the rates of hits, if sums of shares are sums of hits.
    fn hits(&self) -> Option<&Rates> {
        match self.prepared.sums()? {
            SumRates::Hits(rates) => Some(rates),
            SumRates::Outputs(_) => None,
        }
    }

    /// Returns the estimand of an answer's share.
    const fn share(&self) -> Estimand {
        if self.domain.is_rated() {
            Estimand::Plus
        } else {
            Estimand::Share
        }
    }

    /// Returns the variances of one report's estimate of an item, for people [with, without] the
    /// item. People have s full entries.
    fn variances(&self, estimand: Estimand) -> Option<[f64; 2]> {
        // The part with most options has the greatest variance.
        if let Kind::Together(together) = &self.kind {
            let options = together.parts().iter().map(Part::cells).max()?;
            let rates = self.hits()?;
            return Some([true, false].map(|given| rates.option_variance(options, given)));
        }
        self.prepared.variances(estimand)
    }
}
