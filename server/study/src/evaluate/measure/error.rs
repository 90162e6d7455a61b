//! What keeps a study from its end.

/// Why a study ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StudyError {
    /// Parameters that a mechanism refuses.
    #[error(transparent)]
    Refused(#[from] hushbin::Error),
    /// A draft of a task that cannot be.
    #[error("{mechanism}: {reason}")]
    Draft {
        /// Of which mechanism.
        mechanism: String,
        /// What is wrong.
        reason: String,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file of runs that is not of this study.
    #[error("{path}: {reason}")]
    Runs {
        /// Which.
        path: String,
        /// What it is instead.
        reason: String,
    },
    /// A table that is not one of people.
    #[error("{path}: {reason}")]
    Table {
        /// Which.
        path: String,
        /// What it has, and is to have.
        reason: String,
    },
    /// A figure that cannot be drawn.
    #[error("figure {name}: {reason}")]
    Figure {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
}

impl StudyError {
    /// Of a draft of this mechanism.
    pub(crate) fn draft(mechanism: &str, reason: &dyn std::fmt::Display) -> Self {
        Self::Draft {
            mechanism: mechanism.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// Of a file.
    pub(crate) fn io(path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Io {
            path: path.display().to_string(),
            source,
        }
    }
}
