//! What it takes to estimate from a file of reports.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hushbin::{Fingerprint, Task};
use serde::{Deserialize, Serialize};

use crate::format_version::version_of;
use crate::store::BatchRow;

/// Version of files of reports and of what describes them. It is said by the key `version` of a
/// description, which this version does not have and every later one has.
const VERSION: u64 = 1;

/// The task of the reports in a file, and how many there are of each batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    /// The complete task.
    pub(crate) task: Task,
    /// The task's.
    pub(crate) fingerprint: Fingerprint,
    /// All whose reports are in the file.
    pub(crate) batches: Vec<Exported>,
}

/// A batch whose reports are in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exported {
    pub(crate) number: u64,
    pub(crate) reports: u64,
    /// When it was opened and closed, in seconds since 1970.
    opened: u64,
    closed: Option<u64>,
}

impl Description {
    pub(crate) fn new(task: &Task, batches: &[BatchRow]) -> Self {
        let exported = |row: &BatchRow| Exported {
            number: row.number,
            reports: row.reports,
            opened: row.opened,
            closed: row.closed,
        };
        Self {
            task: task.clone(),
            fingerprint: task.fingerprint(),
            batches: batches.iter().map(exported).collect(),
        }
    }

    pub(crate) fn write(&self) -> String {
        // A task is plain data with text keys, which JSON always holds.
        serde_json::to_string_pretty(self).expect("a task can be written as JSON") + "\n"
    }

    /// The description that was written so.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let found = version_of(text.as_bytes()).map_err(|error| error.to_string())?;
        if found != VERSION {
            return Err(format!(
                "it has version {found}, this hushbin knows version {VERSION}"
            ));
        }
        let read: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match read.task.fingerprint() == read.fingerprint {
            true => Ok(read),
            false => Err(format!(
                "the task has the fingerprint {}, expected {}",
                read.task.fingerprint(),
                read.fingerprint
            )),
        }
    }
}

/// Where the description of a file of CSV or JSON lines is: beside it.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".task.json");
    name.into()
}
