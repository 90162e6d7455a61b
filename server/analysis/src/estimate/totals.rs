//! Totals: counts folded from the reports of a task.

use hushbin::codec::append_varint;
use hushbin::task::QuestionSelector;
use hushbin::{Fingerprint, Question, Report, Task};

use crate::estimate::counters::{
    MAX_REPORTS, TotalsError, TotalsReader, UniformityCounts, append_header,
};
use crate::estimate::mechanism::{ErasedCounts, prepare_question};

/// Counts of the reports of one task.
///
/// ```
/// use hushbin_analysis::estimate::Totals;
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let task = draft.resolve_task().unwrap();
/// let (mut totals, others) = (Totals::new(&task), Totals::new(&task));
/// totals.merge(&others);
/// assert_eq!(totals.report_count(), 0);
/// ```
#[derive(Debug, Clone)]
pub struct Totals {
    fingerprint: Fingerprint,
    question_selector: QuestionSelector,
    totals_by_question: Vec<QuestionTotals>,
    /// Counts that show whether seeds are uniform. They cover all questions together, because a
    /// report's seed determines its question.
    pub(crate) seed_uniformity_counts: UniformityCounts,
}

/// Counts of the reports that answer one question.
#[derive(Debug, Clone)]
pub(crate) struct QuestionTotals {
    pub(crate) report_count: u64,
    pub(crate) mechanism_counts: Box<dyn ErasedCounts>,
    /// Counts that show whether reported outcomes (buckets, sides or signs) are uniform. The
    /// outcomes of honest reports are uniform.
    pub(crate) outcome_uniformity_counts: UniformityCounts,
}

impl QuestionTotals {
    fn new(question: &Question, items: &[u64]) -> Self {
        let own = prepare_question(question);
        Self {
            report_count: 0,
            outcome_uniformity_counts: UniformityCounts::for_values_below(
                own.uniform_outcome_count().into(),
            ),
            mechanism_counts: own.empty_counts(items),
        }
    }
}

impl Totals {
    /// Creates empty totals. For an open question, the totals count only the number of reports,
    /// because the question's items cannot be listed. [`Totals::for_items`] also counts chosen
    /// items.
    #[must_use]
    pub fn new(task: &Task) -> Self {
        Self::for_items(task, 0, &[])
    }

    /// Creates empty totals that count `items` (indices or keys) of the open question at index
    /// `question`. Closed questions always count all items.
    #[must_use]
    pub fn for_items(task: &Task, question: usize, items: &[u64]) -> Self {
        let folded =
            |(index, own)| QuestionTotals::new(own, if index == question { items } else { &[] });
        Self {
            fingerprint: task.fingerprint(),
            question_selector: task.question_selector().clone(),
            totals_by_question: task.questions().iter().enumerate().map(folded).collect(),
            seed_uniformity_counts: UniformityCounts::for_values_below(1 << 64),
        }
    }

    /// Adds one report that was decoded under the same task.
    ///
    /// # Panics
    /// If the report was decoded under another task.
    pub fn add_report(&mut self, report: &Report) {
        let folded = match &mut self.totals_by_question[..] {
            // The seed determines the question only if the task asks several.
            [sole] => sole,
            several => {
                &mut several[self
                    .question_selector
                    .question_index_for_seed(report.seed())]
            }
        };
        folded.report_count += 1;
        if let Some(place) = folded.mechanism_counts.add_report(report) {
            folded.outcome_uniformity_counts.count_value(place.into());
        }
        self.seed_uniformity_counts.count_value(report.seed());
    }

    /// Adds totals of the same task and, for an open question, of the same items.
    ///
    /// # Panics
    /// If the totals belong to another task or have another shape.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.fingerprint, other.fingerprint, "totals of one task");
        for (own, other) in self
            .totals_by_question
            .iter_mut()
            .zip(&other.totals_by_question)
        {
            own.report_count += other.report_count;
            own.mechanism_counts.merge(&*other.mechanism_counts);
            own.outcome_uniformity_counts
                .merge(&other.outcome_uniformity_counts);
        }
        self.seed_uniformity_counts
            .merge(&other.seed_uniformity_counts);
    }

    /// Encodes the totals for storage instead of reports.
    ///
    /// Estimates from decoded totals are bit-identical to those from the original totals, also
    /// after merging. Equal totals have equal bytes, regardless of the order of folding and
    /// merging.
    ///
    /// The format is:
    ///
    /// 1. The version byte, 2.
    /// 2. The task's fingerprint (16 bytes).
    /// 3. For each question: the number of reports (varint), the counts of its mechanism, and the
    ///    counts of reported outcomes. The latter are absent if reports name no uniform outcome.
    ///    Outcomes are counted one by one or in groups.
    /// 4. The counts of all seeds, by first byte.
    ///
    /// The task determines the number of counts. Hits are counted for each element (Collision) or
    /// for each item's plus and minus side (CoCo). If reports are signs, or CoCo has one pair,
    /// there is one count per item: reports that agree with the item's sign. Each count is stored
    /// as the difference from the previous one (zigzag varint, modulo 2⁶⁴). The first difference is
    /// from 0. Hits are similar, so most differences take two bytes. Hash-bin stores the sum of
    /// squared bins (varint) and each item's sum of responses (zigzag varint). An open question has
    /// no item counts.
    ///
    /// ```
    /// use hushbin::mechanism::collision;
    /// use hushbin::{Report, TaskDraft};
    /// use hushbin_analysis::estimate::{Totals, TotalsError, point_estimates};
    ///
    /// let draft: TaskDraft = serde_json::from_str(
    ///     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
    /// )?;
    /// let task = draft.resolve_task()?;
    /// let batch = |seeds: std::ops::Range<u64>| {
    ///     let mut totals = Totals::new(&task);
    ///     for seed in seeds {
    ///         totals.add_report(&Report::Collision(collision::Report { seed, bucket: 1 }));
    ///     }
    ///     totals
    /// };
    /// let stored = [batch(0..30).encode(), batch(30..100).encode()];
    ///
    /// let mut merged = Totals::decode(&task, &stored[0])?;
    /// merged.merge(&Totals::decode(&task, &stored[1])?);
    /// let folded = batch(0..100);
    /// assert_eq!(merged.encode(), folded.encode());
    /// assert_eq!(point_estimates(&task, &merged, &[0, 3]), point_estimates(&task, &folded, &[0, 3]));
    ///
    /// let cut = Totals::decode(&task, &stored[0][..20]).unwrap_err();
    /// assert!(matches!(cut, TotalsError::Malformed(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the totals count [items](Totals::for_items) of an open question. The task does not list
    /// these items, so the counts could not be decoded.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        append_header(&self.fingerprint, &mut bytes);
        for folded in &self.totals_by_question {
            append_varint(&mut bytes, folded.report_count);
            folded.mechanism_counts.encode(&mut bytes);
            folded.outcome_uniformity_counts.encode(&mut bytes);
        }
        self.seed_uniformity_counts.encode(&mut bytes);
        bytes
    }

    /// Decodes totals that [`Totals::encode`] wrote.
    ///
    /// Memory use is bounded by the size of the task's totals, for any input.
    ///
    /// # Errors
    /// [`TotalsError`] if the bytes are not a valid encoding of totals of this task, or if a count
    /// is too large for the number of reports.
    pub fn decode(task: &Task, bytes: &[u8]) -> Result<Self, TotalsError> {
        let mut reader = TotalsReader::new(&task.fingerprint(), bytes)?;
        let mut totals = Self::new(task);
        let mut left = MAX_REPORTS;
        for folded in &mut totals.totals_by_question {
            folded.report_count = reader.read_at_most("expected a number of reports", left)?;
            // The limit applies to the reports of all questions together, so their number stays
            // exact in `f64`.
            left -= folded.report_count;
            folded
                .mechanism_counts
                .decode(folded.report_count, &mut reader)?;
            folded
                .outcome_uniformity_counts
                .decode(folded.report_count, &mut reader)?;
        }
        let reports = totals.report_count();
        totals.seed_uniformity_counts.decode(reports, &mut reader)?;
        reader.check_end()?;
        Ok(totals)
    }

    /// Returns the number of folded reports, n.
    #[must_use]
    pub fn report_count(&self) -> u64 {
        self.totals_by_question
            .iter()
            .map(|own| own.report_count)
            .sum()
    }

    /// Returns the number of reports that answer the question at index `question`.
    ///
    /// # Panics
    /// If `question` is out of range.
    #[must_use]
    pub fn question_report_count(&self, question: usize) -> u64 {
        self.totals_by_question[question].report_count
    }

    /// Checks that the totals belong to the task.
    ///
    /// # Panics
    /// If the totals belong to another task.
    pub(crate) fn assert_same_task(&self, task: &Task) {
        assert_eq!(self.fingerprint, task.fingerprint(), "totals of the task");
    }

    /// Returns the counts of the question at index `question`.
    pub(crate) fn question_totals(&self, question: usize) -> &QuestionTotals {
        &self.totals_by_question[question]
    }
}
