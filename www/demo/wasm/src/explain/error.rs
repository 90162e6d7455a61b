//! Reasons why a report or a task cannot be explained.

use hushbin::Error;

/// Maximum sparsity of a task whose reports are explained.
pub(super) const MOST_ELEMENTS: u32 = 12;
/// Maximum number of ways in which missing answers can be replaced. CoCo's probabilities are
/// averages over these ways: over all signs of paddings, or over all items that replace missing
/// answers.
pub(super) const MOST_COMPLETIONS: u64 = 1 << 14;
/// Maximum number of possible answers to a question that is explained.
pub(super) const MOST_ANSWERS: usize = 4096;

/// Reason why a report or a task cannot be explained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// An argument does not fit the task.
    #[error(transparent)]
    Core(#[from] Error),
    /// The task is not a single question of ratings.
    #[error("only tasks with a single question of ratings are explained")]
    NotRatings,
    /// The task has only one question, which has no name.
    #[error("only tasks with named questions are explained in this way")]
    NotNamed,
    /// A question has too many possible answers.
    #[error("only questions with at most {MOST_ANSWERS} possible answers are explained")]
    TooMuch,
    /// The number of answers is not the number of questions, or an answer does not fit its
    /// question.
    #[error("expected one answer to each question, of its kind")]
    Answers,
    /// The task has open items, or its reports have too many possible outcomes.
    #[error(
        "only closed tasks with a sparsity of at most {MOST_ELEMENTS}, and at most \
         {MOST_COMPLETIONS} replacements of missing answers, are explained"
    )]
    TooLarge,
    /// The upload does not have exactly one report.
    #[error("the upload has {0} reports, expected exactly one")]
    NotOne(usize),
    /// The task has no item with this name.
    #[error("the task has no item {0:?}")]
    NoItem(String),
    /// More items are answered than the task's sparsity allows.
    #[error("{given} items are answered, expected at most {most}")]
    TooMany {
        /// Number of answered items.
        given: usize,
        /// Sparsity of the task.
        most: u32,
    },
    /// The report comes from another mechanism than the task's.
    #[error("the report comes from another mechanism than the task's")]
    Foreign,
}

impl ExplainError {
    /// Returns the name of the error, stable across releases.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Core(_) => "parameter",
            Self::NotRatings => "not-ratings",
            Self::NotNamed => "not-named",
            Self::TooMuch => "too-much",
            Self::Answers => "answers",
            Self::TooLarge => "too-large",
            Self::NotOne(_) => "not-one",
            Self::NoItem(_) => "no-item",
            Self::TooMany { .. } => "too-many",
            Self::Foreign => "foreign",
        }
    }
}
