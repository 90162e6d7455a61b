//! Prediction of the noise in a question's estimates.

use std::sync::Arc;

use hushbin::Question;
use hushbin::choose::{Population, PredictedErrors};
use hushbin::domain::Domain;
use hushbin::mechanism::collision::CollisionHitProbabilities;
use hushbin::task::{QuestionKind, QuestionPart};

use super::worst_case;
use crate::estimate::mechanism::{PreparedQuestion, ShareSumEstimator, prepare_question};
use crate::estimate::point::{Estimand, SamplingModel, share_variance_per_report};
use crate::estimate::question::contrast;

/// Predicts the noise of one question's estimates.
#[derive(Debug, Clone)]
pub struct ErrorPredictor {
    prepared_question: Arc<dyn PreparedQuestion>,
    domain: Domain,
    kind: QuestionKind,
    /// Prediction if every person has s full entries.
    full_entry_errors: PredictedErrors,
}

/// Quantity that a question is meant to estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PredictedQuantity {
    /// The mean. Ratings are in [−1, 1], and a number's range is mapped to [−1, 1].
    Mean,
    /// The mean of a cross-tabulation's number within one row. The field is the share of all people
    /// who are in that row. The number's range is mapped to [0, 1], and variances are first-order
    /// approximations.
    MeanWithinRow(f64),
    /// The share of people who give an answer.
    Share,
    /// The distribution function of a number with bins. The field is the value of the function at
    /// the edge of interest.
    DistributionFunction(f64),
}

impl ErrorPredictor {
    /// Creates the predictor of a question.
    #[must_use]
    pub fn for_question(question: &Question) -> Self {
        let person = Population::with_equal_entries(1.0, question.max_entries_per_report());
        let domain = question.domain();
        Self {
            prepared_question: prepare_question(question),
            domain,
            kind: question.kind().clone(),
            full_entry_errors: (question.mechanism()).predict_errors(
                &domain,
                question.epsilon(),
                &person,
            ),
        }
    }

    /// Returns the standard error of the estimate from `reports` reports, for an item that hardly
    /// any person has.
    ///
    /// People are assumed to have s full entries. For a common item, the error is of the same
    /// order. For parts that are asked together, the error is that of the part with most options.
    /// Returns `None` if the mechanism does not estimate `estimand`.
    #[must_use]
    pub fn rare_item_standard_error(&self, estimand: Estimand, reports: f64) -> Option<f64> {
        let variance = match estimand {
            Estimand::Share if matches!(self.kind, QuestionKind::JointChoices(_)) => {
                self.variances_with_and_without(Estimand::Share)?[1]
            }
            Estimand::Mean => self.full_entry_errors.mean_error?.rare_item_variance,
            Estimand::Plus | Estimand::Minus | Estimand::Share => {
                self.full_entry_errors.frequency_error?.rare_item_variance
            }
            Estimand::Nonmissing => self
                .prepared_question
                .variances_with_and_without(estimand)?[1],
        };
        Some((variance / reports).sqrt())
    }

    /// Returns the maximum variance of one report's contribution to the estimate of `aim`. The
    /// maximum is over all answers of people with s full entries, where s is the sparsity.
    ///
    /// `several` is true if the task asks several questions. Then only a random part of the people
    /// answers this question, which adds variance, as in the standard errors of estimates. Returns
    /// `None` if the question does not estimate `aim`.
    ///
    /// ```
    /// use hushbin_analysis::estimate::{PredictedQuantity, ErrorPredictor};
    ///
    /// let draft: hushbin::TaskDraft = serde_json::from_str(r#"{ "id": "t", "epsilon": 1.0,
    ///     "questions": [{ "name": "beta", "kind": "flag" }] }"#).unwrap();
    /// let task = draft.resolve_task().unwrap();
    /// let predictor = ErrorPredictor::for_question(&task.questions()[0]);
    /// let variance = predictor.max_contribution_variance(PredictedQuantity::Share, false).unwrap();
    /// // e/(e − 1)² of a yes or no.
    /// assert!((variance - 0.9207).abs() < 1e-4);
    /// assert!(predictor.max_contribution_variance(PredictedQuantity::Mean, false).is_none());
    /// ```
    #[must_use]
    pub fn max_contribution_variance(&self, aim: PredictedQuantity, several: bool) -> Option<f64> {
        let whose = SamplingModel::for_question_kind(&self.kind, several);
        match (aim, &self.kind) {
            (PredictedQuantity::DistributionFunction(part), QuestionKind::Number(scale)) => {
                Some(match self.prepared_question.share_sum_estimator()? {
                    ShareSumEstimator::Outputs(rates) => {
                        worst_case::pattern_cdf_report_variance(rates, part)
                    }
                    ShareSumEstimator::Hits(rates) => {
                        let bins = scale.level_or_bin_count();
                        worst_case::max_cdf_report_variance(whose, rates, bins, part)
                    }
                })
            }
            (PredictedQuantity::DistributionFunction(_), _) => None,
            (PredictedQuantity::MeanWithinRow(share), QuestionKind::CrossTabulation(cross)) => {
                let (rates, levels) =
                    (self.hit_probabilities()?, cross.level_scale()?.cell_count());
                Some(contrast::max_row_mean_report_variance(
                    whose, rates, levels, share,
                ))
            }
            (PredictedQuantity::MeanWithinRow(_), _) => None,
            (PredictedQuantity::Mean, _) => {
                let [with, without] = self.variances_with_and_without(Estimand::Mean)?;
                // In the worst case, half of the people have each sign. Then the mean is 0, and
                // drawing people at random adds variance 1.
                let apart = f64::from(u8::from(whose == SamplingModel::RandomSample));
                Some((with + apart).max(without))
            }
            (PredictedQuantity::Share, _) => {
                let [with, without] = self.variances_with_and_without(self.share_estimand())?;
                Some(worst_case::max_share_report_variance(whose, with, without))
            }
        }
    }

    /// Returns the variance of one report's contribution to the share of an answer, if the true
    /// share is `share`.
    ///
    /// [`ErrorPredictor::max_contribution_variance`] is the maximum over all shares. Returns `None` if the
    /// question does not estimate shares.
    #[must_use]
    pub fn share_variance_per_report(&self, share: f64, several: bool) -> Option<f64> {
        let [with, without] = self.variances_with_and_without(self.share_estimand())?;
        let whose = SamplingModel::for_question_kind(&self.kind, several);
        Some(share_variance_per_report(whose, share, with, without))
    }

    /// Returns the worst-case variance (see [`ErrorPredictor::max_contribution_variance`]) for a distribution
    /// function, if the bins are asked as rated items. `part` is the value of the function at the
    /// edge of interest. `None` unless every person rates exactly one item.
    #[must_use]
    pub(crate) fn max_cdf_variance_if_rated(&self, part: f64, several: bool) -> Option<f64> {
        let rates = self.hit_probabilities()?;
        let bins = self
            .domain
            .item_count()
            .filter(|_| self.domain.sparsity() == 1)?;
        Some(worst_case::max_cdf_report_variance(
            SamplingModel::for_question_kind(&self.kind, several),
            rates,
            bins,
            part,
        ))
    }

    /// Returns the hit rates of the mechanism. `None` if sums of shares are not estimated from
    /// hits.
    fn hit_probabilities(&self) -> Option<&CollisionHitProbabilities> {
        match self.prepared_question.share_sum_estimator()? {
            ShareSumEstimator::Hits(rates) => Some(rates),
            ShareSumEstimator::Outputs(_) => None,
        }
    }

    /// Returns the estimand for the share of an answer: `Plus` if items are rated, otherwise
    /// `Share`.
    const fn share_estimand(&self) -> Estimand {
        if self.domain.is_rated() {
            Estimand::Plus
        } else {
            Estimand::Share
        }
    }

    /// Returns the variances of one report's contribution to an item's estimate, for people [with,
    /// without] the item. People are assumed to have s full entries.
    fn variances_with_and_without(&self, estimand: Estimand) -> Option<[f64; 2]> {
        // Of all parts, the one with most options has the greatest variance.
        if let QuestionKind::JointChoices(together) = &self.kind {
            let options = together
                .parts()
                .iter()
                .map(QuestionPart::cell_count)
                .max()?;
            let rates = self.hit_probabilities()?;
            return Some([true, false].map(|given| rates.option_variance(options, given)));
        }
        self.prepared_question.variances_with_and_without(estimand)
    }
}
