//! Tasks that a collector serves, and drafts of such tasks. A task collects reports or sums.

use std::ops::RangeInclusive;

use hushbin::sums::{SumTask, SumTaskDraft};
use hushbin::{Error, Fingerprint, Task, TaskDraft, sealed};
use hushbin_analysis::estimate::Totals;
use hushbin_analysis::sums::{self, SumTotals};
use serde::{Deserialize, Deserializer, Serialize, de};

use super::file_keys;

/// A collected task: local-DP reports, or sums through a shuffler.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ReportOrSumTask {
    /// Local-DP reports, which are private without a shuffler.
    Reports(Task),
    /// Messages of shuffled sums, which are private only with a shuffler.
    Sums(SumTask),
}

/// Draft of a collected task, with parameters that may still have to be chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum ReportOrSumDraft {
    /// Draft of a [`ReportOrSumTask::Reports`].
    Reports(TaskDraft),
    /// Draft of a [`ReportOrSumTask::Sums`].
    Sums(SumTaskDraft),
}

impl ReportOrSumTask {
    /// Returns the task's id, a slug.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Reports(task) => task.id(),
            Self::Sums(task) => task.id(),
        }
    }

    /// Returns the hash of the task's parameters.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Reports(task) => task.fingerprint(),
            Self::Sums(task) => task.fingerprint(),
        }
    }

    /// Returns the same task with a label in its id.
    ///
    /// # Errors
    /// When the label is invalid, or the task has one.
    pub(crate) fn with_label(&self, label: &str) -> serde_json::Result<Self> {
        let mut value = serde_json::to_value(self)?;
        value["id"] = format!("{}:{label}", self.id()).into();
        serde_json::from_value(value)
    }

    /// Returns the task of local-DP reports, or `None` for a task of sums.
    #[must_use]
    pub const fn report_task(&self) -> Option<&Task> {
        match self {
            Self::Reports(task) => Some(task),
            Self::Sums(_) => None,
        }
    }

    /// Converts to the task of local-DP reports, or to `None` for a task of sums.
    pub(crate) fn into_report_task(self) -> Option<Task> {
        match self {
            Self::Reports(task) => Some(task),
            Self::Sums(_) => None,
        }
    }

    /// Returns the task of shuffled sums, or `None` for a task of reports.
    #[must_use]
    pub const fn sum_task(&self) -> Option<&SumTask> {
        match self {
            Self::Reports(_) => None,
            Self::Sums(task) => Some(task),
        }
    }

    /// Returns the length of the longest report or message in bytes.
    #[must_use]
    pub fn max_report_length(&self) -> usize {
        match self {
            Self::Reports(task) => task.max_single_report_bytes(),
            Self::Sums(task) => task.longest_message_bytes(),
        }
    }

    /// Returns the length of a sealed report or message in bytes.
    pub(crate) fn sealed_report_length(&self) -> usize {
        sealed::SEALING_OVERHEAD_BYTES + self.max_report_length()
    }

    /// Returns encoded totals that count no reports.
    pub(crate) fn empty_totals(&self) -> Vec<u8> {
        match self {
            Self::Reports(task) => Totals::new(task).encode(),
            Self::Sums(task) => SumTotals::new(task).encode(),
        }
    }

    /// Returns the number of reports, or of people in a task of sums, in encoded totals; `None` if
    /// `totals` does not belong to this task.
    pub(crate) fn reports_in_totals(&self, totals: &[u8]) -> Option<u64> {
        match self {
            Self::Reports(task) => Totals::decode(task, totals)
                .ok()
                .map(|own| own.report_count()),
            Self::Sums(task) => SumTotals::decode(task, totals)
                .ok()
                .map(|own| own.people_count()),
        }
    }

    /// Returns the length of the report or message at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if `bytes` does not start with a report or message of this task.
    pub(crate) fn leading_report_length(&self, bytes: &[u8]) -> Result<usize, Error> {
        match self {
            Self::Reports(task) => task.decode_first_report(bytes).map(|(_, length)| length),
            Self::Sums(task) => task.decode_first_message(bytes).map(|(_, length)| length),
        }
    }

    /// Returns the minimum number of reports in a batch, regardless of settings. In a task of sums,
    /// the messages of one person count as one report.
    pub(crate) fn min_batch_reports(&self) -> u64 {
        match self {
            Self::Reports(_) => 1,
            Self::Sums(task) => task.min_people(),
        }
    }

    /// Returns the maximum number of messages that count as one report: those of one person.
    pub(crate) fn max_messages_per_report(&self) -> u64 {
        let each = self.messages_per_upload();
        each.map_or(1, |each| u64::from(*each.end()))
    }

    /// Returns the minimum and maximum number of messages in each upload. Returns `None` for a task
    /// of reports, which does not limit the number of reports in an upload.
    pub(crate) fn messages_per_upload(&self) -> Option<RangeInclusive<u32>> {
        match self {
            Self::Reports(_) => None,
            Self::Sums(task) => Some(task.message_count_range()),
        }
    }
}

impl From<Task> for ReportOrSumTask {
    fn from(task: Task) -> Self {
        Self::Reports(task)
    }
}

impl From<SumTask> for ReportOrSumTask {
    fn from(task: SumTask) -> Self {
        Self::Sums(task)
    }
}

impl ReportOrSumDraft {
    /// Returns the task's id, a slug.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Reports(draft) => &draft.id,
            Self::Sums(draft) => &draft.task_fields.id,
        }
    }

    /// Returns the complete task. For sums, checks that the promised privacy holds.
    pub fn resolve_task(&self) -> Result<ReportOrSumTask, Error> {
        match self {
            Self::Reports(draft) => draft.resolve_task().map(ReportOrSumTask::Reports),
            Self::Sums(draft) => sums::resolve_sum_draft(draft).map(ReportOrSumTask::Sums),
        }
    }

    /// Checks that this is a draft of `task`.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] for the first field that differs.
    pub fn check_agrees_with(&self, task: &ReportOrSumTask) -> Result<(), Error> {
        match (self, task) {
            (Self::Reports(draft), ReportOrSumTask::Reports(task)) => draft.check_agrees_with(task),
            (Self::Sums(draft), ReportOrSumTask::Sums(task)) => draft.check_matches_task(task),
            (Self::Reports(_), ReportOrSumTask::Sums(_)) => {
                Err(trust_differs_error("nobody", "shuffler"))
            }
            (Self::Sums(_), ReportOrSumTask::Reports(_)) => {
                Err(trust_differs_error("shuffler", "nobody"))
            }
        }
    }
}

fn trust_differs_error(given: &str, in_use: &str) -> Error {
    Error::TaskDiffers {
        field: "trust",
        given: given.to_owned(),
        in_use: in_use.to_owned(),
    }
}

impl From<TaskDraft> for ReportOrSumDraft {
    fn from(draft: TaskDraft) -> Self {
        Self::Reports(draft)
    }
}

impl From<SumTaskDraft> for ReportOrSumDraft {
    fn from(draft: SumTaskDraft) -> Self {
        Self::Sums(draft)
    }
}

/// Probe for the key `trust`, which only tasks of sums have.
#[derive(Deserialize)]
struct TrustProbe {
    trust: Option<de::IgnoredAny>,
}

impl ReportOrSumDraft {
    /// Returns true if the text of a task file has the key `trust`. Only tasks of sums have this
    /// key.
    pub(crate) fn has_trust_key(text: &str) -> bool {
        let read: serde_json::Result<TrustProbe> = serde_json::from_str(text);
        read.is_ok_and(|read| read.trust.is_some())
    }

    /// Parses the text of a task file. Returns the draft, and the labels if the file has some.
    ///
    /// # Errors
    /// When the text is not a draft. The message contains line and column.
    pub(crate) fn parse_file(text: &str) -> serde_json::Result<(Self, Vec<String>)> {
        Ok(match serde_json::from_str::<TrustProbe>(text)?.trust {
            Some(_) => {
                let (draft, labels) = file_keys::parse_with_file_keys(text)?;
                (Self::Sums(draft), labels)
            }
            None => {
                let (draft, labels) = file_keys::parse_with_file_keys(text)?;
                (Self::Reports(draft), labels)
            }
        })
    }

    /// Returns the draft of the task for one label.
    #[must_use]
    pub(crate) fn with_label(mut self, label: &str) -> Self {
        let id = match &mut self {
            Self::Reports(draft) => &mut draft.id,
            Self::Sums(draft) => &mut draft.task_fields.id,
        };
        *id = format!("{id}:{label}");
        self
    }
}

/// Deserializes a task or a draft. If there is a key `trust`, the task or draft is one of sums.
/// Otherwise it is one of reports.
fn deserialize_by_trust<'de, D, Own, Reports, Sums>(deserializer: D) -> Result<Own, D::Error>
where
    D: Deserializer<'de>,
    Own: From<Reports> + From<Sums>,
    Reports: de::DeserializeOwned,
    Sums: de::DeserializeOwned,
{
    // Buffered as a value, because the key `trust` may come last.
    let value = serde_json::Value::deserialize(deserializer)?;
    match value.get("trust") {
        Some(_) => serde_json::from_value::<Sums>(value).map(Own::from),
        None => serde_json::from_value::<Reports>(value).map(Own::from),
    }
    .map_err(de::Error::custom)
}

impl<'de> Deserialize<'de> for ReportOrSumTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_by_trust::<D, Self, Task, SumTask>(deserializer)
    }
}

impl<'de> Deserialize<'de> for ReportOrSumDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_by_trust::<D, Self, TaskDraft, SumTaskDraft>(deserializer)
    }
}
