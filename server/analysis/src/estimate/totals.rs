//! The fold of reports.

use hushbin::task::{Draw, Tree};
use hushbin::{Question, Report, Task};

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
    questions: Vec<Layers>,
}

/// The reports that answer one question, by the layer that they tell of; one where there is
/// no tree.
#[derive(Debug, Clone)]
struct Layers {
    tree: Option<Tree>,
    folded: Vec<Folded>,
}

impl Layers {
    fn new(question: &Question, items: &[u64]) -> Self {
        let tree = question.kind().tree().cloned();
        let none = || Counts::for_question(question, items);
        let counts = match &tree {
            None => vec![none()],
            Some(tree) => (0..tree.layers())
                .map(|layer| none().among(tree.layer(layer)))
                .collect(),
        };
        let folded = counts
            .into_iter()
            .map(|counts| Folded { reports: 0, counts });
        Self {
            folded: folded.collect(),
            tree,
        }
    }

    fn reports(&self) -> u64 {
        self.folded.iter().map(|folded| folded.reports).sum()
    }
}

/// The reports that tell of one layer of a question.
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
        let layers = |(index, own)| Layers::new(own, if index == question { items } else { &[] });
        Self {
            draw: task.draw().clone(),
            questions: task.questions().iter().enumerate().map(layers).collect(),
        }
    }

    /// Adds one report, which was decoded under the same task.
    ///
    /// # Panics
    /// If it was not.
    pub fn fold(&mut self, report: &Report) {
        let layers = match &mut self.questions[..] {
            [sole] => sole,
            several => &mut several[self.draw.question(report.seed())],
        };
        let layer = layers
            .tree
            .as_ref()
            .map_or(0, |tree| tree.drawn(report.seed()));
        let folded = &mut layers.folded[layer];
        folded.reports += 1;
        folded.counts.fold(report);
    }

    /// Adds totals of the same task (and, where a question is open, of the same items).
    ///
    /// # Panics
    /// If the totals are of another shape.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.draw, other.draw, "totals of one task");
        let layers = self.questions.iter_mut().flat_map(|own| &mut own.folded);
        let others = other.questions.iter().flat_map(|own| &own.folded);
        for (own, other) in layers.zip(others) {
            own.reports += other.reports;
            own.counts.merge(&other.counts);
        }
    }

    /// Number of reports folded, n.
    #[must_use]
    pub fn reports(&self) -> u64 {
        self.questions.iter().map(Layers::reports).sum()
    }

    /// Number of those that answer the question in this position.
    ///
    /// # Panics
    /// If there is no such question.
    #[must_use]
    pub fn reports_of(&self, question: usize) -> u64 {
        self.questions[question].reports()
    }

    /// Of the first layer, which is all unless there is a tree.
    pub(super) fn folded(&self, question: usize) -> &Folded {
        &self.questions[question].folded[0]
    }

    /// By layer.
    pub(super) fn layers(&self, question: usize) -> &[Folded] {
        &self.questions[question].folded
    }
}
