//! Settings of a task. They concern the collector and are not part of the task, so they may change
//! while reports come in.

use serde::{Deserialize, Serialize};

/// Settings that control how a task is collected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskSettings {
    /// Conditions under which batches are closed.
    pub batch: BatchSettings,
    /// Number of days after which the reports of a released batch are deleted. 0 keeps them for
    /// ever. Totals are always kept.
    pub keep_reports_days: u32,
    /// Web origins of the pages that may send reports, as browsers write them: a scheme, a host and
    /// perhaps a port, or `null` for pages without an origin. `None` allows any origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<String>>,
    /// Maximum number of reports in one request. 0 sets no limit. In a task of sums, the messages
    /// of one person count as one report.
    pub max_reports_per_request: u32,
}

impl Default for TaskSettings {
    fn default() -> Self {
        Self {
            batch: BatchSettings::default(),
            // Enough time to search for texts and to try other methods. Totals stay.
            keep_reports_days: 90,
            origins: None,
            // Pages send at most 64 reports in a request.
            max_reports_per_request: 256,
        }
    }
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

/// Conditions under which batches are closed. In a task of sums, each message counts as a report
/// here, and each person is taken to send the maximum number of messages.
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
    /// Age in minutes that a batch must have before it is closed, 0 to 1440. An attacker who fills
    /// a batch with reports cannot choose whose other reports are in it. Until then, a batch takes at
    /// most 1000000 reports, of which 500000 may come at once and the rest evenly over the time.
    /// Further reports are refused, and may be sent again later.
    pub min_minutes: u32,
}

impl BatchSettings {
    /// Maximum number of reports in a batch. All of them are held in memory while the batch is
    /// released.
    pub const MOST_REPORTS: u64 = 1_000_000;

    /// Largest [`BatchSettings::min_minutes`]: one day.
    pub const MAX_MIN_MINUTES: u32 = 24 * 60;

    /// Returns true if an open batch with `reports` reports, opened `seconds` ago, is due to be
    /// closed. It has been open for at least `certain_seconds`.
    pub(super) fn is_due(&self, reports: u64, seconds: u64, certain_seconds: u64) -> bool {
        let Self {
            least, most, hours, ..
        } = *self;
        let old = hours > 0 && seconds >= u64::from(hours) * 3600;
        let due = reports >= most || (old && reports >= least);
        due && self.has_minimum_age(certain_seconds)
    }

    /// Returns true if a batch that was opened `seconds` ago has reached its minimum age.
    pub(super) fn has_minimum_age(&self, seconds: u64) -> bool {
        seconds >= u64::from(self.min_minutes) * 60
    }

    /// Returns the number of reports at which an open batch, opened `seconds` ago, takes no more. A
    /// batch can hold at most `capacity` reports.
    ///
    /// A flood could otherwise fill the batch in a moment. Then either the batch would be closed, or
    /// all other reports would be refused: in both cases the batch would hold too few other people
    /// to hide each of them. Instead the flood and everyone else share the second half of the batch over its
    /// whole minimum time.
    pub(super) fn limit_at(&self, capacity: u64, seconds: u64) -> u64 {
        let open = u64::from(self.min_minutes) * 60;
        match seconds < open {
            true => capacity / 2 + capacity / 2 * seconds / open,
            false => capacity,
        }
    }
}

impl Default for BatchSettings {
    fn default() -> Self {
        Self {
            least: 1000,
            most: 100_000,
            hours: 24,
            min_minutes: 60,
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
        let BatchSettings {
            least,
            most,
            min_minutes,
            ..
        } = self.batch;
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
                "batch.min_minutes",
                u64::from(min_minutes),
                min_minutes <= BatchSettings::MAX_MIN_MINUTES,
                "0 to 1440",
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
