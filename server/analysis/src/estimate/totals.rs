//! The fold of reports.

use hushbin::codec::append;
use hushbin::task::Draw;
use hushbin::{Fingerprint, Question, Report, Task};

use crate::estimate::fold::{MOST_REPORTS, Reader, Spread, TotalsError, append_header};
use crate::estimate::mechanism::{Counts, prepared};

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
    fingerprint: Fingerprint,
    draw: Draw,
    questions: Vec<Folded>,
    /// Of all reports, as what they are about follows from it.
    pub(crate) seeds: Spread,
}

/// The reports that answer one question.
#[derive(Debug, Clone)]
pub(crate) struct Folded {
    pub(crate) reports: u64,
    pub(crate) counts: Box<dyn Counts>,
    /// What they name, which is known of an honest crowd.
    pub(crate) places: Spread,
}

impl Folded {
    fn new(question: &Question, items: &[u64]) -> Self {
        let own = prepared(question);
        Self {
            reports: 0,
            places: Spread::among(own.places().into()),
            counts: own.counts(items),
        }
    }
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
        let folded = |(index, own)| Folded::new(own, if index == question { items } else { &[] });
        Self {
            fingerprint: task.fingerprint(),
            draw: task.draw().clone(),
            questions: task.questions().iter().enumerate().map(folded).collect(),
            seeds: Spread::among(1 << 64),
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
        if let Some(place) = folded.counts.fold(report) {
            folded.places.count(place.into());
        }
        self.seeds.count(report.seed());
    }

    /// Adds totals of the same task (and, where a question is open, of the same items).
    ///
    /// # Panics
    /// If the totals are of another shape.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.fingerprint, other.fingerprint, "totals of one task");
        for (own, other) in self.questions.iter_mut().zip(&other.questions) {
            own.reports += other.reports;
            own.counts.merge(&*other.counts);
            own.places.merge(&other.places);
        }
        self.seeds.merge(&other.seeds);
    }

    /// The bytes to store in the place of reports: their estimates, and those of any others
    /// that they are merged with, are to the last bit those of the totals themselves.
    /// Equal totals have equal bytes, however their reports were folded and merged.
    ///
    /// These are: the version byte, 2; the task's fingerprint (16 bytes); and of each
    /// question the number of reports (varint) and the counts of its mechanism. How many counts there are follows from the task. Hits are counted for
    /// each element (Collision), for each item's plus and minus side (CoCo), or
    /// for the side that a report's sign agrees with (where reports are signs, or CoCo has
    /// one pair), each as its difference from the count before (zigzag varint, from 0 and
    /// modulo 2⁶⁴): hits are much alike, so that most differences take two bytes. Hash-bin
    /// sums up squared bins (varint) and each item's responses (zigzag varint). Of an open
    /// question no item is counted. Behind those of each question follow, where reports name one
    /// of several places, the numbers of those that name each, or each group of them; at the
    /// end, those of the seeds of all, by their first byte.
    ///
    /// ```
    /// use hushbin::mechanism::collision;
    /// use hushbin::{Report, TaskDraft};
    /// use hushbin_analysis::estimate::{Totals, TotalsError, points};
    ///
    /// let draft: TaskDraft = serde_json::from_str(
    ///     r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
    /// )?;
    /// let task = draft.resolve()?;
    /// let batch = |seeds: std::ops::Range<u64>| {
    ///     let mut totals = Totals::new(&task);
    ///     for seed in seeds {
    ///         totals.fold(&Report::Collision(collision::Report { seed, bucket: 1 }));
    ///     }
    ///     totals
    /// };
    /// let stored = [batch(0..30).encode(), batch(30..100).encode()];
    ///
    /// let mut merged = Totals::decode(&task, &stored[0])?;
    /// merged.merge(&Totals::decode(&task, &stored[1])?);
    /// let folded = batch(0..100);
    /// assert_eq!(merged.encode(), folded.encode());
    /// assert_eq!(points(&task, &merged, &[0, 3]), points(&task, &folded, &[0, 3]));
    ///
    /// let cut = Totals::decode(&task, &stored[0][..20]).unwrap_err();
    /// assert!(matches!(cut, TotalsError::Malformed(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If they are [of items](Totals::of_items) of an open question: these are not the
    /// task's, so that nothing could be decoded from its counts.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        append_header(&self.fingerprint, &mut bytes);
        for folded in &self.questions {
            append(&mut bytes, folded.reports);
            folded.counts.encode(&mut bytes);
            folded.places.encode(&mut bytes);
        }
        self.seeds.encode(&mut bytes);
        bytes
    }

    /// Totals of [`Totals::new`] from what [`Totals::encode`] made of them. Whatever the
    /// bytes are, this takes as much memory as the task's totals do.
    ///
    /// # Errors
    /// [`TotalsError`] for anything that [`Totals::encode`] would not have written of any
    /// reports of the task, as far as single counts tell.
    pub fn decode(task: &Task, bytes: &[u8]) -> Result<Self, TotalsError> {
        let mut reader = Reader::new(&task.fingerprint(), bytes)?;
        let mut totals = Self::new(task);
        let mut left = MOST_REPORTS;
        for folded in &mut totals.questions {
            folded.reports = reader.at_most("expected a number of reports", left)?;
            left -= folded.reports;
            folded.counts.decode(folded.reports, &mut reader)?;
            folded.places.decode(folded.reports, &mut reader)?;
        }
        let reports = totals.reports();
        totals.seeds.decode(reports, &mut reader)?;
        reader.end()?;
        Ok(totals)
    }

    /// Number of reports folded, n.
    #[must_use]
    pub fn reports(&self) -> u64 {
        self.questions.iter().map(|own| own.reports).sum()
    }

    /// Number of those that answer the question in this position.
    ///
    /// # Panics
    /// If there is no such question.
    #[must_use]
    pub fn reports_of(&self, question: usize) -> u64 {
        self.questions[question].reports
    }

    /// Checks that the totals are of the task.
    ///
    /// # Panics
    /// If they are not.
    pub(crate) fn check(&self, task: &Task) {
        assert_eq!(self.fingerprint, task.fingerprint(), "totals of the task");
    }

    /// Of the question in this position.
    pub(crate) fn folded(&self, question: usize) -> &Folded {
        &self.questions[question]
    }
}
