//! Explanation of a report of a task with named questions. An explanation has the answered
//! question, the coding of the answer, and the meaning of the report for each possible answer.
//!
//! The module [`likelihood`](hushbin_analysis::likelihood) computes likelihoods from the
//! definitions of the mechanisms. Every question that can be audited can be explained.

use hushbin::task::{self, Cross, NumberLimits, NumberScale, QuestionKind, Together};
use hushbin::{Entry, Items, Question, Report, Task};
use serde::Serialize;

use super::belief::posterior_probability;
use super::error::{ExplainError, MAX_POSSIBLE_ANSWERS};
use super::explain_mechanism::Reported;
use super::ratings_explainer::reported;
use super::upload::{UploadField, decode_sole_report, field_byte_ranges};
use hushbin_analysis::estimate::item_label_from_index;
use hushbin_analysis::likelihood::{Hypothesis, observe_report};

/// Explainer of the reports of a task with named questions.
///
/// ```
/// use hushbin::TaskDraft;
/// use hushbin_demo::explain::NamedQuestionExplainer;
///
/// let draft: TaskDraft = serde_json::from_str(r#"{ "id": "settings", "epsilon": 1.0,
///     "questions": [{ "name": "beta", "kind": "flag" }] }"#).unwrap();
/// assert!(NamedQuestionExplainer::new(&draft.resolve_task().unwrap()).is_ok());
/// ```
#[derive(Debug, Clone)]
pub struct NamedQuestionExplainer {
    task: Task,
}

/// Explanation of one report: its question, its bytes, and its meaning for each possible answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct Explanation {
    /// Name of the answered question. The seed decides which question is answered.
    pub question: String,
    /// Kind of this question, as in a task file.
    pub kind: String,
    /// Fields of the upload, in order. They cover all its bytes.
    pub parts: Vec<UploadField>,
    /// Randomised part of the report.
    pub response: Reported,
    /// Parts of the answer in the mechanism's coding, before randomisation.
    pub coded: Vec<CodedAnswerPart>,
    /// Meaning of the report for each possible answer.
    pub meanings: Vec<Meaning>,
    /// Minimum and maximum likelihood ratio that any report can have: exp(−ε) and exp(ε).
    pub ratios: [f64; 2],
}

/// Part of an answer, as the mechanism codes the answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
pub struct CodedAnswerPart {
    /// Label of the part: an option, a bin, a level, or one of several numbers.
    pub label: String,
    /// Probability that the answer is coded as this part.
    pub chance: f64,
    /// Value from −1 to 1 of a number or a rating; `None` for an option, a bin or a level.
    pub value: Option<f64>,
}

/// Meaning of a report for one possible answer: an observer's belief in the answer before and after
/// seeing the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Meaning {
    /// Label of the answer, as in [`CodedAnswerPart::label`].
    pub label: String,
    /// True if this is the person's answer. For one of several numbers, true if the person's number
    /// is in the upper half of its range.
    pub own: bool,
    /// Likelihood ratio of this answer against an alternative. If answers exclude each other, the
    /// alternative is any other answer, and all other answers are equally likely. For a set, the
    /// alternative is the same set without the option. For one of several numbers, the ratio
    /// compares the maximum with the minimum. For ratings, the ratio compares yes with no.
    pub ratio: f64,
    /// Prior probability of this answer, if all answers are equally likely.
    pub before: f64,
    /// Posterior probability of this answer, given the report.
    pub after: f64,
}

impl NamedQuestionExplainer {
    /// Creates the explainer of reports for `task`.
    ///
    /// # Errors
    /// [`ExplainError::UnnamedQuestion`] if the task has a single question without a name.
    /// [`ExplainError::TooManyPossibleAnswers`] if a question has more than 4096 possible answers, or open items.
    pub fn new(task: &Task) -> Result<Self, ExplainError> {
        if task.has_unnamed_question() {
            return Err(ExplainError::UnnamedQuestion);
        }
        let few = |question: &Question| {
            let items = question.items().item_count();
            items.is_some_and(|items| items as usize <= MAX_POSSIBLE_ANSWERS)
        };
        if !task.questions().iter().all(few) {
            return Err(ExplainError::TooManyPossibleAnswers);
        }
        Ok(Self { task: task.clone() })
    }

    /// Explains an upload of one report, which was made from these answers. `answers` has one
    /// answer for each question, in the task's order, as for
    /// [`hushbin::Randomizer::randomize_answers`].
    ///
    /// # Errors
    /// Errors of [`hushbin::Upload::decode`]. [`ExplainError::NotOneReport`] unless there is one report.
    /// [`ExplainError::InvalidAnswers`] unless each question has an answer of its kind.
    pub fn explain(
        &self,
        upload: &[u8],
        answers: &[&[Entry]],
    ) -> Result<Explanation, ExplainError> {
        let questions = self.task.questions();
        let fits = |(question, answer): (&Question, &&[Entry])| is_valid_answer(question, answer);
        if answers.len() != questions.len() || !questions.iter().zip(answers).all(fits) {
            return Err(ExplainError::InvalidAnswers);
        }
        let report = decode_sole_report(&self.task, upload)?;
        let index = self
            .task
            .question_selector()
            .question_index_for_seed(report.seed());
        let (question, answer) = (&questions[index], answers[index]);
        let epsilon = question.epsilon();
        Ok(Explanation {
            question: question.name().to_owned(),
            kind: question.kind().name().to_owned(),
            parts: field_byte_ranges(upload.len()),
            response: reported(question.mechanism(), &report)?,
            coded: coded_parts(question, answer),
            meanings: meanings_of_report(question, answer, &report),
            ratios: [-epsilon, epsilon].map(f64::exp),
        })
    }
}

/// Checks that an answer is valid for a question.
fn is_valid_answer(question: &Question, answer: &[Entry]) -> bool {
    let (kind, items) = (question.kind(), question.items().item_count().unwrap_or(0));
    let item = |entry: &Entry| entry.item < u64::from(items);
    let distinct = (1..answer.len()).all(|at| {
        let own = answer[at].item;
        answer[..at].iter().all(|other| other.item != own)
    });
    match kind {
        QuestionKind::Number(scale) => matches!(answer, [one]
            if one.value.is_finite() && (one.item == 0 || one.item == 1 && scale.is_optional())),
        QuestionKind::Numbers(of) => {
            let number = |entry: &Entry| item(entry) && entry.value.is_finite();
            answer.len() == of.len() && answer.iter().all(number) && distinct
        }
        QuestionKind::Choice | QuestionKind::Flag => {
            matches!(answer, [one] if item(one) && one.value == 1.0)
        }
        QuestionKind::CrossTabulation(cross) => {
            matches!(answer, [one] if is_valid_cell(cross, one))
        }
        QuestionKind::JointChoices(together) => {
            let parts = together.parts();
            let option = |entry: &Entry| {
                let part = parts.get(entry.item as usize);
                part.is_some_and(|part| is_option_index(part, entry.value))
            };
            answer.len() == parts.len() && answer.iter().all(option) && distinct
        }
        QuestionKind::Text(_) => {
            unreachable!("texts are not listed: their tasks are not explained")
        }
        QuestionKind::Set | QuestionKind::Ratings(_) => {
            let valid =
                |entry: &Entry| item(entry) && kind.coded_value_kind().accepts_value(entry.value);
            answer.iter().all(valid) && distinct
        }
    }
}

fn is_valid_cell(cross: &Cross, entry: &Entry) -> bool {
    let (column, columns) = (entry.value, cross.column_part());
    entry.item < u64::from(cross.row_part().cell_count())
        && column.is_finite()
        && (columns.scale().is_some() || is_option_index(columns, column))
}

fn is_option_index(part: &task::QuestionPart, value: f64) -> bool {
    value.fract() == 0.0 && (0.0..f64::from(part.cell_count())).contains(&value)
}

/// Returns the parts to which the mechanism can code an answer, with the probability of each part.
fn coded_parts(question: &Question, answer: &[Entry]) -> Vec<CodedAnswerPart> {
    let part = |item: u64, chance, value| CodedAnswerPart {
        label: item_label(question, item),
        chance,
        value,
    };
    let cells = |(cell, next): (u32, f64)| {
        let cells = [(cell, 1.0 - next), (cell + 1, next)];
        let likely = cells.into_iter().filter(|(_, chance)| *chance > 0.0);
        likely
            .map(|(cell, chance)| part(u64::from(cell), chance, None))
            .collect()
    };
    match question.kind() {
        QuestionKind::Number(scale) => cells(scale.cell_of_answer(answer[0])),
        QuestionKind::CrossTabulation(cross) => {
            cells(cross.cell_and_next_cell_probability(answer[0].item as u32, answer[0].value))
        }
        QuestionKind::JointChoices(together) => together
            .answered_option_entries(answer)
            .map(|entry| part(entry.item, 1.0, None))
            .collect(),
        QuestionKind::Text(_) => {
            unreachable!("texts are not listed: their tasks are not explained")
        }
        QuestionKind::Numbers(of) => {
            let place =
                |entry: &Entry| of[entry.item as usize].normalise_to_signed_unit(entry.value);
            answer
                .iter()
                .map(|entry| part(entry.item, 1.0, Some(place(entry))))
                .collect()
        }
        QuestionKind::Choice
        | QuestionKind::Flag
        | QuestionKind::Set
        | QuestionKind::Ratings(_) => {
            // If there are more than s entries, a uniformly random selection of s is kept.
            let kept = f64::from(question.max_entries_per_report()) / answer.len().max(1) as f64;
            let rated = matches!(question.kind(), QuestionKind::Ratings(_));
            answer
                .iter()
                .map(|entry| part(entry.item, kept.min(1.0), rated.then_some(entry.value)))
                .collect()
        }
    }
}

/// Formats the range of values that these bins cover.
fn format_bin_range(scale: &NumberScale, bins: std::ops::Range<u32>) -> String {
    let edges = scale.edges().expect("there are bins");
    let [from, to] = [bins.start, bins.end].map(|edge| edges[edge as usize]);
    format!("{from} to {}", format_with_unit(to, scale))
}

fn format_with_unit(number: f64, scale: &NumberScale) -> String {
    match scale.unit() {
        Some(unit) => format!("{number} {unit}"),
        None => number.to_string(),
    }
}

/// Returns the label of an item of a question.
fn item_label(question: &Question, item: u64) -> String {
    match (question.kind(), question.items()) {
        (QuestionKind::Flag, _) => ["no", "yes"][item as usize].to_owned(),
        (QuestionKind::Number(scale), _) if item < u64::from(scale.level_or_bin_count()) => {
            format_bin_range(scale, item as u32..item as u32 + 1)
        }
        (QuestionKind::Number(_), _) => "no number".to_owned(),
        (QuestionKind::Numbers(of), _) if of.is_single() => question.name().to_owned(),
        (QuestionKind::CrossTabulation(_) | QuestionKind::JointChoices(_), _) => {
            item_label_from_index(question, item).to_string()
        }
        (_, Items::Named(names)) => names[item as usize].clone(),
        (_, Items::Count(_) | Items::Open(_)) => item.to_string(),
    }
}

/// Returns the hypothesis that a person gave this answer, but with the value `value` for one item.
/// If `value` is `None`, the item is absent.
fn hypothesis_with_item_value(
    question: &Question,
    answer: &[Entry],
    item: u64,
    value: Option<f64>,
) -> Hypothesis {
    let others = answer.iter().filter(|entry| entry.item != item).copied();
    let own = value.map(|value| Entry { item, value });
    Hypothesis::new(question, &others.chain(own).collect::<Vec<_>>())
}

/// Returns the meaning of a report for each possible answer.
fn meanings_of_report(question: &Question, answer: &[Entry], report: &Report) -> Vec<Meaning> {
    let meaning = |(item, own, ratio, before)| Meaning {
        label: item_label(question, item),
        own,
        ratio,
        before,
        after: posterior_probability(before, ratio),
    };
    let items = 0..u64::from(question.items().item_count().unwrap_or(0));
    let given = |item: u64| answer.iter().find(|entry| entry.item == item);
    let chosen = |entry: &dyn Fn(u64) -> Entry, own: &dyn Fn(u64) -> bool| -> Vec<Meaning> {
        let told =
            exclusive_answer_ratios(question, report, items.clone(), |item| vec![entry(item)]);
        told.map(|(item, ratio, before)| meaning((item, own(item), ratio, before)))
            .collect()
    };
    let each = |values: &dyn Fn(u64) -> [Option<f64>; 2], own: &dyn Fn(u64) -> bool| {
        let told = items.clone().map(|item| {
            let [first, second] =
                values(item).map(|value| hypothesis_with_item_value(question, answer, item, value));
            let observation = observe_report(question, [&first, &second], report);
            meaning((item, own(item), observation.log_likelihood_ratio.exp(), 0.5))
        });
        told.collect()
    };
    let is_given = |item| given(item).is_some();
    let option = |item| Entry { item, value: 1.0 };
    let can_become = |cell| move |item| can_be_coded_as_item(cell, item);
    match question.kind() {
        QuestionKind::Choice | QuestionKind::Flag => chosen(&option, &is_given),
        QuestionKind::Number(scale) => {
            let own = can_become(scale.cell_of_answer(answer[0]));
            chosen(&|item| number_in_cell(scale, item as u32), &own)
        }
        QuestionKind::CrossTabulation(cross) => {
            let cell = cross.cell_and_next_cell_probability(answer[0].item as u32, answer[0].value);
            chosen(&|item| entry_in_cell(cross, item), &can_become(cell))
        }
        QuestionKind::JointChoices(together) => {
            let ratios = part_option_ratios(question, together, answer, report);
            ratios.into_iter().map(meaning).collect()
        }
        QuestionKind::Text(_) => {
            unreachable!("texts are not listed: their tasks are not explained")
        }
        QuestionKind::Set => each(&|_| [Some(1.0), None], &is_given),
        QuestionKind::Numbers(of) => each(
            &|item| {
                let [min, max] = of[item as usize].range();
                [Some(max), Some(min)]
            },
            &|item| is_in_upper_half(&of[item as usize], given(item)),
        ),
        QuestionKind::Ratings(_) => each(&|_| [Some(1.0), Some(-1.0)], &|item| {
            given(item).is_some_and(|entry| entry.value > 0.0)
        }),
    }
}

/// Returns an answer to a cross-tabulation that is coded as this cell with probability 1.
fn entry_in_cell(cross: &Cross, cell: u64) -> Entry {
    let columns = cross.column_part();
    let column = cell as u32 % columns.cell_count();
    let scale = columns.scale();
    Entry {
        item: cell / u64::from(columns.cell_count()),
        value: scale.map_or(f64::from(column), |scale| value_in_cell(scale, column)),
    }
}

/// Checks whether an answer can be coded as this item. An answer is coded as the next cell with
/// probability `next`, and otherwise as `cell`.
fn can_be_coded_as_item((cell, next): (u32, f64), item: u64) -> bool {
    item == u64::from(cell) && next < 1.0 || item == u64::from(cell) + 1 && next > 0.0
}

fn is_in_upper_half(limits: &NumberLimits, entry: Option<&Entry>) -> bool {
    entry.is_some_and(|entry| limits.normalise_to_signed_unit(entry.value) > 0.0)
}

/// Returns an answer to a question for a number that is coded as this cell with probability 1.
fn number_in_cell(scale: &NumberScale, cell: u32) -> Entry {
    let (item, value) = match cell < scale.level_or_bin_count() {
        true => (0, value_in_cell(scale, cell)),
        false => (1, 1.0),
    };
    Entry { item, value }
}

/// Returns a number that is coded as this cell with probability 1.
fn value_in_cell(scale: &NumberScale, cell: u32) -> f64 {
    match (scale.level_value(cell), scale.edges()) {
        (Some(level), _) => level,
        (None, Some(edges)) => 0.5 * (edges[cell as usize] + edges[cell as usize + 1]),
        (None, None) => unreachable!("a scale has levels or bins"),
    }
}

/// Lists the options of all parts. Each option has its item, whether it is the person's answer, and
/// the ratio and prior of [`exclusive_answer_ratios`]. The other parts are answered as in `answer`.
fn part_option_ratios(
    question: &Question,
    together: &Together,
    answer: &[Entry],
    report: &Report,
) -> Vec<(u64, bool, f64, f64)> {
    let given: Vec<u64> = together
        .answered_option_entries(answer)
        .map(|entry| entry.item)
        .collect();
    let mut all = Vec::new();
    for (index, part) in (0..).zip(together.parts()) {
        let others = answer.iter().filter(|entry| entry.item != index);
        let others: Vec<Entry> = others.copied().collect();
        let first = u64::from(together.cell_of_option(index as usize, 0));
        let with = |item: u64| {
            let value = (item - first) as f64;
            [&others[..], &[Entry { item: index, value }]].concat()
        };
        let options = first..first + u64::from(part.cell_count());
        let told = exclusive_answer_ratios(question, report, options, with);
        all.extend(told.map(|(item, ratio, before)| (item, given.contains(&item), ratio, before)));
    }
    all
}

/// Lists answers that exclude each other, each with its item, its likelihood ratio and its prior.
/// The ratio compares an answer with all other answers. All answers are equally likely before the
/// report.
fn exclusive_answer_ratios(
    question: &Question,
    report: &Report,
    items: std::ops::Range<u64>,
    entries: impl Fn(u64) -> Vec<Entry>,
) -> impl Iterator<Item = (u64, f64, f64)> {
    let supposed = |item| Hypothesis::new(question, &entries(item));
    let first = supposed(items.start);
    let likelihood = |item| {
        observe_report(question, [&supposed(item), &first], report)
            .log_likelihood_ratio
            .exp()
    };
    let likelihoods: Vec<f64> = items.clone().map(likelihood).collect();
    let (sum, count) = (likelihoods.iter().sum::<f64>(), likelihoods.len() as f64);
    items.zip(likelihoods).map(move |(item, own)| {
        let contrary = (sum - own) / (count - 1.0);
        (item, own / contrary, 1.0 / count)
    })
}
