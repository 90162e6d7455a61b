//! Question of a task, with the mechanism that randomises its answers.

use alloc::string::String;

use super::kind::QuestionKind;
use crate::bounds;
use crate::domain::{Domain, ValueKind};
use crate::error::Error;
use crate::mechanism::Mechanism;
use crate::task::items::Items;

/// Question with the mechanism that randomises its answers.
///
/// ```
/// use hushbin::task::QuestionKind;
///
/// let task: hushbin::Task = serde_json::from_str(r#"{
///     "id": "settings",
///     "epsilon": 1.0,
///     "questions": [{
///         "name": "theme", "kind": "choice", "options": ["dark", "light", "system"],
///         "mechanism": {
///             "name": "collision", "rule": "heaviest", "favoured": 1,
///             "hashing": "balanced", "buckets": 3
///         }
///     }]
/// }"#).unwrap();
/// let theme = &task.questions()[0];
/// assert_eq!((theme.name(), theme.kind()), ("theme", &QuestionKind::Choice));
/// assert_eq!(theme.domain().element_count(), Some(3));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Question(pub(in crate::task) QuestionFields);

/// Fields of a [`Question`], not yet validated.
///
/// ```
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
/// use hushbin::task::{QuestionKind, QuestionFields};
/// use hushbin::{Items, Question};
///
/// let collision = Collision::new(FavouredBucketRule::Heaviest { favoured: 1 }, HashFamily::Balanced, 3)?;
/// let theme = Question::new(QuestionFields {
///     name: "theme".into(),
///     kind: QuestionKind::Choice,
///     items: Items::Count(3),
///     max_entries_per_report: 1,
///     weight: 1,
///     epsilon: 1.0,
///     mechanism: collision.into(),
/// })?;
/// assert!(theme.achieved_report_epsilon() <= 1.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionFields {
    /// Name, 1 to 256 bytes without control characters. The name may be empty if the question is of
    /// kind `ratings` and the only one of its task.
    pub name: String,
    /// Kind of the question.
    pub kind: QuestionKind,
    /// Items that the question asks about. For some kinds, the kind determines the items:
    ///
    /// - `flag`: two items without names, no and yes
    /// - `number`: the cells of its scale
    /// - `cross`, `together`: the cells
    /// - `numbers`: the names of the numbers
    /// - `text`: open
    pub items: Items,
    /// Sparsity s, in [`bounds::SPARSITY_RANGE`], at most the number of items. It is 1 for kinds with one
    /// answer. It is the number of items for `numbers`, and the number of parts for `together`.
    pub max_entries_per_report: u32,
    /// Relative frequency with which seeds select the question, in [`bounds::QUESTION_WEIGHT_RANGE`].
    pub weight: u32,
    /// Local budget ε of one report, in [`bounds::EPSILON_RANGE`].
    pub epsilon: f64,
    /// Mechanism with all its parameters.
    pub mechanism: Mechanism,
}

impl Question {
    /// Validates and creates a question whose items fit its kind. Items that are read from
    /// canonical bytes always fit.
    pub(in crate::task) fn from_consistent_fields(parts: QuestionFields) -> Result<Self, Error> {
        let question = Self(parts);
        question
            .check_fields()
            .map_err(|error| question.add_question_to_error(error))?;
        Ok(question)
    }

    /// Checks all fields except the name.
    pub(in crate::task) fn check_fields(&self) -> Result<(), Error> {
        let domain = checked_question_domain(
            &self.0.kind,
            &self.0.items,
            self.0.max_entries_per_report,
            self.0.epsilon,
        )?;
        bounds::QUESTION_WEIGHT_RANGE.check_in_range(f64::from(self.0.weight))?;
        self.0.mechanism.check_domain(&domain)
    }

    /// Attributes an error to this question, if the question has a name.
    pub(crate) fn add_question_to_error(&self, error: Error) -> Error {
        error.with_question_if_named(&self.0.name)
    }

    /// Returns the question's name, under which answers are given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the kind of the question.
    #[must_use]
    pub const fn kind(&self) -> &QuestionKind {
        &self.0.kind
    }

    /// Returns the relative frequency with which seeds select the question.
    #[must_use]
    pub const fn weight(&self) -> u32 {
        self.0.weight
    }

    /// Returns the requested local budget ε of one report.
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.0.epsilon
    }

    /// Returns the mechanism with its parameters.
    #[must_use]
    pub const fn mechanism(&self) -> &Mechanism {
        &self.0.mechanism
    }

    /// Returns the range of the values that entries have after an answer is coded.
    #[must_use]
    pub const fn coded_value_kind(&self) -> ValueKind {
        self.0.kind.coded_value_kind()
    }

    /// Returns the domain that the mechanism randomises.
    #[must_use]
    pub fn domain(&self) -> Domain {
        self.0
            .kind
            .domain(&self.0.items, self.0.max_entries_per_report)
    }
}

/// Checks the kind, the items, the sparsity and ε of a question, and returns the domain.
pub(crate) fn checked_question_domain(
    kind: &QuestionKind,
    items: &Items,
    sparsity: u32,
    epsilon: f64,
) -> Result<Domain, Error> {
    kind.check_items_and_parts(items, sparsity, epsilon)?;
    let most = items.item_count().map_or(bounds::SPARSITY_RANGE.max, |d| {
        bounds::SPARSITY_RANGE.max.min(f64::from(d))
    });
    bounds::SPARSITY_RANGE
        .with_max(most)
        .check_in_range(f64::from(sparsity))?;
    bounds::EPSILON_RANGE.check_in_range(epsilon)?;
    Ok(kind.domain(items, sparsity))
}
