//! What is asked: which items, at which confidence.

use std::str::FromStr;

use hushbin::task::Kind;
use hushbin::{Items, Question, Task};
use serde::Serialize;

use super::confidence::DEFAULT_CONFIDENCE;
use super::error::EstimateError;
use super::interval::Quantiles;
use super::point::Estimand;
use super::processing::PostProcessing;
use super::{conditional, estimands};

/// How to ask for estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The question asked, by name; may be left out where a task asks one.
    pub question: Option<String>,
    /// The items asked for, by name (or index, where they are counted); all if
    /// `None`, which an open task refuses.
    pub items: Option<Vec<String>>,
    /// Confidence of every interval, within [`CONFIDENCE`](super::CONFIDENCE).
    pub confidence: f64,
    /// What to make of the estimates, beside themselves.
    pub post: Vec<PostProcessing>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            question: None,
            items: None,
            confidence: DEFAULT_CONFIDENCE,
            post: Vec::new(),
        }
    }
}

/// A validated query: which items of which question, at which confidence, and what to
/// make of the estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    question: usize,
    items: Vec<u64>,
    pub(super) labels: Vec<Label>,
    pub(super) quantiles: Quantiles,
    pub(super) post: Vec<PostProcessing>,
}

/// How an item is called in output: its name, or the index of a counted one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Label {
    /// Of a named or open item.
    Name(String),
    /// Of a counted item.
    Index(u64),
}

impl Query {
    /// A query that the task can answer, validated.
    ///
    /// # Errors
    /// Any [`EstimateError`].
    pub fn new(task: &Task, options: &Options) -> Result<Self, EstimateError> {
        let index = position(task, options.question.as_deref())?;
        let question = &task.questions()[index];
        let (items, labels) = match &options.items {
            None => all_items(question)?,
            Some(names) => named_items(question, names)?,
        };
        for post in &options.post {
            post.check(question, items.len())?;
        }
        Ok(Self {
            question: index,
            post: options.post.clone(),
            quantiles: Quantiles::new(options.confidence, items.len())?,
            items,
            labels,
        })
    }

    /// Position of the question in the task.
    #[must_use]
    pub const fn question(&self) -> usize {
        self.question
    }

    /// Indices or keys of the items.
    #[must_use]
    pub fn items(&self) -> &[u64] {
        &self.items
    }
}

fn position(task: &Task, name: Option<&str>) -> Result<usize, EstimateError> {
    let Some(name) = name else {
        return match task.sole() {
            Some(_) => Ok(0),
            None => Err(EstimateError::QuestionNeeded),
        };
    };
    let mut questions = task.questions().iter();
    let found = questions.position(|question| question.name() == name);
    found.ok_or_else(|| EstimateError::UnknownQuestion {
        question: name.to_owned(),
    })
}

/// What the items of a flag are called.
const FLAG: [&str; 2] = ["no", "yes"];

fn all_items(question: &Question) -> Result<(Vec<u64>, Vec<Label>), EstimateError> {
    let labels = match question.items() {
        _ if *question.kind() == Kind::Flag => FLAG.map(|name| Label::Name(name.into())).into(),
        Items::Named(names) => names.iter().cloned().map(Label::Name).collect(),
        Items::Count(count) => (0..u64::from(*count)).map(Label::Index).collect(),
        Items::Open(_) => return Err(EstimateError::ItemsNeeded),
    };
    let labels: Vec<Label> = labels;
    Ok(((0..labels.len() as u64).collect(), labels))
}

fn named_items(
    question: &Question,
    names: &[String],
) -> Result<(Vec<u64>, Vec<Label>), EstimateError> {
    // One pass over the list, rather than one for every name.
    let by_name: Option<std::collections::HashMap<&str, u64>> = match question.items() {
        Items::Named(all) => Some(all.iter().map(String::as_str).zip(0..).collect()),
        Items::Count(_) | Items::Open(_) => None,
    };
    let mut seen = std::collections::HashSet::new();
    let mut items = Vec::with_capacity(names.len());
    let mut labels = Vec::with_capacity(names.len());
    for name in names {
        let found = match &by_name {
            Some(by_name) => by_name.get(name.as_str()).copied(),
            None if *question.kind() == Kind::Flag => {
                let position = FLAG.iter().position(|flag| flag == name);
                position.map(|position| position as u64)
            }
            None => question.items().resolve(name),
        };
        let item = found.ok_or_else(|| EstimateError::UnknownItem { item: name.clone() })?;
        if !seen.insert(item) {
            return Err(EstimateError::DuplicateItem { item: name.clone() });
        }
        items.push(item);
        labels.push(match question.items() {
            Items::Count(_) if *question.kind() != Kind::Flag => Label::Index(item),
            Items::Count(_) | Items::Named(_) | Items::Open(_) => Label::Name(name.clone()),
        });
    }
    Ok((items, labels))
}

impl PostProcessing {
    const fn needs(self) -> &'static [Estimand] {
        match self {
            Self::ConditionalMean => conditional::NEEDS,
            Self::Projection => &[Estimand::Plus, Estimand::Minus],
        }
    }

    /// Whether it can be had of so many items, all different, of a question.
    ///
    /// # Errors
    /// [`EstimateError::NotEstimated`], [`EstimateError::NotAllItems`].
    fn check(self, question: &Question, items: usize) -> Result<(), EstimateError> {
        let estimated = estimands(question);
        for &estimand in self.needs() {
            if !estimated.contains(&estimand) {
                return Err(EstimateError::NotEstimated {
                    post: self,
                    estimand,
                });
            }
        }
        match self {
            Self::ConditionalMean => Ok(()),
            Self::Projection
                if question.items().count().map(|count| count as usize) == Some(items) =>
            {
                Ok(())
            }
            Self::Projection => Err(EstimateError::NotAllItems { post: self }),
        }
    }
}

impl FromStr for PostProcessing {
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
