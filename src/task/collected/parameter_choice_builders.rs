//! Constructors of tasks and questions for the choice of parameters.

use alloc::string::String;

use crate::error::Error;
use crate::task::local::question::{Question, QuestionFields};
use crate::task::local::task_definition::Task;

impl Task {
    /// Creates a task with a single question of kind `ratings`, which has no name.
    pub(crate) fn from_question(id: String, question: Question) -> Result<Self, Error> {
        Self::from_checked_questions(id, alloc::vec![question])
    }
}

impl Question {
    /// Replaces the weight and checks the question again.
    pub(crate) fn with_weight(self, weight: u32) -> Result<Self, Error> {
        let weighted = Self(QuestionFields { weight, ..self.0 });
        weighted
            .check_fields()
            .map_err(|error| weighted.add_question_to_error(error))?;
        Ok(weighted)
    }
}
