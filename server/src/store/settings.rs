//! Settings of a task. They concern the collector and are not part of the task, so they may change
//! while reports come in.

use serde::{Deserialize, Serialize};

/// Settings that control how a task is collected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskSettings {
    /// Conditions under which batches are closed.
    pub batch: BatchSettings,
    /// Number of days for which the reports of a released batch are kept, or `None` for ever.
    /// Totals are always kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_reports_days: Option<u32>,
    /// Web origins of the pages that may send reports, as browsers write them: a scheme, a host and
    /// perhaps a port, or `null` for pages without an origin. `None` allows any origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<String>>,
    /// Maximum number of reports in one upload, 1 or more. `None` sets no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_reports: Option<u32>,
}

/// Returns true if `text` is an origin as browsers write it: in lower case, without path or user.
fn is_web_origin(text: &str) -> bool {
    let host = |host: &str| {
        let of_host =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._:[]".contains(c);
        !host.is_empty() && host.chars().all(of_host)
    };
    text == "null"
        || text.split_once("://").is_some_and(|(scheme, rest)| {
            !scheme.is_empty()
                && scheme.chars().all(|c| c.is_ascii_lowercase() || c == '-')
                && host(rest)
        })
}

/// Conditions under which batches are closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BatchSettings {
    /// Minimum number of reports in a released batch, 1 to 1000000. Each person is hidden among
    /// these reports.
    pub least: u64,
    /// Number of reports at which a batch is closed, `least` to 1000000.
    pub most: u64,
    /// Age in hours at which a batch is closed, if it has at least `least` reports. 0 disables
    /// closing by age.
    pub hours: u32,
}

impl BatchSettings {
    /// Maximum number of reports in a batch. All of them are held in memory while the batch is
    /// released.
    pub const MOST_REPORTS: u64 = 1_000_000;

    /// Returns true if an open batch with `reports` reports, opened `seconds` ago, is due to be
    /// closed.
    pub(super) fn is_due(&self, reports: u64, seconds: u64) -> bool {
        let Self { least, most, hours } = *self;
        let old = hours > 0 && seconds >= u64::from(hours) * 3600;
        reports >= most || (old && reports >= least)
    }
}

impl Default for BatchSettings {
    fn default() -> Self {
        Self {
            least: 1000,
            most: 100_000,
            hours: 24,
        }
    }
}

/// A setting that is out of range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {value}, expected {expected}")]
pub struct TaskSettingsError {
    /// Name of the setting.
    pub name: &'static str,
    /// Value that was refused.
    pub value: String,
    /// Values that are allowed.
    pub expected: &'static str,
}

impl TaskSettings {
    /// Checks that every setting is in range.
    ///
    /// # Errors
    /// When a setting is out of range.
    pub fn check(&self) -> Result<(), TaskSettingsError> {
        let BatchSettings { least, most, .. } = self.batch;
        let checks = [
            (
                "batch.least",
                least,
                (1..=BatchSettings::MOST_REPORTS).contains(&least),
                "1 to 1000000",
            ),
            (
                "batch.most",
                most,
                (least..=BatchSettings::MOST_REPORTS).contains(&most),
                "batch.least to 1000000",
            ),
            (
                "upload_reports",
                self.upload_reports.map_or(1, u64::from),
                self.upload_reports != Some(0),
                "1 or more",
            ),
        ];
        for (name, value, right, expected) in checks {
            if !right {
                return Err(TaskSettingsError {
                    name,
                    value: value.to_string(),
                    expected,
                });
            }
        }
        if let Some(value) = self
            .origins
            .iter()
            .flatten()
            .find(|own| !is_web_origin(own))
        {
            return Err(TaskSettingsError {
                name: "origins",
                value: format!("{value:?}"),
                expected: "origins as browsers write them, such as \"https://example.org\"",
            });
        }
        Ok(())
    }
}
