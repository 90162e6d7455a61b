//! How much one person reports: what a page's client keeps to.

use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::Error;

/// What canonical bytes with a budget begin with, before those of the task.
pub(super) const BUDGET: &str = "hushbin budget 1";

/// How much one person reports: so many reports in a window of so many days, which
/// begins with the first of them; and what becomes of an answer that stays.
///
/// The page's client keeps to it. A collector cannot, as nothing says which reports are
/// of one person. A budget that is the default is the same as none: tasks that differ in
/// nothing else have one fingerprint.
///
/// ```
/// use hushbin::task::{Answers, Budget};
///
/// let budget: Budget = serde_json::from_str(r#"{ "days": 7, "reports": 2 }"#).unwrap();
/// assert_eq!(Budget::new(7, 2, Answers::Fresh), Ok(budget));
/// assert_eq!(budget.reports_a_year(), 53 * 2);
/// assert_eq!(serde_json::from_str("{}").ok(), Some(Budget::default()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub(crate) days: u32,
    pub(crate) reports: u32,
    pub(crate) answers: Answers,
}

/// Which report tells of answers that have not changed since an earlier window.
///
/// ```
/// use hushbin::task::Answers;
///
/// let stay: Answers = serde_json::from_str(r#""permanent""#).unwrap();
/// assert_eq!(stay, Answers::Permanent);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answers {
    /// A new one: each spends ε, and none can be linked to another.
    Fresh,
    /// The same one, byte for byte: ε is spent once for as long as the answers stay, and
    /// who receives both sees that they are of one person.
    Permanent,
}

impl Default for Budget {
    /// One report in 30 days, always a new one.
    fn default() -> Self {
        Self {
            days: 30,
            reports: 1,
            answers: Answers::Fresh,
        }
    }
}

impl Budget {
    /// Of windows of `days`, [`bounds::DAYS`], with as many `reports` in each at most,
    /// [`bounds::REPORTS_A_WINDOW`].
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn new(days: u32, reports: u32, answers: Answers) -> Result<Self, Error> {
        bounds::DAYS.check(f64::from(days))?;
        bounds::REPORTS_A_WINDOW.check(f64::from(reports))?;
        Ok(Self {
            days,
            reports,
            answers,
        })
    }

    /// Whether nothing is said that does not hold anyway.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Of a task's bytes, whose first text is read already: it stands behind the budget,
    /// if there is one.
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
        let (days, reports) = (reader.small(), reader.small());
        let answers = match reader.number() {
            0 => Answers::Fresh,
            1 => Answers::Permanent,
            _ => reader.known(None)?,
        };
        *form = reader.text();
        let budget = Self::new(days, reports, answers)?;
        // The default has a spelling, which is none.
        reader.known((!budget.is_default()).then_some(budget))
    }
}
