//! Description of a file of reports: all data needed to estimate from it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hushbin::{Fingerprint, Task};
use serde::{Deserialize, Serialize};

use crate::format_version::json_format_version;
use crate::store::BatchRow;

/// Version of the format of descriptions and of files of reports. Descriptions of later versions
/// have a key `version`. Version 1 does not have this key.
const REPORT_FILES_VERSION: u64 = 1;

/// Task of the reports in a file, and the number of reports in each batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportsDescription {
    /// Complete task.
    pub(crate) task: Task,
    /// Fingerprint of the task.
    pub(crate) fingerprint: Fingerprint,
    /// Batches whose reports are in the file.
    pub(crate) batches: Vec<ExportedBatch>,
}

/// Batch whose reports are in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportedBatch {
    pub(crate) number: u64,
    pub(crate) reports: u64,
    /// Time when the batch was opened, in seconds since 1970. `closed` has the same unit.
    opened: u64,
    closed: Option<u64>,
}

impl ReportsDescription {
    pub(crate) fn new(task: &Task, batches: &[BatchRow]) -> Self {
        let exported = |row: &BatchRow| ExportedBatch {
            number: row.number,
            reports: row.report_count,
            opened: row.opened_at,
            closed: row.closed_at,
        };
        Self {
            task: task.clone(),
            fingerprint: task.fingerprint(),
            batches: batches.iter().map(exported).collect(),
        }
    }

    pub(crate) fn to_json(&self) -> String {
        // A task is plain data with string keys, which JSON can always represent.
        serde_json::to_string_pretty(self).expect("a task can be written as JSON") + "\n"
    }

    /// Parses a description that [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// Message that names the mistake and the expected value.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let found = json_format_version(text.as_bytes()).map_err(|error| error.to_string())?;
        if found != REPORT_FILES_VERSION {
            return Err(format!(
                "it has version {found}, this hushbin supports version {REPORT_FILES_VERSION}"
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

/// Returns the path of the description of a CSV or JSON lines file: the same name plus
/// `.task.json`.
pub(crate) fn description_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".task.json");
    name.into()
}
