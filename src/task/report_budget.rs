//! Budget of a task: the maximum number of reports of one person.

use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::{Error, error};

/// Text at the start of the canonical bytes if the task's budget is not the default. The budget
/// follows this text, and the task's other bytes follow the budget.
pub(super) const BUDGET_FORMAT_PREFIX: &str = "hushbin budget 1";

/// Limit on the reports of one person.
///
/// A person sends at most `reports` reports in a window of `days` days. A window begins with its
/// first report. If there is a [`MemoParameters`], the reports of all windows are made from it.
///
/// The page's client enforces the budget. A collector cannot, because nothing reveals which reports
/// are from one person. A task that states the default budget has the same fingerprint as a task
/// without a budget.
///
/// ```
/// use hushbin::task::ReportBudget;
///
/// let budget: ReportBudget = serde_json::from_str(r#"{ "days": 7, "reports": 2 }"#).unwrap();
/// assert_eq!(ReportBudget::new(7, 2, None), Ok(budget));
/// assert_eq!(budget.reports_a_year(), 53 * 2);
/// assert_eq!(serde_json::from_str("{}").ok(), Some(ReportBudget::default()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportBudget {
    pub(crate) window_days: u32,
    pub(crate) max_reports: u32,
    pub(crate) memo: Option<MemoParameters>,
    pub(crate) cover: Option<CoverParameters>,
}

/// Memo: a randomised answer that stays in the browser for an epoch of `days` days. All reports of
/// the epoch are made from it, each with a new seed.
///
/// However many reports an epoch has, all of them together reveal at most ε = `epsilon` about the
/// answer, and one report alone reveals at most the task's ε. The answer is read once, at the first
/// report of the epoch, so estimates lag behind answers that change.
///
/// ```
/// use hushbin::task::{ReportBudget, MemoParameters};
///
/// let budget: ReportBudget = serde_json::from_str(r#"{ "memo": { "epsilon": 2, "days": 365 } }"#).unwrap();
/// assert_eq!(budget.memo(), Some(MemoParameters { epsilon: 2.0, days: 365 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoParameters {
    /// Local ε of all reports of an epoch together, in [`bounds::EPSILON_RANGE`].
    pub epsilon: f64,
    /// Length of an epoch in days, in [`bounds::BUDGET_WINDOW_DAYS_RANGE`]. It is at least the length of a window.
    pub days: u32,
}

/// Cover reports: a browser with consent that has no answer also sends a report, made from "no
/// answer". All reports of a window leave at a time that does not depend on answers.
///
/// The collector then does not learn who has answered. "No answer" is no for a flag, the last option
/// of a choice, and no items for a set or ratings. Estimates count these people with the ones who
/// gave this answer.
///
/// ```
/// use hushbin::task::{ReportBudget, CoverParameters};
///
/// let budget: ReportBudget = serde_json::from_str(r#"{ "cover": { "minutes": 30 } }"#).unwrap();
/// assert_eq!(ReportBudget::default().with_cover(CoverParameters { minutes: 30 }), Ok(budget));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoverParameters {
    /// Minutes from the beginning of a window until its report is sent, from 1 to all of the window.
    pub minutes: u32,
}

/// Number of minutes in a day.
const MINUTES_PER_DAY: u32 = 24 * 60;

impl Default for ReportBudget {
    /// Returns a budget of one new report in 30 days.
    fn default() -> Self {
        Self {
            window_days: 30,
            max_reports: 1,
            memo: None,
            cover: None,
        }
    }
}

impl ReportBudget {
    /// Creates a budget of at most `reports` reports ([`bounds::REPORTS_PER_WINDOW_RANGE`]) in a window of
    /// `days` days ([`bounds::BUDGET_WINDOW_DAYS_RANGE`]).
    ///
    /// # Errors
    /// [`Error::OutOfRange`]. [`Error::InvalidCombination`] if there is a memo and more than one report in a
    /// window.
    pub fn new(days: u32, reports: u32, memo: Option<MemoParameters>) -> Result<Self, Error> {
        bounds::BUDGET_WINDOW_DAYS_RANGE.check_in_range(f64::from(days))?;
        bounds::REPORTS_PER_WINDOW_RANGE.check_in_range(f64::from(reports))?;
        if let Some(memo) = memo {
            bounds::EPSILON_RANGE.check_in_range(memo.epsilon)?;
            if reports != 1 {
                // Reports of one window would share the memo, and only the memo's ε would hold.
                return Err(error!(InvalidCombination {
                    reason: "a budget with a \"memo\" needs \"reports\" 1: shorten the window instead",
                }));
            }
            // In a longer window, a second memo would be drawn.
            bounds::MEMO_EPOCH_DAYS_RANGE
                .with_min(f64::from(days))
                .check_in_range(f64::from(memo.days))?;
        }
        Ok(Self {
            window_days: days,
            max_reports: reports,
            memo,
            cover: None,
        })
    }

    /// Adds cover reports to a budget of one report in a window, without a memo.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::InvalidCombination`].
    pub fn with_cover(self, cover: CoverParameters) -> Result<Self, Error> {
        bounds::COVER_DELAY_MINUTES_RANGE
            .with_max(f64::from(self.window_days * MINUTES_PER_DAY))
            .check_in_range(f64::from(cover.minutes))?;
        // With more reports, the number of reports would depend on answers. A memo of "no answer" would
        // hide later answers for all of its epoch.
        if self.max_reports != 1 || self.memo.is_some() {
            return Err(error!(InvalidCombination {
                reason: "a budget with \"cover\" needs \"reports\" 1 and no \"memo\"",
            }));
        }
        Ok(Self {
            cover: Some(cover),
            ..self
        })
    }

    /// Returns whether this is the default budget.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Reads the budget at the start of a task's canonical bytes, or returns the default if there
    /// is none.
    ///
    /// `form` is the first text, which the caller has read. If it announces a budget, `form` is
    /// replaced by the text that follows the budget.
    ///
    /// # Errors
    /// As [`ReportBudget::new`], and [`Error::Malformed`].
    pub(crate) fn read_canonical<'a>(
        form: &mut &'a str,
        reader: &mut CanonicalReader<'a>,
    ) -> Result<Self, Error> {
        if *form != BUDGET_FORMAT_PREFIX {
            return Ok(Self::default());
        }
        let (days, reports) = (reader.read_u32(), reader.read_u32());
        let extension = reader.read_u64();
        let (mut memo, mut cover) = (None, None);
        match extension {
            0 => {}
            1 => {
                memo = Some(MemoParameters {
                    epsilon: reader.read_float(),
                    days: reader.read_u32(),
                });
            }
            2 => {
                let minutes = reader.read_u32();
                cover = Some(CoverParameters { minutes });
            }
            _ => reader.unwrap_or_mark_malformed(None)?,
        }
        *form = reader.read_text();
        let mut budget = Self::new(days, reports, memo)?;
        if let Some(cover) = cover {
            budget = budget.with_cover(cover)?;
        }
        // The default has one encoding: no budget. Spelling it out is malformed.
        reader.unwrap_or_mark_malformed((!budget.is_default()).then_some(budget))
    }
}
