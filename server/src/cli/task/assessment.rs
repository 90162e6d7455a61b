//! Costs of a task: privacy, bytes and errors.

use hushbin::choose::{
    Candidate, ChosenQuestion, Objective, PredictedSquaredError, compare_separate_with_together,
};
use hushbin::task::QuestionKind;
use hushbin::{Mechanism, Question, Task, UploadId, upload};
use serde::Serialize;

use crate::cli::output::Error;
use crate::task::task_file::LabelFingerprint;
use hushbin_analysis::estimate::{
    ConfidenceLevel, DEFAULT_CONFIDENCE, ErrorPredictor, Estimand, Estimator,
    FORGED_REPORT_FRACTION, ForgedReportInfluence, PredictedQuantity, counter_updates_per_report,
};
use hushbin_analysis::heavy_hitters::{
    DEFAULT_ALPHABET, DEFAULT_FIND_PROBABILITY, DetectableShare,
};
use hushbin_analysis::mechanism_optimality::{self, DistanceFromBest};
use hushbin_analysis::promise::{EpsilonSpending, bias_statement, protected_input_text};

/// Cost of a task: privacy of a report, its size, and the errors of estimates.
#[derive(Debug, Serialize)]
pub(super) struct TaskAssessment {
    pub(super) task: Task,
    /// Fingerprint of the task. Empty if it has labels.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) fingerprint: String,
    /// Labels of the task with the fingerprint of each, or none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) labels: Vec<LabelFingerprint>,
    pub(super) effective_epsilon: f64,
    /// Part of a person's input that ε covers.
    pub(super) protects: String,
    /// Probability that the guarantee fails.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) delta: f64,
    /// Number of reports from one person, and the ε that they spend.
    pub(super) budget: EpsilonSpending,
    /// Maximum size of one encoded report, in bytes.
    pub(super) report_bytes: usize,
    /// Maximum size of an upload of one report, in bytes.
    pub(super) upload_bytes: usize,
    /// Fraction of made-up reports that `influence` assumes.
    pub(super) made_up_fraction: f64,
    /// Maximum shift that made-up reports can cause, for each kind of estimate. The maximum is over
    /// all answers that people may give.
    pub(super) influence: Vec<ForgedReportInfluence>,
    /// Cost of the only question, if it has no name.
    #[serde(flatten)]
    pub(super) unnamed: Option<QuestionAssessment>,
    /// Costs of the named questions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) questions: Vec<NamedQuestionAssessment>,
    /// Ratio of two variances of the estimates. In the numerator, each report covers all questions
    /// together. In the denominator, each report answers one random question. `None` if the
    /// questions cannot be asked together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) together_over_drawn: Option<f64>,
}

/// Cost of a named question.
#[derive(Debug, Serialize)]
pub(super) struct NamedQuestionAssessment {
    pub(super) name: String,
    /// Fraction of all reports that answer the question.
    pub(super) share: f64,
    #[serde(flatten)]
    pub(super) cost: QuestionAssessment,
}

/// Errors of a question's estimates.
#[derive(Debug, Serialize)]
pub(super) struct QuestionAssessment {
    /// Bias by clipping, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bias: Option<String>,
    /// Ratio of the variance of means to the smallest variance that any mechanism can have. Each
    /// person is assumed to have as many entries as the sparsity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mean_distance: Option<DistanceFromBest>,
    /// Ratio as in `mean_distance`, for the frequency of each sign of an item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_distance: Option<DistanceFromBest>,
    /// Ratio as in `mean_distance`, for non-missing frequencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nonmissing_distance: Option<DistanceFromBest>,
    /// Mean number of counts that a report is added to; `None` if items are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) steps: Option<u64>,
    pub(super) predictions: Vec<PredictedErrors>,
    /// Standard errors of the share of a rare row and of the share of a rare column, for
    /// `planned_people` people. Empty unless the question is of kind `cross`. Contains only the
    /// error for the row if the columns are levels of a number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) margins: Vec<f64>,
    /// Worst-case standard error of the share of people below the median, for `planned_people`
    /// people. `None` unless the question asks for a number with bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) distribution: Option<f64>,
    /// Number of people that the mechanism's parameters were chosen for.
    pub(super) planned_people: f64,
    /// Errors of the question's mechanism, then of the alternatives, for `planned_people` people.
    pub(super) candidates: Vec<CandidateErrors>,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// Expected errors over all items for a mechanism with its best parameters. Entries are −1 or 1.
#[derive(Debug, Serialize)]
pub(super) struct CandidateErrors {
    pub(super) mechanism: Mechanism,
    pub(super) sparsity: u32,
    pub(super) protects: String,
    /// Root mean squared error of means.
    pub(super) mean_error: Option<f64>,
    /// Worst-case bias of means, which is part of `mean_error`. More people do not reduce the bias.
    pub(super) mean_bias: Option<f64>,
    /// Root mean squared error of the frequencies of both signs.
    pub(super) frequency_error: Option<f64>,
    /// Root mean squared error of the non-missing frequencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nonmissing_error: Option<f64>,
}

impl CandidateErrors {
    /// Returns the errors of a candidate. A fraction `share` of all reports answers the candidate's
    /// question.
    fn new(candidate: Candidate, share: f64) -> Self {
        let root = |error: PredictedSquaredError| {
            (error.variance / share + error.worst_case_squared_bias).sqrt()
        };
        let Candidate {
            mechanism,
            sparsity,
            predicted_errors: predicted,
            ..
        } = candidate;
        Self {
            sparsity,
            protects: protected_input_text(mechanism.neighbours()),
            mean_error: predicted.mean_error.map(root),
            mean_bias: predicted
                .mean_error
                .map(|error| error.worst_case_squared_bias.sqrt()),
            frequency_error: predicted.frequency_error.map(root),
            nonmissing_error: predicted.nonmissing_error.map(root),
            mechanism,
        }
    }
}

/// Expected errors of the estimates for an item that few people have, from reports of `people`
/// people.
#[derive(Debug, Serialize)]
pub(super) struct PredictedErrors {
    pub(super) people: u64,
    /// Standard error of an item's frequency; for a rated item, of the frequency of one sign.
    /// `None` if frequencies are not estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_standard_error: Option<f64>,
    /// Standard error of the non-missing frequency of a rated item. `None` if this frequency is not
    /// estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nonmissing_standard_error: Option<f64>,
    /// Standard error of the mean of a rated item or a number. If a question of kind `numbers` is
    /// one of several questions, the error includes the random choice of the people who answer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mean_standard_error: Option<f64>,
    /// Half-width of an interval at the default confidence. The interval is for the mean, or for
    /// the frequency if no mean is estimated. For a `cross` whose columns are levels of a number,
    /// the interval is for the mean within a row, in the number's unit.
    pub(super) interval: f64,
    /// Half-width of intervals that hold for all items simultaneously; `None` for open tasks.
    pub(super) simultaneous_interval: Option<f64>,
    /// Upper bound on the standard error of a number's mean within a row of a `cross`. The bound is
    /// in the number's unit, and assumes that all rows are equally common. `None` for other
    /// questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) conditional_mean_standard_error: Option<f64>,
    /// Share of people who must give a text so that a search finds it with [`DEFAULT_FIND_PROBABILITY`]. The
    /// search uses the default alphabet. `None` for listed items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) found_share: Option<f64>,
}

impl PredictedErrors {
    /// Returns the first standard error that is not `None`, in this order: of the mean within a
    /// row, of the mean, of the frequency.
    pub(super) fn mean_or_frequency_error(&self) -> Option<f64> {
        (self.conditional_mean_standard_error)
            .or(self.mean_standard_error)
            .or(self.frequency_standard_error)
    }
}

impl TaskAssessment {
    /// Returns the cost of a task, with errors predicted for each number of people.
    ///
    /// # Errors
    /// When a number of people is 0, or a mechanism estimates nothing.
    pub(super) fn new(
        task: Task,
        choices: Vec<ChosenQuestion>,
        people: &[u64],
        labels: Vec<LabelFingerprint>,
    ) -> Result<Self, Error> {
        let first = task.questions()[0].mechanism();
        let (protects, delta) = (protected_input_text(first.neighbours()), first.delta());
        let report_bytes = task.max_single_report_bytes();
        let header = upload::upload_header(UploadId([0; 16]), &task.fingerprint(), 1);
        let mut costs = Vec::new();
        for (index, choice) in choices.into_iter().enumerate() {
            costs.push(NamedQuestionAssessment {
                name: choice.question.name().to_owned(),
                share: task.question_report_share(index),
                cost: QuestionAssessment::new(choice, task.question_report_share(index), people)?,
            });
        }
        let unnamed = task.has_unnamed_question().then(|| costs.remove(0).cost);
        Ok(Self {
            fingerprint: match labels.is_empty() {
                true => task.fingerprint().to_string(),
                false => String::new(),
            },
            labels,
            effective_epsilon: task.achieved_report_epsilon(),
            protects,
            delta,
            budget: EpsilonSpending::spending_for_task(&task),
            report_bytes,
            upload_bytes: header.len() + report_bytes,
            made_up_fraction: FORGED_REPORT_FRACTION,
            influence: Estimator::for_task(task.clone()).forged_report_influence(),
            unnamed,
            questions: costs,
            together_over_drawn: compare_separate_with_together(&task)
                .map(|both| both.together_variance / both.separate_variance),
            task,
        })
    }
}

impl QuestionAssessment {
    fn new(choice: ChosenQuestion, share: f64, people: &[u64]) -> Result<Self, Error> {
        let question = &choice.question;
        let reports = choice.people_count * share;
        let predictor = ErrorPredictor::for_question(question);
        let below = predictor
            .max_contribution_variance(PredictedQuantity::DistributionFunction(0.5), share < 1.0);
        let candidates: Vec<CandidateErrors> = std::iter::once(choice.chosen)
            .chain(choice.alternatives)
            .map(|candidate| CandidateErrors::new(candidate, share))
            .collect();
        Ok(Self {
            bias: bias_statement(question),
            mean_distance: mechanism_optimality::question_distance_from_best(
                question,
                &Objective::MEAN_ONLY,
            ),
            frequency_distance: mechanism_optimality::question_distance_from_best(
                question,
                &Objective::FREQUENCY_ONLY,
            ),
            nonmissing_distance: mechanism_optimality::question_distance_from_best(
                question,
                &Objective::NONMISSING_ONLY,
            ),
            steps: counter_updates_per_report(question),
            predictions: predict_errors(question, share, people)?,
            margins: row_column_standard_errors(question, reports),
            distribution: below.map(|variance| (variance / reports).sqrt()),
            planned_people: choice.people_count,
            candidates,
        })
    }
}

/// Returns the standard errors of the share of a row and of the share of a column, if the question
/// is of kind `cross`. Columns that are levels of a number have no shares. Returns an empty list
/// for other questions.
fn row_column_standard_errors(question: &Question, reports: f64) -> Vec<f64> {
    let (QuestionKind::CrossTabulation(cross), Mechanism::Collision(collision)) =
        (question.kind(), question.mechanism())
    else {
        return Vec::new();
    };
    let rates = collision.hit_probabilities(&question.domain(), question.epsilon());
    let [rows, columns] = cross.row_and_column_counts();
    let error = |cells| (rates.answer_set_variance(cells, false) / reports).sqrt();
    let counted = if cross.level_scale().is_some() { 1 } else { 2 };
    // A row's share is the sum over the cells of all columns, and the other way round.
    [columns, rows]
        .into_iter()
        .take(counted)
        .map(error)
        .collect()
}

/// Returns the standard error of a number's mean within a row, if all rows are equally common.
/// Returns `None` unless the question is of kind `cross`, with levels of a number as its columns.
fn conditional_mean_error(question: &Question, several: bool, reports: f64) -> Option<f64> {
    let QuestionKind::CrossTabulation(cross) = question.kind() else {
        return None;
    };
    let [min, max] = cross.level_scale()?.range();
    let even = PredictedQuantity::MeanWithinRow(1.0 / f64::from(cross.row_part().cell_count()));
    let variance =
        ErrorPredictor::for_question(question).max_contribution_variance(even, several)?;
    Some((max - min) * (variance / reports).sqrt())
}

/// Returns the standard error of a mean. If the question is one of `several`, only a random sample
/// of people answers it. For numbers, the variance due to this sampling is added.
fn standard_error_of_mean(
    question: &Question,
    predictor: &ErrorPredictor,
    several: bool,
    reports: f64,
) -> Option<f64> {
    match question.kind() {
        QuestionKind::Numbers(_) if several => {
            let variance = predictor.max_contribution_variance(PredictedQuantity::Mean, true)?;
            Some((variance / reports).sqrt())
        }
        _ => predictor.rare_item_standard_error(Estimand::Mean, reports),
    }
}

/// Returns the half-width of simultaneous intervals of all items, in standard errors. `None` for a
/// question with an open list.
fn simultaneous_quantile(question: &Question) -> Result<Option<f64>, Error> {
    let items = match question.kind() {
        QuestionKind::CrossTabulation(cross) if cross.level_scale().is_some() => {
            Some(cross.row_part().cell_count())
        }
        _ => question.items().item_count(),
    };
    let Some(items) = items else {
        return Ok(None);
    };
    let level = ConfidenceLevel::new(DEFAULT_CONFIDENCE, items as usize)?;
    Ok(Some(level.simultaneous_normal_quantile()))
}

/// Predicts errors for each number of people. A fraction `share` of them answers the question.
fn predict_errors(
    question: &Question,
    share: f64,
    people: &[u64],
) -> Result<Vec<PredictedErrors>, Error> {
    let predictor = ErrorPredictor::for_question(question);
    let alone = ConfidenceLevel::new(DEFAULT_CONFIDENCE, 1)?.simultaneous_normal_quantile();
    let together = simultaneous_quantile(question)?;
    let frequency = if question.domain().is_rated() {
        Estimand::Plus
    } else {
        Estimand::Share
    };
    let predict = |&people| {
        if people == 0 {
            return Err("there is nothing to predict for 0 people".into());
        }
        let all = people as f64 * share;
        // Only reports on the greatest length count for a whole text.
        let reports = match question.kind() {
            QuestionKind::Text(prefixes) => all * prefixes.longest_prefix_share(),
            _ => all,
        };
        let letters = DEFAULT_ALPHABET.chars().count();
        let found = DetectableShare::new(
            question,
            all as u64,
            letters,
            DEFAULT_CONFIDENCE,
            DEFAULT_FIND_PROBABILITY,
        );
        let conditional_mean_standard_error =
            conditional_mean_error(question, share < 1.0, reports);
        let mut prediction = PredictedErrors {
            people,
            frequency_standard_error: match conditional_mean_standard_error {
                None => predictor.rare_item_standard_error(frequency, reports),
                Some(_) => None,
            },
            nonmissing_standard_error: predictor
                .rare_item_standard_error(Estimand::Nonmissing, reports),
            mean_standard_error: standard_error_of_mean(question, &predictor, share < 1.0, reports),
            interval: 0.0,
            simultaneous_interval: None,
            conditional_mean_standard_error,
            found_share: found.map(|found| found.share),
        };
        let error = prediction.mean_or_frequency_error();
        let error = error.ok_or("the mechanism estimates neither means nor frequencies")?;
        prediction.interval = alone * error;
        prediction.simultaneous_interval = together.map(|reach| reach * error);
        Ok(prediction)
    };
    people.iter().map(predict).collect()
}
