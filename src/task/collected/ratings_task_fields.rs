//! Fields of a task of one question.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::domain::ValueKind;
use crate::mechanism::Mechanism;
use crate::task::items::Items;
use crate::task::local::kind::QuestionKind;
use crate::task::local::question::QuestionFields;

/// Fields of a [`Task`](crate::Task) with a single question of kind `ratings`; not yet validated.
///
/// ```
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
/// use hushbin::{Items, Task, RatingsTaskFields, ValueKind};
///
/// let collision = Collision::new(FavouredBucketRule::Heaviest { favoured: 2 }, HashFamily::Balanced, 12)?;
/// let parts = RatingsTaskFields {
///     id: "settings".into(),
///     items: Items::Count(40),
///     sparsity: 3,
///     epsilon: 1.0,
///     value: ValueKind::Sign,
///     mechanism: collision.into(),
/// };
/// assert_eq!(Task::new(parts)?.id(), "settings");
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatingsTaskFields {
    /// Id, a slug: 1 to 64 characters from a-z, 0-9 and '-'. The first one is a letter or digit.
    pub id: String,
    /// Items that the question asks about.
    pub items: Items,
    /// Sparsity s: number of entries of an input that one report covers, in
    /// [`bounds::SPARSITY`](crate::bounds::SPARSITY_RANGE). It is at most the number of items.
    pub sparsity: u32,
    /// Local budget ε of one report, in [`bounds::EPSILON`](crate::bounds::EPSILON_RANGE).
    pub epsilon: f64,
    /// Range of the values: signs or real numbers.
    pub value: ValueKind,
    /// Mechanism with all its parameters.
    pub mechanism: Mechanism,
}

impl RatingsTaskFields {
    /// Splits the fields into the task's id and its question.
    pub(super) fn into_id_and_fields(self) -> (String, QuestionFields) {
        // Destructuring makes the compiler report a field that is added and not used here.
        let Self {
            id,
            items,
            sparsity,
            epsilon,
            value,
            mechanism,
        } = self;
        let question = QuestionFields {
            name: String::new(),
            kind: QuestionKind::Ratings(value),
            items,
            max_entries_per_report: sparsity,
            weight: 1,
            epsilon,
            mechanism,
        };
        (id, question)
    }
}
