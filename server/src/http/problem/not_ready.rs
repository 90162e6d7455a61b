//! Reasons that a collector is not ready.

use crate::store::{Remedy, StoreError};

/// Reason that `/readyz` reports 503.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotReady {
    /// The disk is full.
    Room,
    /// The journal may not be written to.
    Permission,
    /// The collector is read-only.
    ReadOnly,
    /// Too many uploads are waiting.
    Overloaded,
    /// The collector is stopping.
    Stopping,
    /// The journal failed otherwise.
    Failed,
}

impl NotReady {
    pub(in crate::http) fn of(error: &StoreError) -> Self {
        match error {
            StoreError::ReadOnly => Self::ReadOnly,
            StoreError::Overloaded => Self::Overloaded,
            StoreError::Closed => Self::Stopping,
            StoreError::Failed(error) => match error.remedy() {
                Remedy::Room => Self::Room,
                Remedy::Permission => Self::Permission,
                Remedy::Other => Self::Failed,
            },
            StoreError::BatchTooSmall { .. } | StoreError::Removed { .. } => Self::Failed,
        }
    }

    /// Returns the reason for programs, and for people.
    pub(super) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Room => ("no-room", "the journal has no room on its disk"),
            Self::Permission => ("not-writable", "the journal may not be written to"),
            Self::ReadOnly => ("read-only", "the collector was started with --read-only"),
            Self::Overloaded => ("overloaded", "too many uploads are waiting"),
            Self::Stopping => ("stopping", "the collector is going away"),
            Self::Failed => ("failed", "the journal failed; the log says how"),
        }
    }
}
