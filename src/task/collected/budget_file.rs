//! Getters of budgets, and the form of budgets in task files.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::task::report_budget::{CoverParameters, MemoParameters, ReportBudget};

/// Number of days in a year, for [`ReportBudget::reports_a_year`].
const DAYS_PER_YEAR: u32 = 365;

impl ReportBudget {
    /// Returns the length of a window, in days.
    #[must_use]
    pub const fn window_days(&self) -> u32 {
        self.window_days
    }

    /// Returns the maximum number of reports of one person in a window.
    #[must_use]
    pub const fn max_reports(&self) -> u32 {
        self.max_reports
    }

    /// Returns the memo from which reports are made, or `None` if each report is made from the
    /// answers.
    #[must_use]
    pub const fn memo(&self) -> Option<MemoParameters> {
        self.memo
    }

    /// Returns the parameters of cover reports, or `None` if only browsers with an answer report.
    #[must_use]
    pub const fn cover(&self) -> Option<CoverParameters> {
        self.cover
    }

    /// Returns the maximum number of reports of one person in the 365 days after the first report.
    /// At most ⌈365/days⌉ windows begin in that time, because windows do not overlap.
    #[must_use]
    pub const fn reports_a_year(&self) -> u32 {
        DAYS_PER_YEAR.div_ceil(self.window_days()) * self.max_reports()
    }

    /// Returns the maximum number of reports that are made from one memo: as many as windows begin
    /// in its days. `None` if there is no memo.
    #[must_use]
    pub fn reports_per_memo(&self) -> Option<u32> {
        self.memo.map(|memo| memo.days.div_ceil(self.window_days))
    }
}

/// Budget in a task file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SerializedBudget {
    days: u32,
    reports: u32,
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_non_null"
    )]
    memo: Option<MemoParameters>,
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_non_null"
    )]
    cover: Option<CoverParameters>,
}

/// Reads a field that may be absent. Like the other fields of a budget, it must not be null.
fn deserialize_non_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl Default for SerializedBudget {
    fn default() -> Self {
        Self::from(ReportBudget::default())
    }
}

impl From<ReportBudget> for SerializedBudget {
    fn from(budget: ReportBudget) -> Self {
        Self {
            days: budget.window_days(),
            reports: budget.max_reports(),
            memo: budget.memo(),
            cover: budget.cover(),
        }
    }
}

impl Serialize for ReportBudget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SerializedBudget::from(*self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ReportBudget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let SerializedBudget {
            days,
            reports,
            memo,
            cover,
        } = SerializedBudget::deserialize(deserializer)?;
        let budget = Self::new(days, reports, memo);
        let covered = budget.and_then(|budget| match cover {
            Some(cover) => budget.with_cover(cover),
            None => Ok(budget),
        });
        covered.map_err(de::Error::custom)
    }
}
