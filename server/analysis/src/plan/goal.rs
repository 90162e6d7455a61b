//! Goal of a question: the estimate whose error should be small, and its maximum error.

use hushbin::bounds::ParameterRange;
use hushbin::choose::{KindDraft, NumberPurpose, QuestionDraft};
use hushbin::task::{Cross, NumberLimits, NumberScale, PrefixLengths, QuestionKind};
use hushbin::{Items, Question};
use serde::Serialize;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use super::error::PlanError;
use super::interval_z_scores::IntervalZScores;
use super::survey::{
    AccuracyGoal, AutoRatingsQuestion, QUANTILE_FRACTION_RANGE, SMALLEST_FREQUENCY_RANGE,
    STANDARD_ERROR_RANGE,
};
use crate::estimate::PredictedQuantity;

/// Kind of estimate whose errors a plan states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum PlannedEstimateKind {
    /// The share of an answer or of a bin, from 0 to 1.
    Share,
    /// A mean. The mean of a number is in the number's unit. The mean of a rating is from −1 to 1.
    Mean,
    /// The mean of a cross-tabulation's number within a row, in the number's unit. All rows are
    /// assumed to have the same number of people.
    ConditionalMean,
    /// The share of people below a quantile, from 0 to 1.
    QuantileShare,
    /// A quantile, in the number's unit.
    Quantile,
    /// Rated items. Errors are root mean squares over all items. For all other kinds of estimates,
    /// errors are for the worst case over answers.
    Items,
}

/// Goal of a question. It does not depend on the mechanism.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuestionGoal {
    pub(super) predicted_quantity: PredictedQuantity,
    pub(super) estimate_kind: PlannedEstimateKind,
    /// Factor by which errors in the unit of `predicted_quantity` are multiplied to get the unit of the answer.
    pub(super) error_scale_factor: f64,
    /// Name of the number that is estimated, if the question asks for several numbers or for a
    /// cross-tabulation with a number.
    pub(super) number_name: Option<String>,
    pub(super) unit: Option<String>,
    /// Number of simultaneous estimates.
    pub(super) estimate_count: u32,
    /// Maximum half-width of an interval.
    pub(super) max_half_width: Option<f64>,
    /// Maximum root mean squared error over all items. It combines variance and squared bias.
    pub(super) max_root_mean_squared_error: Option<f64>,
    /// Distance between the smallest and the largest possible answer.
    pub(super) answer_range_width: f64,
    /// Average number of entries of a person, if it differs from the sparsity.
    pub(super) average_entry_count: Option<f64>,
}

impl QuestionGoal {
    /// Determines the goal of a question. `draft` is the draft from which the question was
    /// resolved.
    ///
    /// # Errors
    /// [`PlanError::UnusableAccuracyGoal`] if the wanted accuracy cannot be used for the question.
    /// [`PlanError::InvalidParameter`] if a number in it is out of range.
    pub(super) fn new(
        draft: &QuestionDraft,
        question: &Question,
        wanted: &AccuracyGoal,
    ) -> Result<Self, PlanError> {
        let binned = matches!(question.kind(), QuestionKind::Number(_));
        let refuse = |reason| Err(PlanError::unusable_accuracy(question.name(), reason));
        if !binned && (wanted.quantile.is_some() || wanted.spread.is_some()) {
            return refuse("has no quantiles, expected a \"number\" with bins");
        }
        if wanted.number_name.is_some()
            && !matches!(question.kind(), QuestionKind::Numbers(own) if !own.is_single())
        {
            return refuse("has several numbers, expected a question with one");
        }
        let mut goal = match question.kind() {
            QuestionKind::Ratings(_) => Self::goal_for_means(question, 1.0),
            QuestionKind::Set
            | QuestionKind::Choice
            | QuestionKind::Flag
            | QuestionKind::JointChoices(_) => Self::goal_for_shares(question),
            QuestionKind::CrossTabulation(cross) => {
                Self::goal_for_cross_tabulation(question, cross)
            }
            QuestionKind::Text(prefixes) => Self::goal_for_text(question, prefixes),
            QuestionKind::Number(scale) => Self::goal_for_number(draft, question, scale, wanted)?,
            QuestionKind::Numbers(limits) => {
                Self::goal_for_several_numbers(question, limits, wanted)?
            }
        };
        goal.max_half_width = checked_wanted_half_width(wanted, goal.answer_range_width)?;
        Ok(goal)
    }

    /// Determines the goal of a survey whose only question asks for ratings with the mechanism
    /// `auto`.
    ///
    /// # Errors The errors of [`QuestionGoal::new`].
    pub(super) fn goal_for_auto_ratings(
        open: &AutoRatingsQuestion<'_>,
        wanted: &AccuracyGoal,
    ) -> Result<Self, PlanError> {
        let name = &open.question_draft.name;
        if wanted.quantile.is_some() || wanted.spread.is_some() || wanted.number_name.is_some() {
            let reason =
                "rates items: \"quantile\", \"spread\" and \"number_name\" are for numbers";
            return Err(PlanError::unusable_accuracy(name, reason));
        }
        let estimates = open.items_to_rate.item_count().unwrap_or(1);
        for (bound, value) in [
            (STANDARD_ERROR_RANGE, wanted.standard_error),
            (SMALLEST_FREQUENCY_RANGE, wanted.smallest_frequency),
        ] {
            value.map_or(Ok(()), |value| bound.check_in_range(value))?;
        }
        let seen = IntervalZScores::new(estimates).detection_z_score;
        let to_see = wanted.smallest_frequency.map(|frequency| frequency / seen);
        let range = 2.0;
        Ok(Self {
            predicted_quantity: PredictedQuantity::Mean,
            estimate_kind: PlannedEstimateKind::Items,
            error_scale_factor: 1.0,
            number_name: None,
            unit: None,
            estimate_count: estimates,
            max_half_width: checked_wanted_half_width(wanted, range)?,
            max_root_mean_squared_error: match (wanted.standard_error, to_see) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            answer_range_width: range,
            average_entry_count: Some(open.average_entries_per_person()),
        })
    }

    /// Returns the share of people who give each answer if all answers are equally common. `None`
    /// unless shares or items are estimated and the question is closed.
    pub(super) fn share_if_equally_common(&self, question: &Question) -> Option<f64> {
        if !matches!(
            self.estimate_kind,
            PlannedEstimateKind::Share | PlannedEstimateKind::Items
        ) {
            return None;
        }
        let entries = self
            .average_entry_count
            .unwrap_or(question.max_entries_per_report().into());
        let answers = question.items().item_count()?;
        Some((entries / f64::from(answers)).min(1.0))
    }

    /// Returns the squared error at `reports` reports, divided by the wanted squared error. Returns
    /// 0 if no accuracy is wanted. `variance` and `squared_bias` are for one report, in the unit of
    /// `predicted_quantity`.
    pub(super) fn squared_error_to_goal_ratio(
        &self,
        variance: f64,
        squared_bias: f64,
        reports: f64,
    ) -> f64 {
        let variance = self.error_scale_factor * self.error_scale_factor * variance / reports;
        let interval = self.max_half_width.map_or(0.0, |within| {
            let error = within / IntervalZScores::new(1).single_z_score;
            variance / (error * error)
        });
        let error = (self.max_root_mean_squared_error)
            .map_or(0.0, |error| (variance + squared_bias) / (error * error));
        interval.max(error)
    }

    fn goal_for_shares(question: &Question) -> Self {
        Self {
            predicted_quantity: PredictedQuantity::Share,
            estimate_kind: PlannedEstimateKind::Share,
            answer_range_width: 1.0,
            ..Self::goal_for_means(question, 1.0)
        }
    }

    /// Creates the goal of estimating the share of a text of maximum length, which only some of the
    /// reports reveal.
    fn goal_for_text(question: &Question, prefixes: &PrefixLengths) -> Self {
        Self {
            error_scale_factor: prefixes.longest_prefix_share().sqrt().recip(),
            ..Self::goal_for_shares(question)
        }
    }

    /// Creates the goal of a cross-tabulation. If the columns are levels of a number, the goal is
    /// the mean within rows. Otherwise it is the share of a cell.
    fn goal_for_cross_tabulation(question: &Question, cross: &Cross) -> Self {
        let Some(scale) = cross.level_scale() else {
            return Self::goal_for_shares(question);
        };
        let [min, max] = scale.range();
        let rows = cross.row_part().cell_count();
        Self {
            predicted_quantity: PredictedQuantity::MeanWithinRow(1.0 / f64::from(rows)),
            estimate_kind: PlannedEstimateKind::ConditionalMean,
            error_scale_factor: max - min,
            number_name: Some(cross.column_part().name().to_owned()),
            unit: scale.unit().map(str::to_owned),
            estimate_count: rows,
            max_half_width: None,
            max_root_mean_squared_error: None,
            answer_range_width: max - min,
            average_entry_count: None,
        }
    }

    /// Creates the goal of estimating means. Internally, means are from −1 to 1, and `scale`
    /// converts them to the unit of the answer.
    fn goal_for_means(question: &Question, scale: f64) -> Self {
        Self {
            predicted_quantity: PredictedQuantity::Mean,
            estimate_kind: PlannedEstimateKind::Mean,
            error_scale_factor: scale,
            number_name: None,
            unit: None,
            estimate_count: question.items().item_count().unwrap_or(1),
            max_half_width: None,
            max_root_mean_squared_error: None,
            answer_range_width: 2.0 * scale,
            average_entry_count: None,
        }
    }

    fn goal_for_number(
        draft: &QuestionDraft,
        question: &Question,
        scale: &NumberScale,
        wanted: &AccuracyGoal,
    ) -> Result<Self, PlanError> {
        let [min, max] = scale.range();
        let unit = scale.unit().map(str::to_owned);
        let range = max - min;
        let for_quantiles = matches!(&draft.kind, KindDraft::Number(number) if number.purpose == Some(NumberPurpose::Quantiles));
        let is_quantile_wanted = wanted.quantile.is_some() || wanted.spread.is_some();
        if scale.is_optional() && is_quantile_wanted {
            let reason = "may be missing: the error of its quantiles depends on how many people \
                          have one, expected \"within\" for a share";
            return Err(PlanError::unusable_accuracy(question.name(), reason));
        }
        if scale.is_optional() || !is_quantile_wanted && !for_quantiles {
            return Ok(Self::goal_for_shares(question));
        }
        let part = wanted.quantile.unwrap_or(0.5);
        QUANTILE_FRACTION_RANGE.check_in_range(part)?;
        let goal = Self {
            predicted_quantity: PredictedQuantity::DistributionFunction(part),
            estimate_kind: PlannedEstimateKind::QuantileShare,
            estimate_count: 1,
            ..Self::goal_for_shares(question)
        };
        let Some(spread) = wanted.spread else {
            return Ok(goal);
        };
        let bound = ParameterRange {
            name: "spread",
            min: 1e-6 * range,
            max: range,
        };
        bound.check_in_range(spread)?;
        // Intervals end at edges of bins, so none is narrower than a bin.
        let edges = scale.edges().unwrap_or_default().windows(2);
        let narrowest = edges.map(|pair| pair[1] - pair[0]).reduce(f64::min);
        if let Some((within, narrowest)) = wanted.within.zip(narrowest) {
            let (name, min, max) = ("within", 0.5 * (narrowest - scale.value_step()), range);
            ParameterRange { name, min, max }.check_in_range(within)?;
        }
        let normal = Normal::standard();
        Ok(Self {
            estimate_kind: PlannedEstimateKind::Quantile,
            // Dividing a share by the density at the quantile converts it to a distance.
            error_scale_factor: spread / normal.pdf(normal.inverse_cdf(part)),
            answer_range_width: range,
            unit,
            ..goal
        })
    }

    /// Creates the goal of estimating the mean of the named number, or of the number with the
    /// widest range if none is named. The error of each number is the same fraction of its range,
    /// so the number with the widest range has the largest error.
    fn goal_for_several_numbers(
        question: &Question,
        limits: &[NumberLimits],
        wanted: &AccuracyGoal,
    ) -> Result<Self, PlanError> {
        // If the question asks for a single number, that number has no separate name.
        let name = |item| match question.items() {
            Items::Named(names) => names.get(item),
            _ => None,
        };
        let mut all = limits.iter().enumerate();
        let (item, own) = match &wanted.number_name {
            Some(of) => all
                .find(|&(item, _)| name(item) == Some(of))
                .ok_or_else(|| {
                    PlanError::unusable_accuracy(question.name(), "has no number with that name")
                })?,
            None => all
                .max_by(|(_, a), (_, b)| range_width(a).total_cmp(&range_width(b)))
                .expect("there is a number"),
        };
        Ok(Self {
            number_name: name(item).cloned(),
            unit: own.unit().map(str::to_owned),
            ..Self::goal_for_means(question, 0.5 * range_width(own))
        })
    }
}

/// Checks that the wanted half-width, if any, fits the range of possible values, and returns it.
fn checked_wanted_half_width(wanted: &AccuracyGoal, range: f64) -> Result<Option<f64>, PlanError> {
    if let Some(within) = wanted.within {
        // The minimum is that of `STANDARD_ERROR_RANGE`, relative to the range.
        let bound = ParameterRange {
            name: "within",
            min: 1e-6 * range,
            max: range,
        };
        bound.check_in_range(within)?;
    }
    Ok(wanted.within)
}

fn range_width(limits: &NumberLimits) -> f64 {
    let [min, max] = limits.range();
    max - min
}
