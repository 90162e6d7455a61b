//! Stable error codes.

#[cfg(doc)]
use super::Error;

/// Stable identity of one kind of [`Error`].
///
/// The numbers are passed to JavaScript. The meaning of a number never changes.
///
/// ```
/// use hushbin::{ErrorCode, bounds};
///
/// let error = bounds::EPSILON_RANGE.check_in_range(-1.0).unwrap_err();
/// assert_eq!(error.code(), ErrorCode::OutOfRange);
/// assert_eq!(error.code().as_str(), "out-of-range");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum ErrorCode {
    /// [`Error::OutOfRange`].
    OutOfRange = 1,
    /// [`Error::InvalidTaskId`].
    InvalidTaskId = 2,
    /// [`Error::InvalidItemName`].
    InvalidItemName = 3,
    /// [`Error::DuplicateName`].
    DuplicateName = 4,
    /// [`Error::InvalidCombination`].
    InvalidCombination = 5,
    /// [`Error::TaskDiffers`].
    TaskDiffers = 6,
    /// [`Error::UnknownItem`].
    UnknownItem = 7,
    /// [`Error::DuplicateItem`].
    DuplicateItem = 8,
    /// [`Error::ValueOutOfRange`].
    ValueOutOfRange = 9,
    /// [`Error::UnsupportedVersion`].
    UnsupportedVersion = 10,
    /// [`Error::FingerprintMismatch`].
    FingerprintMismatch = 11,
    /// [`Error::Malformed`].
    Malformed = 12,
    /// The operating system provided no randomness. Only the bindings raise it, because they seed
    /// the generator. The core itself requests no randomness.
    NoEntropy = 13,
    /// [`Error::WrongAnswerCount`].
    WrongAnswerCount = 14,
    /// [`Error::UnknownMechanism`].
    UnknownMechanism = 15,
}
