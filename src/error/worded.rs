//! Errors in words.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use super::code::ErrorCode;
use crate::fingerprint::Fingerprint;

/// Any error of this crate.
///
/// The text names what was wrong and what was expected; programs tell errors
/// apart by [`Error::code`], which is stable across releases.
///
/// ```
/// use hushbin::{ErrorCode, TaskDraft};
///
/// let draft: TaskDraft = serde_json::from_str(
///     r#"{ "id": "settings", "items": 4, "sparsity": 5, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let error = draft.resolve().unwrap_err();
/// assert_eq!(error.code(), ErrorCode::OutOfRange);
/// assert_eq!(error.to_string(), "sparsity is 5, expected 1 to 4");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A numeric parameter lies outside its range.
    #[error("{name} is {value}, expected {min} to {max}")]
    OutOfRange {
        /// The parameter as it is spelt in a task file.
        name: &'static str,
        /// What was given.
        value: f64,
        /// Least value allowed.
        min: f64,
        /// Greatest value allowed.
        max: f64,
    },
    /// The task id is not a slug.
    #[error(
        "task id {id:?} is not a slug: expected 1 to 64 of a-z, 0-9 and '-', first a letter or digit"
    )]
    TaskId {
        /// What was given.
        id: String,
    },
    /// An item's name is empty, too long or holds a control character.
    #[error(
        "item {index} has the name {name:?}, expected 1 to 256 bytes without control characters"
    )]
    ItemName {
        /// Position in the task's list.
        index: usize,
        /// What was given.
        name: String,
    },
    /// Two items of a task share a name.
    #[error("two items are named {name:?}")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// Parameters that are each in range but do not go together.
    #[error("{reason}")]
    Combination {
        /// What does not go together, and what would.
        reason: &'static str,
    },
    /// A task differs from the one that is already in use under its id.
    #[error("task differs from the one in use: {field} is {given}, in use is {in_use}")]
    TaskDiffers {
        /// The first field that differs, as in a task file.
        field: &'static str,
        /// The given value.
        given: String,
        /// The value in use.
        in_use: String,
    },
    /// An entry names an item that the task does not have.
    #[error("item {item} is unknown: the task has {items} items")]
    UnknownItem {
        /// The index given.
        item: u64,
        /// Number of items of the task.
        items: u32,
    },
    /// One input names an item twice.
    #[error("item {item} occurs twice in one input")]
    DuplicateItem {
        /// The index or key given.
        item: u64,
    },
    /// Not as many items are named as a question takes.
    #[error("{given} answers are given, expected exactly {expected}")]
    AnswerCount {
        /// How many were given.
        given: usize,
        /// How many the question takes.
        expected: u32,
    },
    /// Something is wrong with one of several questions.
    #[error("question {name:?}: {error}")]
    Question {
        /// The question's name.
        name: String,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// A value is not one that the task takes.
    #[error("item {item} has the value {value}, expected {expected}")]
    ValueRange {
        /// The item's index or key.
        item: u64,
        /// The value given.
        value: f64,
        /// What the task takes.
        expected: &'static str,
    },
    /// A task names a mechanism, or asks a kind of question, that this build of the core
    /// does not have.
    #[error("mechanism or kind {name:?} is unknown, or left out of this build")]
    UnknownMechanism {
        /// The name of either.
        name: String,
    },
    /// The upload was written by another version of the format.
    #[error("upload has format version {found}, expected {expected}")]
    Version {
        /// Version byte found.
        found: u8,
        /// Version understood.
        expected: u8,
    },
    /// The upload was made under other parameters than the task's.
    #[error("upload was made under task {received:?}, expected {expected:?}")]
    FingerprintMismatch {
        /// Fingerprint of the task.
        expected: Fingerprint,
        /// Fingerprint in the upload.
        received: Fingerprint,
    },
    /// The bytes are not what they are taken for.
    #[error("{what} is malformed at byte {offset}: {reason}")]
    Malformed {
        /// What the bytes are taken for: an upload, or a task.
        what: &'static str,
        /// Where decoding stopped.
        offset: usize,
        /// What was expected there.
        reason: &'static str,
    },
}

/// An [`Error`], by its variant and fields.
macro_rules! error {
    ($Variant:ident $fields:tt) => {
        error!(@ $Variant $fields)
    };
    (@ $Variant:ident { $($fields:tt)* }) => {
        $crate::error::Error::$Variant { $($fields)* }
    };
}

pub(crate) use error;

impl Error {
    /// The same of a question, where it has a name; once.
    pub(crate) fn of_question(self, name: &str) -> Self {
        let told = matches!(self, Self::Question { .. });
        if told || name.is_empty() {
            return self;
        }
        self.blamed(name)
    }

    /// The same of the question called `name`.
    pub(crate) fn blamed(self, name: &str) -> Self {
        Self::Question {
            name: name.into(),
            error: Box::new(self),
        }
    }

    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::OutOfRange { .. } => ErrorCode::OutOfRange,
            Self::TaskId { .. } => ErrorCode::TaskId,
            Self::ItemName { .. } => ErrorCode::ItemName,
            Self::DuplicateName { .. } => ErrorCode::DuplicateName,
            Self::Combination { .. } => ErrorCode::Combination,
            Self::TaskDiffers { .. } => ErrorCode::TaskDiffers,
            Self::UnknownItem { .. } => ErrorCode::UnknownItem,
            Self::DuplicateItem { .. } => ErrorCode::DuplicateItem,
            Self::ValueRange { .. } => ErrorCode::ValueRange,
            Self::Version { .. } => ErrorCode::Version,
            Self::FingerprintMismatch { .. } => ErrorCode::FingerprintMismatch,
            Self::Malformed { .. } => ErrorCode::Malformed,
            Self::AnswerCount { .. } => ErrorCode::AnswerCount,
            Self::UnknownMechanism { .. } => ErrorCode::UnknownMechanism,
            Self::Question { error, .. } => error.code(),
        }
    }
}

impl ErrorCode {
    /// The code as words, in kebab case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OutOfRange => "out-of-range",
            Self::TaskId => "task-id",
            Self::ItemName => "item-name",
            Self::DuplicateName => "duplicate-name",
            Self::Combination => "combination",
            Self::TaskDiffers => "task-differs",
            Self::UnknownItem => "unknown-item",
            Self::DuplicateItem => "duplicate-item",
            Self::ValueRange => "value-range",
            Self::Version => "version",
            Self::FingerprintMismatch => "fingerprint-mismatch",
            Self::Malformed => "malformed",
            Self::NoEntropy => "no-entropy",
            Self::AnswerCount => "answer-count",
            Self::UnknownMechanism => "unknown-mechanism",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
