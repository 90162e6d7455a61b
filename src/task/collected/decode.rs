//! Decoding of a task's reports.

use crate::codec::Cursor;
use crate::error::{Error, error};
use crate::mechanism::Report;
use crate::task::local::question::Question;
use crate::task::local::task_definition::Task;

impl Task {
    /// Decodes one report from all of `bytes`, as [`Report::encode`] writes it.
    ///
    /// ```
    /// # use hushbin::{Report, Task, TaskDraft, mechanism::collision};
    /// # let draft: TaskDraft = serde_json::from_str(
    /// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
    /// # ).unwrap();
    /// # let task: Task = draft.resolve_task().unwrap();
    /// let report = Report::Collision(collision::Report { seed: 7, bucket: 1 });
    /// let mut bytes = Vec::new();
    /// report.encode(&mut bytes);
    /// assert_eq!(task.decode_report(&bytes), Ok(report));
    /// assert!(task.decode_report(&bytes[..8]).is_err());
    /// ```
    ///
    /// # Errors
    /// [`Error::Malformed`] for anything that [`Report::encode`] would not have written for
    /// this task.
    pub fn decode_report(&self, bytes: &[u8]) -> Result<Report, Error> {
        match self.decode_first_report(bytes)? {
            (report, read) if read == bytes.len() => Ok(report),
            (_, offset) => Err(error!(Malformed {
                what: "report",
                offset,
                reason: "expected the end after the report",
            })),
        }
    }

    /// Decodes the report at the start of `bytes`. Returns the report and its length in bytes.
    ///
    /// # Errors
    /// As [`Task::decode_report`], but bytes may follow the report.
    pub fn decode_first_report(&self, bytes: &[u8]) -> Result<(Report, usize), Error> {
        let mut cursor = Cursor::new("report", bytes);
        let mut taken = None;
        self.decode_reports(&mut cursor, 1, &mut |report, end| {
            taken = Some((report, end));
        })?;
        Ok(taken.expect("one report was decoded"))
    }

    /// Decodes `count` reports, and calls `visit` with each report and the offset at which it ends.
    pub(crate) fn decode_reports(
        &self,
        cursor: &mut Cursor<'_>,
        count: u32,
        visit: &mut dyn FnMut(Report, usize),
    ) -> Result<(), Error> {
        let mut decode = |question: &Question, cursor: &mut Cursor<'_>, count| {
            let (domain, epsilon) = (question.domain(), question.epsilon());
            let mechanism = question.mechanism();
            mechanism.decode_reports(&domain, epsilon, cursor, count, visit)
        };
        // One question decodes all reports in one call, which is faster.
        if let Some(sole) = self.only_question() {
            return decode(sole, cursor, count);
        }
        for _ in 0..count {
            // Each report begins with its seed, which selects the question.
            let seed = u64::from_le_bytes(cursor.peek_array("expected a seed of 8 bytes")?);
            decode(
                &self.questions[self.question_selector.question_index_for_seed(seed)],
                cursor,
                1,
            )?;
        }
        Ok(())
    }
}
