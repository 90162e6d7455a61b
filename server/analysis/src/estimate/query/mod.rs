//! Queries for estimates: a question, its items, the confidence and post-processing.

pub(crate) mod confidence;
pub(crate) mod error;
pub(crate) mod interval;
pub(crate) mod post_processing_methods;

pub(crate) use interval::{ConfidenceLevel, Estimate};
pub(crate) use post_processing_methods::PostProcessingMethod;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use hushbin::task::{NumberScale, QuestionKind, QuestionPart};
use hushbin::{Items, Question, Task};
use serde::{Serialize, Serializer};

use confidence::{DEFAULT_CONFIDENCE, FALSE_DISCOVERY_RATE_RANGE};
use error::EstimateError;

use crate::estimate::mechanism::estimands;
use crate::estimate::point::Estimand;

/// Options of a query for estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateOptions {
    /// Name of the question. May be omitted if the task has only one question.
    pub question_name: Option<String>,
    /// Items by name. `None` selects all items, which is an error if the question is open.
    ///
    /// Numbered items are selected by index. A cell of a cross-tabulation is written "plan: pro,
    /// theme: dark". An option of a part that is asked together with other parts is written "theme:
    /// dark". If a cross-tabulation estimates the mean of a number within rows, its cells are
    /// estimated only if they are named here. The number is then rounded to a level at random, so
    /// the shares of cells reveal little about people.
    pub item_names: Option<Vec<String>>,
    /// Confidence of every interval, within [`CONFIDENCE`](confidence::CONFIDENCE_RANGE).
    pub confidence: f64,
    /// Post-processing methods to apply, in addition to returning the raw estimates.
    pub post_processing_methods: Vec<PostProcessingMethod>,
    /// Quantiles to estimate for a number with bins, each in (0, 1). `None` selects
    /// [`EstimateOptions::DEFAULT_QUANTILES`].
    pub quantiles: Option<Vec<f64>>,
    /// False discovery rate of the list of items that stand out, within [`FALSE_DISCOVERY_RATE_RANGE`].
    /// `None` requests no list.
    pub false_discovery_rate: Option<f64>,
}

impl EstimateOptions {
    /// Default quantiles to estimate for a number with bins.
    pub const DEFAULT_QUANTILES: [f64; 3] = [0.5, 0.75, 0.95];
}

impl Default for EstimateOptions {
    fn default() -> Self {
        Self {
            question_name: None,
            item_names: None,
            confidence: DEFAULT_CONFIDENCE,
            post_processing_methods: Vec::new(),
            quantiles: None,
            false_discovery_rate: None,
        }
    }
}

/// A validated query: question, items, confidence and post-processing.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateQuery {
    question_index: usize,
    items: Vec<u64>,
    pub(crate) item_labels: Vec<ItemLabel>,
    pub(crate) confidence_level: ConfidenceLevel,
    pub(crate) post_processing_methods: Vec<PostProcessingMethod>,
    /// Quantiles to estimate for a number with bins. Empty for other questions.
    pub(crate) quantile_levels: Vec<f64>,
    pub(crate) false_discovery_rate: Option<f64>,
}

/// Name of an item in output.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ItemLabel {
    /// Name of a listed item, or text of an item if the question is open.
    Name(String),
    /// Index of a numbered item.
    Index(u64),
    /// Bin of a number.
    Bin {
        /// Lower edge, included.
        from: f64,
        /// Upper edge, excluded except in the last bin.
        to: f64,
    },
    /// Level to which a number is rounded.
    Level(f64),
    /// Cell of a cross-tabulation, or option of a part that is asked together with other parts.
    /// Each entry is the name of a part and the label of its option. A cell has two entries, for
    /// row and column. An option has one entry.
    #[serde(serialize_with = "serialize_parts_by_name")]
    Cell(Vec<(String, ItemLabel)>),
}

fn serialize_parts_by_name<S: Serializer>(
    parts: &[(String, ItemLabel)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parts.iter().map(|(name, label)| (name, label)))
}

impl fmt::Display for ItemLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Index(index) => index.fmt(f),
            Self::Bin { from, to } => write!(f, "{from} to {to}"),
            Self::Level(level) => level.fmt(f),
            Self::Cell(parts) => {
                for (index, (name, label)) in parts.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{name}: {label}")?;
                }
                Ok(())
            }
        }
    }
}

impl ItemLabel {
    fn bin_or_level_label(scale: &NumberScale, cell: u64) -> Self {
        let cell = cell as usize;
        match scale.edges() {
            Some(edges) if cell == edges.len() - 1 => Self::Name(NO_NUMBER_LABEL.to_owned()),
            Some(edges) => Self::Bin {
                from: edges[cell],
                to: edges[cell + 1],
            },
            None => Self::Level(scale.level_value(cell as u32).expect("one or the other")),
        }
    }
}

impl EstimateQuery {
    /// Validates the options for the task and creates a query.
    ///
    /// # Errors
    /// [`EstimateError`] if the task cannot answer a query with these options.
    pub fn new(task: &Task, options: &EstimateOptions) -> Result<Self, EstimateError> {
        let index = find_question_index(task, options.question_name.as_deref())?;
        let question = &task.questions()[index];
        if let QuestionKind::Text(_) = question.kind() {
            return Err(EstimateError::TextQuestionNeedsSearch {
                question: question.name().to_owned(),
            });
        }
        let (items, labels) = match &options.item_names {
            None if estimates_means_within_rows(question) => (Vec::new(), Vec::new()),
            None => all_items_with_labels(question)?,
            Some(names) => items_with_labels_by_name(question, names)?,
        };
        for post in &options.post_processing_methods {
            post.check_post_processing_applies(question, items.len())?;
        }
        let compared = options.false_discovery_rate.is_some()
            || options
                .post_processing_methods
                .contains(&PostProcessingMethod::ShrinkageTowardsZero);
        if compared && matches!(question.kind(), QuestionKind::Numbers(_)) {
            return Err(EstimateError::ZeroMeaninglessForNumbers {
                question: question.name().to_owned(),
            });
        }
        if let Some(rate) = options.false_discovery_rate
            && !FALSE_DISCOVERY_RATE_RANGE.contains(rate)
        {
            return Err(EstimateError::FalseDiscoveryRateOutOfRange { rate });
        }
        Ok(Self {
            quantile_levels: checked_quantiles(question, options.quantiles.as_deref())?,
            false_discovery_rate: options.false_discovery_rate,
            question_index: index,
            post_processing_methods: options.post_processing_methods.clone(),
            confidence_level: ConfidenceLevel::new(options.confidence, items.len())?,
            items,
            item_labels: labels,
        })
    }

    /// Returns the index of the question in the task.
    #[must_use]
    pub const fn question_index(&self) -> usize {
        self.question_index
    }

    /// Returns the indices of the requested items, or their keys if the question is open.
    #[must_use]
    pub fn items(&self) -> &[u64] {
        &self.items
    }
}

/// Returns the index of the question with this name. The name may be omitted if the task has only
/// one question.
///
/// # Errors
/// [`EstimateError::UnknownQuestion`], [`EstimateError::MissingQuestionName`].
pub(crate) fn find_question_index(task: &Task, name: Option<&str>) -> Result<usize, EstimateError> {
    let Some(name) = name else {
        return match task.only_question() {
            Some(_) => Ok(0),
            None => Err(EstimateError::MissingQuestionName),
        };
    };
    let found = task.question_position(name);
    found.ok_or_else(|| EstimateError::UnknownQuestion {
        question: name.to_owned(),
    })
}

/// Checks and returns the requested quantiles. If none were requested, returns the default ones for
/// a number with bins, and no quantiles for other questions.
fn checked_quantiles(
    question: &Question,
    asked: Option<&[f64]>,
) -> Result<Vec<f64>, EstimateError> {
    let binned = matches!(question.kind(), QuestionKind::Number(_));
    match asked {
        None if binned => Ok(EstimateOptions::DEFAULT_QUANTILES.to_vec()),
        None => Ok(Vec::new()),
        Some(_) if !binned => Err(EstimateError::QuestionWithoutQuantiles {
            question: question.name().to_owned(),
        }),
        Some(asked) => match asked.iter().find(|&&part| !(0.0 < part && part < 1.0)) {
            Some(&quantile) => Err(EstimateError::QuantileOutOfRange { quantile }),
            None => Ok(asked.to_vec()),
        },
    }
}

/// Returns true if the question is a cross-tabulation that estimates the mean of a number within
/// rows.
fn estimates_means_within_rows(question: &Question) -> bool {
    matches!(question.kind(), QuestionKind::CrossTabulation(cross) if cross.level_scale().is_some())
}

/// Label of the cell of people without a number.
const NO_NUMBER_LABEL: &str = "no number";

/// Labels of the two answers to a yes-or-no question.
const FLAG_ANSWER_LABELS: [&str; 2] = ["no", "yes"];

fn all_items_with_labels(question: &Question) -> Result<(Vec<u64>, Vec<ItemLabel>), EstimateError> {
    let labels = match question.items() {
        Items::Named(names) => names.iter().cloned().map(ItemLabel::Name).collect(),
        Items::Count(count) => {
            let label = |item| item_label_from_index(question, item);
            (0..u64::from(*count)).map(label).collect()
        }
        Items::Open(_) => return Err(EstimateError::MissingItemNames),
    };
    let labels: Vec<ItemLabel> = labels;
    Ok(((0..labels.len() as u64).collect(), labels))
}

/// Returns the label of the item at index `item` of a question whose items are numbered.
#[must_use]
pub fn item_label_from_index(question: &Question, item: u64) -> ItemLabel {
    match question.kind() {
        QuestionKind::Flag => ItemLabel::Name(FLAG_ANSWER_LABELS[item as usize].to_owned()),
        QuestionKind::Number(scale) => ItemLabel::bin_or_level_label(scale, item),
        QuestionKind::CrossTabulation(cross) => {
            let columns = cross.row_and_column_counts()[1];
            let [row, column] = [item as u32 / columns, item as u32 % columns];
            ItemLabel::Cell(vec![
                part_name_and_option_label(cross.row_part(), row),
                part_name_and_option_label(cross.column_part(), column),
            ])
        }
        QuestionKind::JointChoices(together) => {
            let (part, option) = together.part_and_option(item as u32);
            ItemLabel::Cell(vec![part_name_and_option_label(
                &together.parts()[part],
                option,
            )])
        }
        QuestionKind::Numbers(_) => ItemLabel::Name(question.name().to_owned()),
        QuestionKind::Ratings(_)
        | QuestionKind::Set
        | QuestionKind::Choice
        | QuestionKind::Text(_) => ItemLabel::Index(item),
    }
}

/// Returns the name of a part, and the label of its row, column or option at `index`.
fn part_name_and_option_label(part: &QuestionPart, index: u32) -> (String, ItemLabel) {
    (part.name().to_owned(), part_option_label(part, index))
}

/// Returns the label of a part's row, column or option at `index`.
pub(crate) fn part_option_label(part: &QuestionPart, index: u32) -> ItemLabel {
    match (part.kind(), part.items()) {
        (QuestionKind::Flag, _) => ItemLabel::Name(FLAG_ANSWER_LABELS[index as usize].to_owned()),
        (QuestionKind::Number(scale), _) => ItemLabel::bin_or_level_label(&scale, index.into()),
        (_, Items::Named(names)) => ItemLabel::Name(names[index as usize].clone()),
        _ => ItemLabel::Index(index.into()),
    }
}

fn items_with_labels_by_name(
    question: &Question,
    names: &[String],
) -> Result<(Vec<u64>, Vec<ItemLabel>), EstimateError> {
    // Build an index of the labels once, instead of searching the list for every name.
    let by_name: Option<HashMap<String, u64>> = match (question.items(), question.kind()) {
        (Items::Named(_), _)
        | (
            _,
            QuestionKind::CrossTabulation(_)
            | QuestionKind::JointChoices(_)
            | QuestionKind::Numbers(_)
            | QuestionKind::Flag,
        ) => {
            let (items, labels) = all_items_with_labels(question)?;
            Some(labels.iter().map(ItemLabel::to_string).zip(items).collect())
        }
        (Items::Count(_) | Items::Open(_), _) => None,
    };
    let mut seen = HashSet::new();
    let mut items = Vec::with_capacity(names.len());
    let mut labels = Vec::with_capacity(names.len());
    for name in names {
        let found = match &by_name {
            Some(by_name) => by_name.get(name.as_str()).copied(),
            None => question.items().find_item(name),
        };
        let item = found.ok_or_else(|| EstimateError::UnknownItem { item: name.clone() })?;
        // Two names may refer to the same item, so detect duplicates by item instead of by name.
        if !seen.insert(item) {
            return Err(EstimateError::DuplicateItem { item: name.clone() });
        }
        items.push(item);
        labels.push(match question.items() {
            Items::Count(_) => item_label_from_index(question, item),
            Items::Named(_) | Items::Open(_) => ItemLabel::Name(name.clone()),
        });
    }
    Ok((items, labels))
}

impl PostProcessingMethod {
    const fn needed_estimands(self) -> &'static [Estimand] {
        match self {
            Self::MeanGivenPresence => &[Estimand::Mean, Estimand::Nonmissing],
            Self::MaxSparsityProjection | Self::ExactSparsityProjection => {
                &[Estimand::Plus, Estimand::Minus]
            }
            Self::ShrinkageTowardsZero => &[],
        }
    }

    /// Checks that the method can be applied to a query for `items` items of the question.
    ///
    /// # Errors
    /// [`EstimateError::MissingEstimand`], [`EstimateError::PostProcessingNeedsAllItems`].
    fn check_post_processing_applies(
        self,
        question: &Question,
        items: usize,
    ) -> Result<(), EstimateError> {
        let estimated = estimands(question);
        for &estimand in self.needed_estimands() {
            // If items have no signs, their share replaces the frequencies of both signs.
            let shares = estimand != Estimand::Mean && estimated == [Estimand::Share];
            if shares && self != Self::MeanGivenPresence {
                continue;
            }
            if !estimated.contains(&estimand) {
                return Err(EstimateError::MissingEstimand {
                    post: self,
                    estimand,
                });
            }
        }
        match self {
            Self::MeanGivenPresence | Self::ShrinkageTowardsZero => Ok(()),
            Self::MaxSparsityProjection | Self::ExactSparsityProjection
                if question.items().item_count().map(|count| count as usize) == Some(items) =>
            {
                Ok(())
            }
            Self::MaxSparsityProjection | Self::ExactSparsityProjection => {
                Err(EstimateError::PostProcessingNeedsAllItems { post: self })
            }
        }
    }
}

impl FromStr for PostProcessingMethod {
    type Err = EstimateError;

    fn from_str(name: &str) -> Result<Self, EstimateError> {
        Self::ALL
            .into_iter()
            .find(|post| post.as_str() == name)
            .ok_or_else(|| EstimateError::UnknownPostProcessing {
                name: name.to_owned(),
            })
    }
}
