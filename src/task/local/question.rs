//! One thing that a task asks, and how it is answered.

use alloc::string::String;

use super::kind::Kind;
use crate::bounds;
use crate::domain::{Domain, ValueKind};
use crate::error::Error;
use crate::mechanism::Mechanism;
use crate::task::items::Items;

/// A question with the mechanism that randomises its answers.
///
/// ```
/// use hushbin::task::Kind;
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
/// assert_eq!((theme.name(), theme.kind()), ("theme", &Kind::Choice));
/// assert_eq!(theme.domain().elements(), Some(3));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Question(pub(in crate::task) QuestionParts);

/// The fields of a [`Question`], not yet validated.
///
/// ```
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::collision::{Collision, Rule};
/// use hushbin::task::{Kind, QuestionParts};
/// use hushbin::{Items, Question};
///
/// let collision = Collision::new(Rule::Heaviest { favoured: 1 }, Hashing::Balanced, 3)?;
/// let theme = Question::new(QuestionParts {
///     name: "theme".into(),
///     kind: Kind::Choice,
///     items: Items::Count(3),
///     sparsity: 1,
///     weight: 1,
///     epsilon: 1.0,
///     mechanism: collision.into(),
/// })?;
/// assert!(theme.effective_epsilon() <= 1.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionParts {
    /// A name, 1 to 256 bytes without control characters; empty in a task that asks
    /// nothing else and needs none.
    pub name: String,
    /// What is asked.
    pub kind: Kind,
    /// The items asked about: of a flag no and yes, two that are counted, of a number the
    /// cells of its scale, of a cross or of what is asked together its cells, of numbers
    /// their names, of a text all there are.
    pub items: Items,
    /// s, [`bounds::SPARSITY`], at most the number of items; 1 where one is named, of
    /// numbers all, of what is asked together the number of parts.
    pub sparsity: u32,
    /// How often the question is drawn, relative to others, [`bounds::WEIGHT`].
    pub weight: u32,
    /// Local budget ε of one report, [`bounds::EPSILON`].
    pub epsilon: f64,
    /// The mechanism with all its parameters.
    pub mechanism: Mechanism,
}

impl Question {
    /// The same of fields that go together, having been read from canonical bytes.
    pub(in crate::task) fn of_bytes(parts: QuestionParts) -> Result<Self, Error> {
        let question = Self(parts);
        question.check().map_err(|error| question.blame(error))?;
        Ok(question)
    }

    pub(in crate::task) fn check(&self) -> Result<(), Error> {
        let domain = check_asked(&self.0.kind, &self.0.items, self.0.sparsity, self.0.epsilon)?;
        bounds::WEIGHT.check(f64::from(self.0.weight))?;
        self.0.mechanism.check(&domain)
    }

    /// An error of this question, where it is one of several.
    pub(crate) fn blame(&self, error: Error) -> Error {
        error.of_question(&self.0.name)
    }

    /// The name that its answers go by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What is asked.
    #[must_use]
    pub const fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// How often the question is drawn, relative to others.
    #[must_use]
    pub const fn weight(&self) -> u32 {
        self.0.weight
    }

    /// The local budget ε asked for.
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.0.epsilon
    }

    /// The mechanism and its parameters.
    #[must_use]
    pub const fn mechanism(&self) -> &Mechanism {
        &self.0.mechanism
    }

    /// Values of entries, once they are coded.
    #[must_use]
    pub const fn value(&self) -> ValueKind {
        self.0.kind.value()
    }

    /// Items and sparsity, as mechanisms see them.
    #[must_use]
    pub fn domain(&self) -> Domain {
        self.0.kind.domain(&self.0.items, self.0.sparsity)
    }
}

/// Validates all but the mechanism.
pub(crate) fn check_asked(
    kind: &Kind,
    items: &Items,
    sparsity: u32,
    epsilon: f64,
) -> Result<Domain, Error> {
    kind.check(items, sparsity, epsilon)?;
    let most = items.count().map_or(bounds::SPARSITY.max, |d| {
        bounds::SPARSITY.max.min(f64::from(d))
    });
    bounds::SPARSITY.at_most(most).check(f64::from(sparsity))?;
    bounds::EPSILON.check(epsilon)?;
    Ok(kind.domain(items, sparsity))
}
