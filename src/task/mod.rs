//! What is asked, of which items, at which budget.

mod canonical;
mod items;
mod parts;

pub use items::{Items, Open, item_key};
pub use parts::TaskParts;

use alloc::borrow::ToOwned;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::domain::{Domain, ValueKind};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::mechanism::Mechanism;

/// A description of what is collected, under which parameters: complete and valid
/// by construction, also when it comes out of serde.
///
/// A task says everything that a report depends on. Its [`Fingerprint`] travels
/// in every upload, and a collector refuses reports made under another.
/// [`TaskDraft`](crate::TaskDraft) leaves the choice of parameters to hushbin.
///
/// ```
/// use hushbin::Task;
///
/// let task: Task = serde_json::from_str(r#"{
///     "id": "settings",
///     "items": ["dark-mode", "autoplay", "captions"],
///     "sparsity": 2,
///     "epsilon": 2.0,
///     "value": "sign",
///     "mechanism": {
///         "name": "collision", "rule": "heaviest", "favoured": 1,
///         "hashing": "balanced", "buckets": 8
///     }
/// }"#).unwrap();
/// assert!(task.effective_epsilon() <= 2.0);
///
/// let fingerprint = task.fingerprint().to_string();
/// assert_eq!(fingerprint.len(), 32);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TaskParts", into = "TaskParts")]
pub struct Task {
    parts: TaskParts,
    fingerprint: Fingerprint,
}

impl Task {
    /// A task of these fields, validated.
    ///
    /// # Errors
    /// [`Error::TaskId`], [`Error::OutOfRange`], [`Error::ItemName`],
    /// [`Error::DuplicateName`], or [`Error::Combination`] for parameters that
    /// do not go together.
    pub fn new(parts: TaskParts) -> Result<Self, Error> {
        parts.check()?;
        Ok(Self {
            fingerprint: Fingerprint::from_canonical(&canonical::write(&parts)),
            parts,
        })
    }

    /// The task of the bytes that [`Task::canonical_bytes`] gives.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any other bytes, and those of [`Task::new`].
    pub fn from_canonical_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let parts = canonical::read(bytes).ok_or(Error::Malformed {
            what: "task",
            offset: 0,
            reason: "expected the canonical bytes of a task",
        })??;
        parts.check()?;
        Ok(Self {
            fingerprint: Fingerprint::from_canonical(bytes),
            parts,
        })
    }

    /// All parameters that a report depends on, as the bytes that the
    /// [fingerprint](Task::fingerprint) is the hash of: numbers of eight bytes,
    /// little endian, and texts preceded by their length.
    ///
    /// ```
    /// use hushbin::{Task, TaskDraft};
    ///
    /// let draft: TaskDraft = serde_json::from_str(
    ///     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
    /// ).unwrap();
    /// let task = draft.resolve().unwrap();
    /// let bytes = task.canonical_bytes();
    /// assert_eq!(Task::from_canonical_bytes(&bytes), Ok(task));
    /// ```
    #[must_use]
    pub fn canonical_bytes(&self) -> Vec<u8> {
        canonical::write(&self.parts)
    }

    /// The slug that the task goes by.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.parts.id
    }

    /// The items asked about.
    #[must_use]
    pub const fn items(&self) -> &Items {
        &self.parts.items
    }

    /// s, how many entries of an input are reported on.
    #[must_use]
    pub const fn sparsity(&self) -> u32 {
        self.parts.sparsity
    }

    /// The local budget ε asked for.
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.parts.epsilon
    }

    /// Signs or real numbers.
    #[must_use]
    pub const fn value(&self) -> ValueKind {
        self.parts.value
    }

    /// The mechanism and its parameters.
    #[must_use]
    pub const fn mechanism(&self) -> &Mechanism {
        &self.parts.mechanism
    }

    /// Items and sparsity, as mechanisms see them.
    #[must_use]
    pub fn domain(&self) -> Domain {
        Domain::new(self.parts.items.count(), self.parts.sparsity)
    }

    /// Identity of all parameters that a report depends on, the id included.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The local ε that one report really spends: the largest log-ratio of
    /// output probabilities, from the thresholds that are sampled, rounded up.
    /// Never above [`Task::epsilon`].
    #[must_use]
    pub fn effective_epsilon(&self) -> f64 {
        self.parts
            .mechanism
            .effective_epsilon(&self.domain(), self.parts.epsilon)
    }
}

impl TryFrom<TaskParts> for Task {
    type Error = Error;

    fn try_from(parts: TaskParts) -> Result<Self, Error> {
        Self::new(parts)
    }
}

impl From<Task> for TaskParts {
    fn from(task: Task) -> Self {
        task.parts
    }
}

impl TaskParts {
    fn check(&self) -> Result<(), Error> {
        let domain = check_question(&self.id, &self.items, self.sparsity, self.epsilon)?;
        self.mechanism.check(&domain)
    }
}

/// Validates all but the mechanism.
pub(crate) fn check_question(
    id: &str,
    items: &Items,
    sparsity: u32,
    epsilon: f64,
) -> Result<Domain, Error> {
    let slug = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = id.as_bytes();
    let valid = (1..=64).contains(&bytes.len())
        && slug(bytes[0])
        && bytes.iter().all(|&byte| slug(byte) || byte == b'-');
    if !valid {
        return Err(Error::TaskId { id: id.to_owned() });
    }
    items.check()?;
    let most = items.count().map_or(bounds::SPARSITY.max, |d| {
        bounds::SPARSITY.max.min(f64::from(d))
    });
    bounds::SPARSITY.at_most(most).check(f64::from(sparsity))?;
    bounds::EPSILON.check(epsilon)?;
    Ok(Domain::new(items.count(), sparsity))
}
