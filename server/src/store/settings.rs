//! How a task is collected, which is the collector's business and no part of the task: it may
//! change while reports come in.

use serde::{Deserialize, Serialize};

/// How a task is collected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// When batches are closed.
    pub batch: BatchSettings,
    /// For how many days the reports of a released batch are kept; for ever where it is not
    /// said. Totals are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_reports_days: Option<u32>,
    /// Whose pages may send reports, as browsers write it: a scheme, a host and perhaps a port,
    /// or `null` of pages without an origin. Any where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<String>>,
    /// Reports that one upload may have, 1 or more; any number where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_reports: Option<u32>,
}

/// Whether this is an origin as browsers write it: in lower case, without path or user.
fn is_origin(text: &str) -> bool {
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

/// When batches are closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BatchSettings {
    /// Fewer reports than these are in no batch that is released, 1 to 1000000: a person is to
    /// hide among them.
    pub least: u64,
    /// A batch with as many reports is closed, `least` to 1000000.
    pub most: u64,
    /// A batch that was opened as many hours ago is closed, once it has `least` reports; never
    /// where it is 0.
    pub hours: u32,
}

impl BatchSettings {
    /// Most reports in a batch, which are held in memory while it is released.
    pub const MOST_REPORTS: u64 = 1_000_000;

    /// Whether an open batch of so many reports that was opened so many seconds ago is closed.
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

/// Settings that no task can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {value}, expected {expected}")]
pub struct SettingsError {
    /// The setting.
    pub name: &'static str,
    /// What it was to be.
    pub value: String,
    /// What it may be.
    pub expected: &'static str,
}

impl Settings {
    /// Checks that they go together.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn check(&self) -> Result<(), SettingsError> {
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
                return Err(SettingsError {
                    name,
                    value: value.to_string(),
                    expected,
                });
            }
        }
        if let Some(value) = self.origins.iter().flatten().find(|own| !is_origin(own)) {
            return Err(SettingsError {
                name: "origins",
                value: format!("{value:?}"),
                expected: "origins as browsers write them, such as \"https://example.org\"",
            });
        }
        Ok(())
    }
}
