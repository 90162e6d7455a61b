//! Why nothing is explained.

use hushbin::Error;

/// Greatest sparsity explained: CoCo's chances are averages over the signs of up
/// to so many paddings.
pub(super) const MOST_ELEMENTS: u32 = 12;

/// Why nothing is explained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// Something given does not fit the task.
    #[error(transparent)]
    Core(#[from] Error),
    /// Reports of the task cannot be shown whole.
    #[error("only closed tasks of a sparsity up to {MOST_ELEMENTS} are explained")]
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
            Self::TooLarge => "too-large",
            Self::NotOne(_) => "not-one",
            Self::NoItem(_) => "no-item",
            Self::TooMany { .. } => "too-many",
            Self::Foreign => "foreign",
        }
    }
}
