//! Why nothing is explained.

use hushbin::Error;

/// Greatest sparsity explained.
pub(super) const MOST_ELEMENTS: u32 = 12;
/// Greatest number of ways to make up for missing answers: CoCo's chances are averages
/// over them, signs of paddings or of items that are added.
pub(super) const MOST_COMPLETIONS: u64 = 1 << 14;
/// So many answers to a question are weighed at most.
pub(super) const MOST_ANSWERS: usize = 4096;

/// Why nothing is explained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// Something given does not fit the task.
    #[error(transparent)]
    Core(#[from] Error),
    /// Something else than ratings is asked, or several questions.
    #[error("only tasks that ask one question, for ratings, are explained")]
    NotRatings,
    /// One question without a name is asked.
    #[error("only tasks that ask questions by name are explained so")]
    NotNamed,
    /// A question has more answers than can be weighed.
    #[error("only questions with at most {MOST_ANSWERS} answers are explained")]
    TooMuch,
    /// Answers do not go with the questions.
    #[error("expected an answer to each question, of its kind")]
    Answers,
    /// Reports of the task cannot be shown whole.
    #[error(
        "only closed tasks of a sparsity up to {MOST_ELEMENTS}, with at most \
         {MOST_COMPLETIONS} ways to make up for missing answers, are explained"
    )]
    TooLarge,
    /// The upload holds other than one report.
    #[error("the upload holds {0} reports, expected exactly one")]
    NotOne(usize),
    /// An answer names no item of the task.
    #[error("{0:?} is no item of the task")]
    NoItem(String),
    /// More items were answered than a report holds.
    #[error("{given} items are answered, and a report holds {most}")]
    TooMany {
        /// Items that were answered.
        given: usize,
        /// The sparsity.
        most: u32,
    },
    /// A report is of another mechanism than the task's.
    #[error("the report is of another mechanism than the task's")]
    Foreign,
}

impl ExplainError {
    /// Name of the error, stable across releases.
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
