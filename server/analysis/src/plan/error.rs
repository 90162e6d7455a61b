//! Reasons why a survey cannot be planned.

use hushbin::Error;

use crate::accounting::AccountingError;

/// Reason why a survey cannot be planned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A parameter is out of range, or two parameters cannot be combined.
    #[error(transparent)]
    InvalidParameter(#[from] Error),
    /// The central privacy of the batch cannot be computed.
    #[error(transparent)]
    AccountingFailed(#[from] AccountingError),
    /// The survey gives fewer than two of people, privacy and accuracy.
    #[error(
        "expected two of three: people; privacy (epsilon or central_epsilon); accuracy (within, or \
         for ratings standard_error or smallest_frequency)"
    )]
    Underspecified,
    /// The wanted accuracy of a question cannot be used for its kind.
    #[error("question {question:?} {reason}")]
    UnusableAccuracyGoal {
        /// Name of the question.
        question: String,
        /// Reason, phrased to follow the name.
        reason: &'static str,
    },
    /// The wanted accuracy or privacy is unattainable with any task.
    #[error("{0}")]
    UnattainableGoal(String),
}

impl PlanError {
    /// Creates the error for a wanted accuracy that cannot be used for the question.
    pub(super) fn unusable_accuracy(question: &str, reason: &'static str) -> Self {
        Self::UnusableAccuracyGoal {
            question: question.to_owned(),
            reason,
        }
    }

    /// Adds the question's name to the error, if there is a name and a parameter is out of range.
    pub(super) fn with_question_name(self, name: Option<&str>) -> Self {
        match (self, name) {
            (Self::InvalidParameter(error @ Error::OutOfRange { .. }), Some(name)) => {
                Error::ErrorInQuestion {
                    name: name.to_owned(),
                    error: Box::new(error),
                }
                .into()
            }
            (other, _) => other,
        }
    }

    /// Returns a code of the error that is stable across releases.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidParameter(_) => "parameter",
            Self::AccountingFailed(_) => "account",
            Self::Underspecified => "underspecified",
            Self::UnusableAccuracyGoal { .. } => "wanted",
            Self::UnattainableGoal(_) => "out-of-reach",
        }
    }

    /// Returns the name of the field that is out of range. `None` for errors of any other kind.
    #[must_use]
    pub fn out_of_range_field_name(&self) -> Option<&'static str> {
        match self {
            Self::InvalidParameter(error) => out_of_range_field_of(error),
            _ => None,
        }
    }

    /// Returns the name of the question that caused the error, if one did.
    #[must_use]
    pub fn question_name(&self) -> Option<&str> {
        match self {
            Self::InvalidParameter(Error::ErrorInQuestion { name, .. }) => Some(name),
            Self::UnusableAccuracyGoal { question, .. } => Some(question),
            _ => None,
        }
    }
}

/// Returns the name of the field that is out of range, also if it belongs to a question.
fn out_of_range_field_of(error: &Error) -> Option<&'static str> {
    match error {
        Error::OutOfRange { name, .. } => Some(name),
        Error::ErrorInQuestion { error, .. } => out_of_range_field_of(error),
        _ => None,
    }
}
