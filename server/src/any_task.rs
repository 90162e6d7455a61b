//! Tasks of either trust: whose reports hide their senders by themselves, or whose messages a
//! shuffler hides.

use hushbin::sums::{SumDraft, SumTask};
use hushbin::{Error, Fingerprint, Task, TaskDraft};
use hushbin_analysis::estimate::Totals;
use hushbin_analysis::sums::{self, SumTotals};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::beside_schema;

/// A task that is collected.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AnyTask {
    /// Whose reports are private by themselves.
    Reports(Task),
    /// Whose messages a shuffler hides, and nothing else.
    Sums(SumTask),
}

/// A task of which something may still have to be chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyDraft {
    /// Of an [`AnyTask::Reports`].
    Reports(TaskDraft),
    /// Of an [`AnyTask::Sums`].
    Sums(SumDraft),
}

impl AnyTask {
    /// The slug that it goes by.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Reports(task) => task.id(),
            Self::Sums(task) => task.id(),
        }
    }

    /// Identity of its parameters.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Reports(task) => task.fingerprint(),
            Self::Sums(task) => task.fingerprint(),
        }
    }

    /// The task whose reports are private by themselves.
    #[must_use]
    pub const fn reports(&self) -> Option<&Task> {
        match self {
            Self::Reports(task) => Some(task),
            Self::Sums(_) => None,
        }
    }

    /// Bytes of the longest report, or message.
    #[must_use]
    pub fn report_bytes(&self) -> usize {
        match self {
            Self::Reports(task) => task.report_bytes(),
            Self::Sums(task) => task.message_bytes(),
        }
    }

    /// Encoded totals of nothing.
    pub(crate) fn no_totals(&self) -> Vec<u8> {
        match self {
            Self::Reports(task) => Totals::new(task).encode(),
            Self::Sums(task) => SumTotals::new(task).encode(),
        }
    }

    /// Of how many reports, or messages, these are the encoded totals; `None` where they are of
    /// none of the task.
    pub(crate) fn counted(&self, totals: &[u8]) -> Option<u64> {
        match self {
            Self::Reports(task) => Totals::decode(task, totals).ok().map(|own| own.reports()),
            Self::Sums(task) => SumTotals::decode(task, totals)
                .ok()
                .map(|own| own.messages()),
        }
    }

    /// How many of the bytes are the report, or message, that they begin with.
    ///
    /// # Errors
    /// [`Error::Malformed`] where they begin with none of the task.
    pub(crate) fn measure_report(&self, bytes: &[u8]) -> Result<usize, Error> {
        match self {
            Self::Reports(task) => task.take_report(bytes).map(|(_, length)| length),
            Self::Sums(task) => task.take_message(bytes).map(|(_, length)| length),
        }
    }

    /// Reports, or messages, that a batch must have whatever its settings are.
    pub(crate) fn batch_least(&self) -> u64 {
        match self {
            Self::Reports(_) => 1,
            Self::Sums(task) => task.batch_messages(),
        }
    }

    /// Reports that each upload has, where everybody sends as many.
    pub(crate) const fn upload_reports(&self) -> Option<u32> {
        match self {
            Self::Reports(_) => None,
            Self::Sums(task) => Some(task.messages().count()),
        }
    }
}

impl From<Task> for AnyTask {
    fn from(task: Task) -> Self {
        Self::Reports(task)
    }
}

impl From<SumTask> for AnyTask {
    fn from(task: SumTask) -> Self {
        Self::Sums(task)
    }
}

impl AnyDraft {
    /// The draft's id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Reports(draft) => &draft.id,
            Self::Sums(draft) => &draft.parts.id,
        }
    }

    /// The complete task. Of sums it is checked that they are as private as they say.
    ///
    /// # Errors
    /// When parameters have no meaning, do not go together or hide too little.
    pub fn resolve(&self) -> Result<AnyTask, Error> {
        match self {
            Self::Reports(draft) => draft.resolve().map(AnyTask::Reports),
            Self::Sums(draft) => sums::resolve(draft).map(AnyTask::Sums),
        }
    }

    /// The check that it is the draft of this task.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] for the first field that differs.
    pub fn agrees_with(&self, task: &AnyTask) -> Result<(), Error> {
        match (self, task) {
            (Self::Reports(draft), AnyTask::Reports(task)) => draft.agrees_with(task),
            (Self::Sums(draft), AnyTask::Sums(task)) => draft.agrees_with(task),
            (Self::Reports(_), AnyTask::Sums(_)) => Err(trust("nobody", "shuffler")),
            (Self::Sums(_), AnyTask::Reports(_)) => Err(trust("shuffler", "nobody")),
        }
    }
}

fn trust(given: &str, in_use: &str) -> Error {
    Error::TaskDiffers {
        field: "trust",
        given: given.to_owned(),
        in_use: in_use.to_owned(),
    }
}

impl From<TaskDraft> for AnyDraft {
    fn from(draft: TaskDraft) -> Self {
        Self::Reports(draft)
    }
}

impl From<SumDraft> for AnyDraft {
    fn from(draft: SumDraft) -> Self {
        Self::Sums(draft)
    }
}

/// What tells one from the other.
#[derive(Deserialize)]
struct Trusting {
    trust: Option<de::IgnoredAny>,
}

impl AnyDraft {
    /// Whether a task file's text says whom the task trusts, which sums do and nothing else.
    pub(crate) fn says_trust(text: &str) -> bool {
        let read: serde_json::Result<Trusting> = serde_json::from_str(text);
        read.is_ok_and(|read| read.trust.is_some())
    }

    /// The draft of a task file's text, which may note its schema.
    ///
    /// # Errors
    /// When it is none; the message names line and column.
    pub(crate) fn parse(text: &str) -> serde_json::Result<Self> {
        match serde_json::from_str::<Trusting>(text)?.trust {
            Some(_) => beside_schema::from_str(text).map(Self::Sums),
            None => beside_schema::from_str(text).map(Self::Reports),
        }
    }
}

/// The one or the other, by whether it says whom it trusts.
fn by_trust<'de, D, Own, Reports, Sums>(deserializer: D) -> Result<Own, D::Error>
where
    D: Deserializer<'de>,
    Own: From<Reports> + From<Sums>,
    Reports: de::DeserializeOwned,
    Sums: de::DeserializeOwned,
{
    let value = serde_json::Value::deserialize(deserializer)?;
    match value.get("trust") {
        Some(_) => serde_json::from_value::<Sums>(value).map(Own::from),
        None => serde_json::from_value::<Reports>(value).map(Own::from),
    }
    .map_err(de::Error::custom)
}

impl<'de> Deserialize<'de> for AnyTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_trust::<D, Self, Task, SumTask>(deserializer)
    }
}

impl<'de> Deserialize<'de> for AnyDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_trust::<D, Self, TaskDraft, SumDraft>(deserializer)
    }
}
