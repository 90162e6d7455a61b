//! Result of the planner, as data.

use hushbin::{Mechanism, Task};
use serde::Serialize;

use super::goal::PlannedEstimateKind;
use crate::accounting::BatchPrivacy;
use crate::mechanism_optimality::DistanceFromBest;

/// Plan for a [`Survey`](super::Survey): the complete task, its errors and its privacy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Plan {
    /// Quantity that the survey left out and the planner computed.
    pub solved_for: SolvedQuantity,
    /// Number of people, who send one report each.
    pub people: u64,
    /// Number of days in which `people` people report. `None` if the number of people per day is
    /// unknown.
    pub days: Option<f64>,
    /// Complete task.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "{ id: string; questions?: { weight?: number }[] }")
    )]
    pub task: Task,
    /// Local ε of the task.
    pub epsilon: f64,
    /// Effective local ε of the sampler's integer thresholds, rounded up. At most `epsilon`.
    pub effective_epsilon: f64,
    /// Part of a person's input that ε protects, in words.
    pub protects: String,
    /// Central privacy of the batch of all reports, if they are shuffled.
    pub central: Option<BatchPrivacy>,
    /// Reason why `central` is missing, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub central_reason: Option<String>,
    /// Plans for the task's questions, in the same order.
    pub questions: Vec<QuestionPlan>,
    /// Other mechanisms, each with its best parameters, in ascending order of errors. Empty
    /// unless the only question has the mechanism `auto`.
    pub others: Vec<AlternativeMechanism>,
    /// Number of people needed if every report answers all questions, divided by the number needed
    /// if each report answers one question at random. It is a ratio of variances that are summed
    /// over all answers. Questions are drawn by their weights, or by their noise if no weight is
    /// set. `None` if the questions cannot be asked together.
    pub together_over_drawn: Option<f64>,
    /// Verdict on how useful the plan is.
    pub verdict: PlanVerdict,
    /// Assumptions of the plan, in words.
    pub assumes: String,
}

/// Quantity that the planner computes from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum SolvedQuantity {
    /// Error of the estimates.
    Error,
    /// Number of people.
    People,
    /// Local ε of the task.
    Epsilon,
}

/// Plan for one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct QuestionPlan {
    /// Name of the question. Empty if the task has a single unnamed question.
    pub name: String,
    /// Kind of the question, as in a task file.
    pub kind: String,
    /// Mechanism, with all its parameters.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "{ name: string } & Record<string, string | number | number[]>")
    )]
    pub mechanism: Mechanism,
    /// Mechanism that would be chosen for a task file without one, if it differs from `mechanism`.
    /// It has the smallest error on average over answers, while `mechanism` has the smallest error
    /// in the worst case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional, type = "{ name: string }"))]
    pub on_average: Option<Mechanism>,
    /// Sparsity s: the number of entries of one person that are reported.
    pub sparsity: u32,
    /// Number of possible answers. `None` if the question is open.
    pub answers: Option<u32>,
    /// Number of levels or bins, if the question asks for a number or for a cross-tabulation with a
    /// number.
    pub cells: Option<u32>,
    /// Fraction of all reports that answer this question.
    pub share: f64,
    /// Number of reports that answer this question.
    pub reports: f64,
    /// Kind of estimate whose errors are stated.
    pub errors_of: PlannedEstimateKind,
    /// Name of the number whose errors are stated, if the question asks for several numbers or for
    /// a cross-tabulation with a number.
    pub number_name: Option<String>,
    /// Unit of the errors, if there is one.
    pub unit: Option<String>,
    /// Standard error in the worst case over answers. If the question asks for ratings with the
    /// mechanism `auto`, it is the root mean square over all items.
    pub standard_error: f64,
    /// Root mean square of the bias over all items, in the worst case. It does not decrease with
    /// the number of people. `None` if the bias is not known as a number.
    pub bias: Option<f64>,
    /// Root of the mean squared error, which combines standard error and bias.
    pub error: f64,
    /// Half-width of a single interval at 95% confidence.
    pub half_width: f64,
    /// Half-width of simultaneous intervals for all answers at 95% confidence. If the question is
    /// open, half-width of a single interval.
    pub simultaneous_half_width: f64,
    /// Maximum half-width that the survey asks for.
    pub wanted_half_width: Option<f64>,
    /// Maximum error that the survey asks for.
    pub wanted_error: Option<f64>,
    /// Distance between the smallest and the largest possible value of the estimate.
    pub range: f64,
    /// Smallest share of people for which an answer or item is detected, if shares or items are
    /// estimated. `None` if not even an answer that all people give is detected.
    pub smallest_frequency: Option<f64>,
    /// Share of people who give each answer if all answers are equally common.
    #[serde(skip)]
    pub(super) share_if_equally_common: Option<f64>,
    /// Errors of each number, in the unit of that number, if the question asks for several numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub numbers: Vec<NumberError>,
    /// Comparison of the mechanism with the best possible one at the same local ε, for people with
    /// s entries each, where s is the sparsity. Except for ratings, it is an average over equally
    /// common answers. `None` if there is no bound to compare with.
    pub distance: Option<DistanceFromBest>,
    /// Number of people needed if the answers were asked as ratings of items, divided by the number
    /// needed now.
    pub as_ratings: Option<f64>,
    /// Bias that does not decrease with the number of people, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias_note: Option<String>,
}

/// Errors of one number, in a question that asks for several.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct NumberError {
    /// Name of the number.
    pub name: String,
    /// Unit of the number.
    pub unit: Option<String>,
    /// Standard error of the number's mean.
    pub standard_error: f64,
    /// Half-width of the mean's interval at 95% confidence.
    pub half_width: f64,
}

/// Another mechanism for the only question, with its best parameters for the same number of people
/// and privacy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct AlternativeMechanism {
    /// Mechanism, with all its parameters.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "{ name: string } & Record<string, string | number | number[]>")
    )]
    pub mechanism: Mechanism,
    /// Sparsity that is best for this mechanism.
    pub sparsity: u32,
    /// Local ε of the task.
    pub epsilon: f64,
    /// Effective local ε of the sampler's integer thresholds, rounded up. At most `epsilon`.
    pub effective_epsilon: f64,
    /// Part of a person's input that ε protects, in words.
    pub protects: String,
    /// Root mean square of the standard error over all items. `standard_error`, `bias` and `error`
    /// are `None` if the mechanism does not estimate the wanted quantity.
    pub standard_error: Option<f64>,
    /// Root mean square of the bias over all items, in the worst case.
    pub bias: Option<f64>,
    /// Root of the mean squared error, which combines standard error and bias.
    pub error: Option<f64>,
    /// Number of people with which this mechanism has the same error as the chosen one. `None` if
    /// no number is enough.
    pub people: Option<f64>,
    /// Central privacy of the batch of all reports, if they are shuffled.
    pub central: Option<BatchPrivacy>,
}

/// Verdict on how useful a plan is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct PlanVerdict {
    /// Worst kind of verdict over all questions.
    pub kind: PlanVerdictKind,
    /// Sentences about all questions.
    pub text: String,
}

/// Kind of verdict on a plan or a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum PlanVerdictKind {
    /// Answers are detected even if all are equally common.
    Useful,
    /// Only answers that are more common than the average are detected. If all answers were equally
    /// common, none would be.
    FrequentOnly,
    /// Noise hides every answer.
    Noise,
    /// The error is larger than the survey asks for.
    Missed,
}
