//! The fold of reports.

use hushbin::task::Draw;
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
    draw: Draw,
    questions: Vec<Folded>,
}

/// The reports that answer one question.
#[derive(Debug, Clone)]
pub(super) struct Folded {
    pub(super) reports: u64,
    pub(super) counts: Counts,
}

impl Totals {
    /// No reports yet. Of an open question only their number is counted, as its
    /// items cannot be listed: see [`Totals::of_items`].
    #[must_use]
    pub fn new(task: &Task) -> Self {
        Self::of_items(task, 0, &[])
    }

    /// No reports yet, for these items (indices or keys) of the question in this
    /// position, if it is open; of a closed one all items are counted whatever is asked.
    #[must_use]
    pub fn of_items(task: &Task, question: usize, items: &[u64]) -> Self {
        let folded = |(index, own)| Folded {
            reports: 0,
            counts: Counts::for_question(own, if index == question { items } else { &[] }),
        };
        Self {
            draw: task.draw().clone(),
            questions: task.questions().iter().enumerate().map(folded).collect(),
        }
    }

    /// Adds one report, which was decoded under the same task.
    ///
    /// # Panics
    /// If it was not.
    pub fn fold(&mut self, report: &Report) {
        let folded = match &mut self.questions[..] {
            [sole] => sole,
            several => &mut several[self.draw.question(report.seed())],
        };
        folded.reports += 1;
        folded.counts.fold(report);
    }

    /// Adds totals of the same task (and, where a question is open, of the same items).
    ///
    /// # Panics
    /// If the totals are of another shape.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.draw, other.draw, "totals of one task");
        for (own, other) in self.questions.iter_mut().zip(&other.questions) {
            own.reports += other.reports;
            own.counts.merge(&other.counts);
        }
    }

    /// Number of reports folded, n.
    #[must_use]
    pub fn reports(&self) -> u64 {
        self.questions.iter().map(|folded| folded.reports).sum()
    }

    /// Number of those that answer the question in this position.
    ///
    /// # Panics
    /// If there is no such question.
    #[must_use]
    pub fn reports_of(&self, question: usize) -> u64 {
        self.questions[question].reports
    }

    pub(super) fn folded(&self, question: usize) -> &Folded {
        &self.questions[question]
    }
}
