//! Budget of a task: the maximum number of reports of one person.

use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::Error;

/// Text at the start of the canonical bytes if the task's budget is not the default. The budget
/// follows this text, and the task's other bytes follow the budget.
pub(super) const BUDGET: &str = "hushbin budget 1";

/// Limit on the reports of one person, and the treatment of answers that do not change.
///
/// A person sends at most `reports` reports in a window of `days` days. A window begins with its
/// first report.
///
/// The page's client enforces the budget. A collector cannot, because nothing reveals which reports
/// are from one person. A task that states the default budget has the same fingerprint as a task
/// without a budget.
///
/// ```
/// use hushbin::task::{AnswerPolicy, Budget};
///
/// let budget: Budget = serde_json::from_str(r#"{ "days": 7, "reports": 2 }"#).unwrap();
/// assert_eq!(Budget::new(7, 2, AnswerPolicy::Fresh), Ok(budget));
/// assert_eq!(budget.reports_a_year(), 53 * 2);
/// assert_eq!(serde_json::from_str("{}").ok(), Some(Budget::default()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub(crate) days: u32,
    pub(crate) reports: u32,
    pub(crate) answers: AnswerPolicy,
}

/// Treatment of answers that have not changed since an earlier window.
///
/// ```
/// use hushbin::task::AnswerPolicy;
///
/// let stay: AnswerPolicy = serde_json::from_str(r#""permanent""#).unwrap();
/// assert_eq!(stay, AnswerPolicy::Permanent);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerPolicy {
    /// A new report in each window. Each report spends ε, and reports cannot be linked to each
    /// other.
    Fresh,
    /// Repetition of the first report, byte for byte. All copies together spend ε once, while the
    /// answers stay the same. A receiver of two copies sees that both are from one person.
    Permanent,
}

impl Default for Budget {
    /// Returns a budget of one new report in 30 days.
    fn default() -> Self {
        Self {
            days: 30,
            reports: 1,
            answers: AnswerPolicy::Fresh,
        }
    }
}

impl Budget {
    /// Creates a budget of at most `reports` reports ([`bounds::REPORTS_A_WINDOW`]) in a window of
    /// `days` days ([`bounds::DAYS`]).
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn new(days: u32, reports: u32, answers: AnswerPolicy) -> Result<Self, Error> {
        bounds::DAYS.check(f64::from(days))?;
        bounds::REPORTS_A_WINDOW.check(f64::from(reports))?;
        Ok(Self {
            days,
            reports,
            answers,
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
    /// As [`Budget::new`], and [`Error::Malformed`].
    pub(crate) fn read_canonical<'a>(
        form: &mut &'a str,
        reader: &mut CanonicalReader<'a>,
    ) -> Result<Self, Error> {
        if *form != BUDGET {
            return Ok(Self::default());
        }
        let (days, reports) = (reader.read_u32(), reader.read_u32());
        let answers = match reader.read_number() {
            0 => AnswerPolicy::Fresh,
            1 => AnswerPolicy::Permanent,
            _ => reader.require_known(None)?,
        };
        *form = reader.read_text();
        let budget = Self::new(days, reports, answers)?;
        // The default has one encoding: no budget. Spelling it out is malformed.
        reader.require_known((!budget.is_default()).then_some(budget))
    }
}
