//! What a survey's plan comes to, in numbers and in words.

use hushbin::choose::Objective;
use hushbin::task::{Kind, Scale};
use hushbin::{Items, Mechanism, Question, Task};
use serde::Serialize;

use super::ask::Survey;
use super::goal::{ErrorsOf, Goal};
use super::ratings;
use super::task::Planned;
use crate::accounting::Account;
use crate::bound::{self, Distance};
use crate::estimate::{Aim, DEFAULT_CONFIDENCE, Estimand, Predictor};
use crate::heavy_hitters::{DEFAULT_ALPHABET, Detectable};
use crate::plan::POWER;
use crate::plan::answer::{Reach, Unknown, Verdict, central};
use crate::promise::{bias, plan_statement, protects};

/// The answer to a [`Survey`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct SurveyAnswer {
    /// What was not given.
    pub solved_for: Unknown,
    /// How many people report, once each.
    pub people: u64,
    /// In so many days they do.
    pub days: Option<f64>,
    /// The complete task.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "{ id: string; questions: { weight?: number }[] }")
    )]
    pub task: Task,
    /// Local ε.
    pub epsilon: f64,
    /// Local ε realised, rounded up.
    pub effective_epsilon: f64,
    /// What ε is about.
    pub protects: String,
    /// What the shuffled reports give away together.
    pub central: Option<Account>,
    /// Why that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub central_reason: Option<String>,
    /// Each question, as in the task.
    pub questions: Vec<QuestionAnswer>,
    /// The variance of all answers in sum if each report told of all questions together,
    /// over that of one question drawn for each by its weight or else its noise, where both
    /// could be: so many times the people it would take.
    pub together_over_drawn: Option<f64>,
    /// What that is worth.
    pub verdict: Verdict,
    /// What all of it rests on.
    pub assumes: String,
}

/// A question of a [`SurveyAnswer`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct QuestionAnswer {
    /// Its name.
    pub name: String,
    /// Its kind, as in a task file.
    pub kind: String,
    /// With all its parameters.
    #[cfg_attr(
        feature = "wasm",
        tsify(type = "{ name: string } & Record<string, string | number>")
    )]
    pub mechanism: Mechanism,
    /// How many entries are reported on.
    pub sparsity: u32,
    /// How many answers there are to choose from, where they are listed.
    pub answers: Option<u32>,
    /// Levels or bins of a number, or of a cross's.
    pub cells: Option<u32>,
    /// How many nodes each layer of the tree over bins has and joins, from the top; none where
    /// there is no tree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub tree: Vec<u32>,
    /// The part of all reports that answer it.
    pub share: f64,
    /// How many those are.
    pub reports: f64,
    /// What errors are of.
    pub errors_of: ErrorsOf,
    /// Of which of several numbers, or of a cross's.
    pub of: Option<String>,
    /// In which unit, where that is one.
    pub unit: Option<String>,
    /// Standard error, at the worst over what people may answer.
    pub standard_error: f64,
    /// Half-width of an interval at 95% confidence.
    pub interval: f64,
    /// Half-width of intervals that hold for all answers simultaneously.
    pub simultaneous_interval: f64,
    /// The greatest half-width that was wanted.
    pub wanted: Option<f64>,
    /// From the least to the greatest that can be answered.
    pub range: f64,
    /// Share of the rarest answer that is seen, where shares are answered; absent where
    /// not even one that everybody gives is.
    pub smallest: Option<f64>,
    /// Of several numbers each, in its own unit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "wasm", tsify(optional))]
    pub numbers: Vec<NumberError>,
    /// How far it is from the best that any mechanism could do at the same local ε, on
    /// average over answers that are given evenly, by people with as many entries as the
    /// sparsity; absent where there is no bound to compare with.
    pub distance: Option<Distance>,
    /// The variance if answers were items that are rated, over this: so many times the
    /// people it would take.
    pub as_ratings: Option<f64>,
    /// A bias that no number of people lessens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<String>,
}

/// One of several numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct NumberError {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Option<String>,
    /// Standard error of its mean.
    pub standard_error: f64,
    /// Half-width of its mean's interval at 95% confidence.
    pub interval: f64,
}

impl SurveyAnswer {
    pub(super) fn new(
        survey: &Survey,
        planned: &Planned,
        solved_for: Unknown,
        people: u64,
        verdict: impl FnOnce(&[QuestionAnswer]) -> Verdict,
    ) -> Self {
        let task = &planned.task;
        let questions: Vec<QuestionAnswer> = (0..task.questions().len())
            .map(|index| QuestionAnswer::new(planned, index, people))
            .collect();
        let neighbours = task.questions()[0].mechanism().neighbours();
        let (central, central_reason) = central(task, people, survey.honest_fraction, survey.delta);
        Self {
            solved_for,
            people,
            days: survey.people_per_day.map(|day| people as f64 / day),
            epsilon: task.epsilon(),
            effective_epsilon: task.effective_epsilon(),
            protects: protects(neighbours),
            central,
            central_reason,
            together_over_drawn: planned.together_over_drawn,
            verdict: verdict(&questions),
            assumes: assumes(
                &questions,
                &plan_statement(neighbours, survey.honest_fraction),
            ),
            questions,
            task: task.clone(),
        }
    }
}

impl QuestionAnswer {
    fn new(planned: &Planned, index: usize, people: u64) -> Self {
        let (task, goal) = (&planned.task, &planned.goals[index]);
        let question = &task.questions()[index];
        let several = task.questions().len() > 1;
        let reports = people as f64 * task.share(index);
        let reach = Reach::new(goal.estimates);
        let error = planned.standard_error(index, people as f64);
        let objective = match goal.aim {
            Aim::Mean | Aim::MeanWithin(_) => Objective::MEAN,
            Aim::Share | Aim::Distribution(_) => Objective::FREQUENCY,
        };
        Self {
            name: question.name().to_owned(),
            kind: question.kind().name().to_owned(),
            mechanism: question.mechanism().clone(),
            sparsity: question.sparsity(),
            answers: question.items().count(),
            cells: match question.kind() {
                Kind::Number(scale) => Some(scale.cells()),
                Kind::Cross(cross) => cross.columns().scale().map(Scale::cells),
                _ => None,
            },
            tree: (question.kind().tree()).map_or(Vec::new(), |own| own.branches().to_vec()),
            share: task.share(index),
            reports,
            errors_of: goal.errors_of,
            of: goal.of.clone(),
            unit: goal.unit.clone(),
            standard_error: error,
            interval: error * reach.single,
            simultaneous_interval: error * reach.simultaneous,
            wanted: goal.within,
            range: goal.range,
            smallest: smallest(question, goal, reach, reports),
            numbers: numbers(question, error / goal.scale, reach),
            distance: bound::of_question(question, &objective),
            as_ratings: ratings::times(question, goal.aim, several),
            bias: bias(question),
        }
    }
}

/// The share of the rarest answer that is seen; of a text, over the letters that are tried
/// by default.
fn smallest(question: &Question, goal: &Goal, reach: Reach, reports: f64) -> Option<f64> {
    if goal.errors_of != ErrorsOf::Share {
        return None;
    }
    if let Kind::Text(_) = question.kind() {
        let letters = DEFAULT_ALPHABET.chars().count();
        let found = Detectable::new(question, reports as u64, letters, DEFAULT_CONFIDENCE, POWER)?;
        return Some(found.share).filter(|share| *share <= 1.0);
    }
    let rare = Predictor::for_question(question).standard_error(Estimand::Share, reports)?;
    Some(rare * reach.seen).filter(|share| *share <= 1.0)
}

/// Each of several numbers, whose errors are the same parts of half their ranges.
fn numbers(question: &Question, part: f64, reach: Reach) -> Vec<NumberError> {
    let (Kind::Numbers(limits), Items::Named(names)) = (question.kind(), question.items()) else {
        return Vec::new();
    };
    let number = |(name, limits): (&String, &hushbin::task::Limits)| {
        let [min, max] = limits.range();
        let standard_error = part * 0.5 * (max - min);
        NumberError {
            name: name.clone(),
            unit: limits.unit().map(str::to_owned),
            standard_error,
            interval: standard_error * reach.single,
        }
    };
    names.iter().zip(limits).map(number).collect()
}

fn assumes(questions: &[QuestionAnswer], promise: &str) -> String {
    let one = match questions {
        [_] => "Each person sends one report.",
        _ => "Each person sends one report, which answers one question that its seed draws.",
    };
    let about = |of, text| {
        let any = questions.iter().any(|own| own.errors_of == of);
        if any { text } else { "" }
    };
    let quantiles = about(
        ErrorsOf::Quantile,
        " Quantiles are as exact as that if numbers are spread normally, and bins are narrow \
         beside the spread.",
    );
    let rows = about(
        ErrorsOf::ConditionalMean,
        " Means within rows are as exact as that if as many people are in each; in a row of half \
         as many the error is twice that.",
    );
    format!("{one} Errors are the worst over what people may answer.{quantiles}{rows} {promise}")
}
