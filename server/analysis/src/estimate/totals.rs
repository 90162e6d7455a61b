//! The fold of reports.

use hushbin::{Report, Task};

use super::Counts;

/// What is kept of the reports of one task.
///
/// ```
/// use hushbin_analysis::estimate::Totals;
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let task = draft.resolve().unwrap();
/// let (mut totals, others) = (Totals::new(&task), Totals::new(&task));
/// totals.merge(&others);
/// assert_eq!(totals.reports(), 0);
/// ```
#[derive(Debug, Clone)]
pub struct Totals {
    reports: u64,
    pub(super) counts: Counts,
}

impl Totals {
    /// No reports yet. Of an open task only their number is counted, as its
    /// items cannot be listed: see [`Totals::of_items`].
    #[must_use]
    pub fn new(task: &Task) -> Self {
        Self::of_items(task, &[])
    }

    /// No reports yet, for these items (indices or keys) of an open task; of a
    /// closed one all items are counted whatever is asked.
    #[must_use]
    pub fn of_items(task: &Task, items: &[u64]) -> Self {
        Self {
            reports: 0,
            counts: Counts::for_task(task, items),
        }
    }

    /// Adds one report, which was decoded under the same task.
    ///
    /// # Panics
    /// If it was not.
    pub fn fold(&mut self, report: &Report) {
        self.reports += 1;
        self.counts.fold(report);
    }

    /// Adds totals of the same task (and, if open, of the same items).
    ///
    /// # Panics
    /// If the totals are of another shape.
    pub fn merge(&mut self, other: &Self) {
        self.reports += other.reports;
        self.counts.merge(&other.counts);
    }

    /// Number of reports folded, n.
    #[must_use]
    pub const fn reports(&self) -> u64 {
        self.reports
    }
}
