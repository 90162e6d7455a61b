//! Reasons why a report or a task cannot be explained.

use hushbin::Error;

/// Maximum sparsity of a task whose reports are explained.
pub(super) const MAX_EXPLAINED_SPARSITY: u32 = 12;
/// Maximum number of ways in which missing answers can be replaced. CoCo's probabilities are
/// averages over these ways: over all signs of paddings, or over all items that replace missing
/// answers.
pub(super) const MAX_COMPLETION_COUNT: u64 = 1 << 14;
/// Maximum number of possible answers to a question that is explained.
pub(super) const MAX_POSSIBLE_ANSWERS: usize = 4096;

/// Reason why a report or a task cannot be explained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// An argument does not fit the task.
    #[error(transparent)]
    InvalidArgument(#[from] Error),
    /// The task is not a single question of ratings.
    #[error("only tasks with a single question of ratings are explained")]
    NotRatings,
    /// The task has only one question, which has no name.
    #[error("only tasks with named questions are explained in this way")]
    UnnamedQuestion,
    /// A question has too many possible answers.
    #[error("only questions with at most {MAX_POSSIBLE_ANSWERS} possible answers are explained")]
    TooManyPossibleAnswers,
    /// The number of answers is not the number of questions, or an answer does not fit its
    /// question.
    #[error("expected one answer to each question, of its kind")]
    InvalidAnswers,
    /// The task has open items, or its reports have too many possible outcomes.
    #[error(
        "only closed tasks with a sparsity of at most {MAX_EXPLAINED_SPARSITY}, and at most \
         {MAX_COMPLETION_COUNT} replacements of missing answers, are explained"
    )]
    TaskTooLarge,
    /// The upload does not have exactly one report.
    #[error("the upload has {0} reports, expected exactly one")]
    NotOneReport(usize),
    /// The task has no item with this name.
    #[error("the task has no item {0:?}")]
    NoItem(String),
    /// More items are answered than the task's sparsity allows.
    #[error("{given} items are answered, expected at most {most}")]
    TooManyAnsweredItems {
        /// Number of answered items.
        given: usize,
        /// Sparsity of the task.
        most: u32,
    },
    /// The report comes from another mechanism than the task's.
    #[error("the report comes from another mechanism than the task's")]
    ReportOfOtherMechanism,
}

impl ExplainError {
    /// Returns the name of the error, stable across releases.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidArgument(_) => "parameter",
            Self::NotRatings => "not-ratings",
            Self::UnnamedQuestion => "not-named",
            Self::TooManyPossibleAnswers => "too-much",
            Self::InvalidAnswers => "answers",
            Self::TaskTooLarge => "too-large",
            Self::NotOneReport(_) => "not-one",
            Self::NoItem(_) => "no-item",
            Self::TooManyAnsweredItems { .. } => "too-many",
            Self::ReportOfOtherMechanism => "foreign",
        }
    }
}
