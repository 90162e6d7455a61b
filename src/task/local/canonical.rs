//! Reading of a task from canonical bytes. Different tasks have different bytes.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::kind::QuestionKind;
use super::question::{Question, QuestionFields};
use super::task_definition::Task;
use crate::canonical::CanonicalReader;
use crate::domain::ValueKind;
use crate::error::Error;
use crate::mechanism::Mechanism;
use crate::task::items::Items;
use crate::task::report_budget::ReportBudget;

/// Text at the start of a task's bytes. If the bytes contain a budget, it comes before this text.
/// The number in the text is the version of the format that follows. Version 1 is for one question
/// of ratings without a name, and version 2 is for questions with names.
pub(in crate::task) const UNNAMED_QUESTION_TASK_FORMAT: &str = "hushbin task 1";
pub(in crate::task) const NAMED_QUESTIONS_TASK_FORMAT: &str = "hushbin task 2";

impl Task {
    /// Reads a task from the bytes that [`Task::canonical_bytes`] returns. Every field has exactly
    /// one encoding.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any other bytes, and the errors of [`Task::new`] and
    /// [`Task::from_questions`].
    pub fn from_canonical_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let reader = &mut CanonicalReader::new(bytes);
        let mut form = reader.read_text();
        let read = ReportBudget::read_canonical(&mut form, reader).and_then(|budget| {
            let named = match form {
                UNNAMED_QUESTION_TASK_FORMAT => false,
                NAMED_QUESTIONS_TASK_FORMAT => true,
                _ => reader.unwrap_or_mark_malformed(None)?,
            };
            let id = reader.read_text().to_owned();
            Ok((id, read_questions(named, reader)?, budget))
        });
        let (id, questions, budget) = reader.finish_reading(read)?;
        if form == NAMED_QUESTIONS_TASK_FORMAT {
            Self::check_named_questions(&questions)?;
        }
        Self::build_checked_task(id, questions, budget, bytes)
    }
}

fn read_questions(named: bool, reader: &mut CanonicalReader<'_>) -> Result<Vec<Question>, Error> {
    let (mut epsilon, mut count) = (0.0, 1);
    if named {
        // Questions with names share one ε, which is written once before them.
        (epsilon, count) = (reader.read_float(), reader.read_list_length());
    }
    let mut questions = Vec::new();
    for _ in 0..count {
        let (mut name, mut weight) = (String::new(), 1);
        let (kind, items, sparsity) = if named {
            (name, weight) = (reader.read_text().to_owned(), reader.read_u32());
            QuestionKind::read_kind_with_items(reader)?
        } else {
            let (items, sparsity) = (Items::read_canonical(reader), reader.read_u32());
            epsilon = reader.read_float();
            let value = match reader.read_u64() {
                0 => ValueKind::Sign,
                1 => ValueKind::Real,
                _ => reader.unwrap_or_mark_malformed(None)?,
            };
            (QuestionKind::Ratings(value), items, sparsity)
        };
        questions.push(Question::from_consistent_fields(QuestionFields {
            name,
            kind,
            items,
            max_entries_per_report: sparsity,
            weight,
            epsilon,
            mechanism: Mechanism::read_canonical(reader)?,
        })?);
    }
    Ok(questions)
}
