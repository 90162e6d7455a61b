//! Reasons why there is no plan.

use hushbin::Error;

use crate::accounting::AccountError;

/// Reason why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A parameter is out of its range, or does not go with another.
    #[error(transparent)]
    Parameter(#[from] Error),
    /// The batch cannot be accounted for.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// Fewer than two of people, privacy and accuracy are given.
    #[error(
        "expected two of three: people; privacy (epsilon or central_epsilon); accuracy (within, or \
         for ratings standard_error or smallest)"
    )]
    Underspecified,
    /// The accuracy wanted of a question does not go with its kind.
    #[error("question {question:?} {reason}")]
    Wanted {
        /// Name of the question.
        question: String,
        /// Reason, to be read after the name.
        reason: &'static str,
    },
    /// Goal that no choice reaches.
    #[error("{0}")]
    OutOfReach(String),
}

impl PlanError {
    /// Returns the error for an accuracy that does not suit the question.
    pub(super) fn wanted(question: &str, reason: &'static str) -> Self {
        Self::Wanted {
            question: question.to_owned(),
            reason,
        }
    }

    /// Adds the question's name to a parameter that is out of its range.
    pub(super) fn of_question(self, name: &str) -> Self {
        match self {
            Self::Parameter(error @ Error::OutOfRange { .. }) => Error::Question {
                name: name.to_owned(),
                error: Box::new(error),
            }
            .into(),
            other => other,
        }
    }

    /// Returns a code that is stable across releases.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Parameter(_) => "parameter",
            Self::Account(_) => "account",
            Self::Underspecified => "underspecified",
            Self::Wanted { .. } => "wanted",
            Self::OutOfReach(_) => "out-of-reach",
        }
    }

    /// Returns the field that is out of its range, if one is.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Parameter(error) => field(error),
            _ => None,
        }
    }

    /// Returns the name of the question that is refused, if one is.
    #[must_use]
    pub fn question(&self) -> Option<&str> {
        match self {
            Self::Parameter(Error::Question { name, .. }) => Some(name),
            Self::Wanted { question, .. } => Some(question),
            _ => None,
        }
    }
}

/// Finds the field that is out of its range, inside a question or not.
fn field(error: &Error) -> Option<&'static str> {
    match error {
        Error::OutOfRange { name, .. } => Some(name),
        Error::Question { error, .. } => field(error),
        _ => None,
    }
}
