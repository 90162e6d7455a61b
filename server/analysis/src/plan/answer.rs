//! A plan as data.

use hushbin::{Mechanism, Task};
use serde::Serialize;

use super::goal::ErrorsOf;
use crate::accounting::Account;
use crate::bound::Distance;

/// Plan for a [`Survey`](super::Survey).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Plan {
    /// Quantity that was not given.
    pub solved_for: Unknown,
    /// Number of people who report, once each.
    pub people: u64,
    /// Number of days in which they do.
    pub days: Option<f64>,
    /// Complete task.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "{ id: string; questions?: { weight?: number }[] }")
    )]
    pub task: Task,
    /// Local ε.
    pub epsilon: f64,
    /// Local ε realised, rounded up.
    pub effective_epsilon: f64,
    /// Inputs that ε makes hard to distinguish, in words.
    pub protects: String,
    /// Privacy of the shuffled reports together.
    pub central: Option<Account>,
    /// Reason why `central` is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub central_reason: Option<String>,
    /// Questions of the task, in its order.
    pub questions: Vec<QuestionPlan>,
    /// Every other mechanism at its best, by increasing error, if the mechanism of the only
    /// question was open.
    pub others: Vec<Alternative>,
    /// Number of times the people it takes to ask all questions together in each report. It is
    /// the variance of all answers in sum, over that of one question drawn for each report by
    /// its weight or else its noise. Missing where the questions cannot be asked together.
    pub together_over_drawn: Option<f64>,
    /// Worth of the plan.
    pub verdict: Verdict,
    /// Assumptions, in words.
    pub assumes: String,
}

/// Quantity that a plan finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum Unknown {
    /// Size of the error.
    Error,
    /// Number of people.
    People,
    /// Local ε.
    Epsilon,
}

/// Question of a [`Plan`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct QuestionPlan {
    /// Name, empty for the form of one question.
    pub name: String,
    /// Kind, as in a task file.
    pub kind: String,
    /// Mechanism with all its parameters.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "{ name: string } & Record<string, string | number | number[]>")
    )]
    pub mechanism: Mechanism,
    /// Mechanism of a task file that leaves it open, where it is another: its errors are least on
    /// average over answers, and those of `mechanism` at worst.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "wasm", tsify(optional, type = "{ name: string }"))]
    pub on_average: Option<Mechanism>,
    /// Number of entries that are reported on.
    pub sparsity: u32,
    /// Number of answers to choose from, where they are listed.
    pub answers: Option<u32>,
    /// Levels or bins of a number, or of a cross's.
    pub cells: Option<u32>,
    /// Part of all reports that answer it.
    pub share: f64,
    /// Number of those reports.
    pub reports: f64,
    /// Estimate that the errors are for.
    pub errors_of: ErrorsOf,
    /// Name of the number that the errors are for, among several numbers or of a cross.
    pub of: Option<String>,
    /// Unit of the errors, where there is one.
    pub unit: Option<String>,
    /// Standard error: in the worst case over answers, or for rated items the root mean square
    /// over all items.
    pub standard_error: f64,
    /// Root mean square of the bias over all items, in the worst case. No number of people
    /// lessens it. Missing where the bias is not known as a number.
    pub bias: Option<f64>,
    /// Root of the mean squared error: of the standard error and the bias.
    pub error: f64,
    /// Half-width of an interval at 95% confidence.
    pub interval: f64,
    /// Half-width of intervals that hold for all answers simultaneously; for open items as for one.
    pub simultaneous_interval: f64,
    /// Maximum half-width wanted.
    pub wanted: Option<f64>,
    /// Maximum error wanted.
    pub wanted_error: Option<f64>,
    /// Distance between the least and the greatest that can be answered.
    pub range: f64,
    /// Share of the rarest answer that is seen, if shares or items are estimated. Missing if even
    /// an answer that all people give is not seen.
    pub smallest: Option<f64>,
    /// Share of people behind each answer if all are equally common.
    #[serde(skip)]
    pub(super) average: Option<f64>,
    /// Errors of several numbers, each in its own unit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub numbers: Vec<NumberError>,
    /// Distance from the best that any mechanism could do at the same local ε, for people with
    /// as many entries as the sparsity. Outside ratings it is an average over evenly given
    /// answers. Missing where there is no bound to compare with.
    pub distance: Option<Distance>,
    /// Number of times the people it takes to ask the same as ratings of items.
    pub as_ratings: Option<f64>,
    /// Bias that no number of people lessens, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias_note: Option<String>,
}

/// One of several numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct NumberError {
    /// Name of the number.
    pub name: String,
    /// Unit of the number.
    pub unit: Option<String>,
    /// Standard error of its mean.
    pub standard_error: f64,
    /// Half-width of its mean's interval at 95% confidence.
    pub interval: f64,
}

/// Other mechanism for the only question, at its best for the same people and privacy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Alternative {
    /// Mechanism with all its parameters.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "{ name: string } & Record<string, string | number | number[]>")
    )]
    pub mechanism: Mechanism,
    /// Sparsity that goes with it.
    pub sparsity: u32,
    /// Local ε.
    pub epsilon: f64,
    /// Local ε realised, rounded up.
    pub effective_epsilon: f64,
    /// Inputs that ε makes hard to distinguish, in words.
    pub protects: String,
    /// Root mean square of the noise over all items. Missing, like `bias` and `error`, if the
    /// mechanism does not estimate the wanted quantity.
    pub standard_error: Option<f64>,
    /// Root mean square of the bias over all items, in the worst case.
    pub bias: Option<f64>,
    /// Root of the mean squared error: of the standard error and the bias.
    pub error: Option<f64>,
    /// Number of people for the error of the mechanism that is picked. Missing if no number is
    /// enough.
    pub people: Option<f64>,
    /// Privacy of the shuffled reports together.
    pub central: Option<Account>,
}

/// Worth of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct Verdict {
    /// Worst kind that holds for a question.
    pub kind: VerdictKind,
    /// Sentences about each question.
    pub text: String,
}

/// Kind of a [`Verdict`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// Answers that are as common as the average are seen.
    Useful,
    /// Only answers that are more common than the average are seen.
    FrequentOnly,
    /// Noise hides every answer.
    Noise,
    /// The error is greater than was wanted.
    Missed,
}
