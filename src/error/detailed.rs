//! Errors with fields and texts.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use super::code::ErrorCode;
use crate::fingerprint::Fingerprint;

/// Error of this crate.
///
/// The text names the wrong value and the expected one. Programs distinguish errors by
/// [`Error::code`], which is stable across releases.
///
/// ```
/// use hushbin::{ErrorCode, TaskDraft};
///
/// let draft: TaskDraft = serde_json::from_str(
///     r#"{ "id": "settings", "items": 4, "sparsity": 5, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let error = draft.resolve_task().unwrap_err();
/// assert_eq!(error.code(), ErrorCode::OutOfRange);
/// assert_eq!(error.to_string(), "sparsity is 5, expected 1 to 4");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A numeric parameter lies outside its range.
    #[error("{name} is {value}, expected {min} to {max}")]
    OutOfRange {
        /// Name of the parameter, as spelt in a task file.
        name: &'static str,
        /// Value that was given.
        value: f64,
        /// Minimum.
        min: f64,
        /// Maximum.
        max: f64,
    },
    /// The task id is not a slug, or its label is invalid.
    #[error(
        "task id {id:?} is not a slug: expected 1 to 64 of a-z, 0-9 and '-', first a letter or \
         digit, then perhaps ':' and a label: 1 to 32 of a-z, A-Z, 0-9, '-', '.' and '_', first a \
         letter or digit"
    )]
    InvalidTaskId {
        /// Id that was given.
        id: String,
    },
    /// An item's name is empty, too long, or contains a control character.
    #[error(
        "item {index} has the name {name:?}, expected 1 to 256 bytes and no control characters"
    )]
    InvalidItemName {
        /// Position in the task's list, from 0.
        index: usize,
        /// Name that was given.
        name: String,
    },
    /// Two items of a task share a name.
    #[error("two items are named {name:?}")]
    DuplicateName {
        /// Duplicate name.
        name: String,
    },
    /// Parameters are each in range but cannot be combined.
    #[error("{reason}")]
    InvalidCombination {
        /// Reason why the parameters cannot be combined, and the allowed alternative.
        reason: &'static str,
    },
    /// A task differs from the task in use under the same id.
    #[error("task differs from the one in use: {field} is {given}, expected {in_use}")]
    TaskDiffers {
        /// First field that differs, as spelt in a task file.
        field: &'static str,
        /// Value that was given.
        given: String,
        /// Value in use.
        in_use: String,
    },
    /// An entry names an item that the task does not have.
    #[error("item {item} is unknown: the task has {items} items")]
    UnknownItem {
        /// Index that was given.
        item: u64,
        /// Number of items in the task.
        items: u32,
    },
    /// One input names an item twice.
    #[error("item {item} occurs twice in one input")]
    DuplicateItem {
        /// Index or key that was given.
        item: u64,
    },
    /// The number of answers differs from the number that the question requires.
    #[error("{given} answers are given, expected exactly {expected}")]
    WrongAnswerCount {
        /// Number of given answers.
        given: usize,
        /// Number of answers that the question takes.
        expected: u32,
    },
    /// One of several questions has an error.
    #[error("question {name:?}: {error}")]
    ErrorInQuestion {
        /// Name of the question.
        name: String,
        /// Error of the question.
        error: Box<Error>,
    },
    /// An entry has a value that the task does not accept.
    #[error("item {item} has the value {value}, expected {expected}")]
    ValueOutOfRange {
        /// Index or key of the item.
        item: u64,
        /// Value that was given.
        value: f64,
        /// Values that the task accepts, in words.
        expected: &'static str,
    },
    /// This build of the core does not include the task's mechanism or kind of question.
    #[error("mechanism or kind {name:?} is unknown, or not part of this build")]
    UnknownMechanism {
        /// Name of the mechanism or kind.
        name: String,
    },
    /// The upload has a format version that this build does not read.
    #[error("upload has format version {found}, expected {expected}")]
    UnsupportedVersion {
        /// Version byte that the upload begins with.
        found: u8,
        /// Version byte that this build reads.
        expected: u8,
    },
    /// The upload was made under parameters that differ from the task's.
    #[error("upload is for task {received:?}, expected {expected:?}")]
    FingerprintMismatch {
        /// Fingerprint of the task.
        expected: Fingerprint,
        /// Fingerprint in the upload.
        received: Fingerprint,
    },
    /// The bytes cannot be decoded.
    #[error("{what} is malformed at byte {offset}: {reason}")]
    Malformed {
        /// Name of the content that the bytes should have: for example, an upload or a task.
        what: &'static str,
        /// Offset at which decoding stopped, in bytes.
        offset: usize,
        /// Content that was expected at the offset.
        reason: &'static str,
    },
}

/// Builds an [`Error`] from its variant and fields.
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
    /// Attributes the error to the question called `name`. Returns the error unchanged if the name
    /// is empty or the error already names a question.
    pub(crate) fn with_question_if_named(self, name: &str) -> Self {
        let is_attributed = matches!(self, Self::ErrorInQuestion { .. });
        if is_attributed || name.is_empty() {
            return self;
        }
        self.with_question(name)
    }

    /// Attributes the error to the question called `name`.
    pub(crate) fn with_question(self, name: &str) -> Self {
        Self::ErrorInQuestion {
            name: name.into(),
            error: Box::new(self),
        }
    }

    /// Returns the stable code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::OutOfRange { .. } => ErrorCode::OutOfRange,
            Self::InvalidTaskId { .. } => ErrorCode::InvalidTaskId,
            Self::InvalidItemName { .. } => ErrorCode::InvalidItemName,
            Self::DuplicateName { .. } => ErrorCode::DuplicateName,
            Self::InvalidCombination { .. } => ErrorCode::InvalidCombination,
            Self::TaskDiffers { .. } => ErrorCode::TaskDiffers,
            Self::UnknownItem { .. } => ErrorCode::UnknownItem,
            Self::DuplicateItem { .. } => ErrorCode::DuplicateItem,
            Self::ValueOutOfRange { .. } => ErrorCode::ValueOutOfRange,
            Self::UnsupportedVersion { .. } => ErrorCode::UnsupportedVersion,
            Self::FingerprintMismatch { .. } => ErrorCode::FingerprintMismatch,
            Self::Malformed { .. } => ErrorCode::Malformed,
            Self::WrongAnswerCount { .. } => ErrorCode::WrongAnswerCount,
            Self::UnknownMechanism { .. } => ErrorCode::UnknownMechanism,
            Self::ErrorInQuestion { error, .. } => error.code(),
        }
    }
}

impl ErrorCode {
    /// Returns the name of the code, in kebab case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OutOfRange => "out-of-range",
            Self::InvalidTaskId => "task-id",
            Self::InvalidItemName => "item-name",
            Self::DuplicateName => "duplicate-name",
            Self::InvalidCombination => "combination",
            Self::TaskDiffers => "task-differs",
            Self::UnknownItem => "unknown-item",
            Self::DuplicateItem => "duplicate-item",
            Self::ValueOutOfRange => "value-range",
            Self::UnsupportedVersion => "version",
            Self::FingerprintMismatch => "fingerprint-mismatch",
            Self::Malformed => "malformed",
            Self::NoEntropy => "no-entropy",
            Self::WrongAnswerCount => "answer-count",
            Self::UnknownMechanism => "unknown-mechanism",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
