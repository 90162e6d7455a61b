//! Errors of a study.

/// Error that ends a study.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StudyError {
    /// A mechanism refused its parameters.
    #[error(transparent)]
    RefusedParameters(#[from] hushbin::Error),
    /// A draft of a task is invalid.
    #[error("{mechanism}: {reason}")]
    InvalidDraft {
        /// Name of the mechanism.
        mechanism: String,
        /// Reason of the refusal.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Path of the file.
        path: String,
        /// Error that the operating system reported.
        source: std::io::Error,
    },
    /// A file of runs belongs to a different study, or cannot be parsed.
    #[error("{path}: {reason}")]
    InvalidRunsFile {
        /// Path of the file.
        path: String,
        /// Difference from the expected content.
        reason: String,
    },
    /// A file is not a table of people.
    #[error("{path}: {reason}")]
    InvalidPeopleTable {
        /// Path of the file.
        path: String,
        /// Difference from the expected content.
        reason: String,
    },
    /// A figure cannot be drawn.
    #[error("figure {name}: {reason}")]
    FigureDrawing {
        /// Name of the figure.
        name: String,
        /// Reason of the failure.
        reason: String,
    },
}

impl StudyError {
    /// Creates the error for an invalid draft with this mechanism.
    pub(crate) fn invalid_draft(mechanism: &str, reason: &dyn std::fmt::Display) -> Self {
        Self::InvalidDraft {
            mechanism: mechanism.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// Creates the error for a file that cannot be read or written.
    pub(crate) fn file_error(path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Io {
            path: path.display().to_string(),
            source,
        }
    }
}
