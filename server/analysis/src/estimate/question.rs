//! What is asked: which items, at which confidence.

use hushbin::{Items, Task};
use serde::Serialize;

use super::{Estimand, PostProcessing, Quantiles};

/// How to ask for estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The items asked for, by name (or index, where they are counted); all if
    /// `None`, which an open task refuses.
    pub items: Option<Vec<String>>,
    /// Confidence of every interval, in [0.5, 1).
    pub confidence: f64,
    /// What to make of the estimates, beside themselves.
    pub post: Vec<PostProcessing>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            items: None,
            confidence: 0.95,
            post: Vec::new(),
        }
    }
}

/// Why estimates cannot be given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// An item that the task does not have.
    #[error("the task has no item {item:?}")]
    UnknownItem {
        /// What was asked for.
        item: String,
    },
    /// The same item twice, which would widen the simultaneous intervals.
    #[error("item {item:?} is asked for twice")]
    DuplicateItem {
        /// What was asked for.
        item: String,
    },
    /// An open task has no list of items.
    #[error("the task is open: name the items to estimate")]
    ItemsNeeded,
    /// Not a confidence.
    #[error("confidence is {confidence}, expected 0.5 to 0.999999999")]
    Confidence {
        /// What was asked for.
        confidence: f64,
    },
    /// No post-processing has this name.
    #[error("no post-processing is called {name:?}, expected conditional-mean or projection")]
    UnknownPostProcessing {
        /// What was asked for.
        name: String,
    },
    /// A post-processing of what the task's mechanism does not estimate.
    #[error("{} needs estimates of {}, which the task's mechanism does not give",
        post.as_str(), estimand.as_str())]
    NotEstimated {
        /// What was asked for.
        post: PostProcessing,
        /// What is missing.
        estimand: Estimand,
    },
    /// A post-processing of all items together, for some.
    #[error("{} is of all items of a closed task together: name none", post.as_str())]
    NotAllItems {
        /// What was asked for.
        post: PostProcessing,
    },
}

/// A validated question: which items, at which confidence, and what to make of
/// the estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
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

impl Question {
    /// # Errors
    /// Any [`EstimateError`].
    pub fn new(task: &Task, options: &Options) -> Result<Self, EstimateError> {
        let (items, labels) = match &options.items {
            None => all_items(task)?,
            Some(names) => named_items(task, names)?,
        };
        for post in &options.post {
            post.check(task, items.len())?;
        }
        Ok(Self {
            post: options.post.clone(),
            quantiles: Quantiles::new(options.confidence, items.len())?,
            items,
            labels,
        })
    }

    /// Indices or keys of the items.
    #[must_use]
    pub fn items(&self) -> &[u64] {
        &self.items
    }
}

fn all_items(task: &Task) -> Result<(Vec<u64>, Vec<Label>), EstimateError> {
    let labels = match task.items() {
        Items::Named(names) => names.iter().cloned().map(Label::Name).collect(),
        Items::Count(count) => (0..u64::from(*count)).map(Label::Index).collect(),
        Items::Open(_) => return Err(EstimateError::ItemsNeeded),
    };
    let labels: Vec<Label> = labels;
    Ok(((0..labels.len() as u64).collect(), labels))
}

fn named_items(task: &Task, names: &[String]) -> Result<(Vec<u64>, Vec<Label>), EstimateError> {
    // One pass over the list, rather than one for every name.
    let by_name: Option<std::collections::HashMap<&str, u64>> = match task.items() {
        Items::Named(all) => Some(all.iter().map(String::as_str).zip(0..).collect()),
        Items::Count(_) | Items::Open(_) => None,
    };
    let mut seen = std::collections::HashSet::new();
    let mut items = Vec::with_capacity(names.len());
    let mut labels = Vec::with_capacity(names.len());
    for name in names {
        let found = match &by_name {
            Some(by_name) => by_name.get(name.as_str()).copied(),
            None => task.items().resolve(name),
        };
        let item = found.ok_or_else(|| EstimateError::UnknownItem { item: name.clone() })?;
        if !seen.insert(item) {
            return Err(EstimateError::DuplicateItem { item: name.clone() });
        }
        items.push(item);
        labels.push(match task.items() {
            Items::Count(_) => Label::Index(item),
            Items::Named(_) | Items::Open(_) => Label::Name(name.clone()),
        });
    }
    Ok((items, labels))
}
