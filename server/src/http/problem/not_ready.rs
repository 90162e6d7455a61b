//! Reasons that a collector is not ready.

use serde::Serialize;

use crate::store::{Remedy, StoreError};

/// Reason that `/readyz` reports 503.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NotReadyReason {
    /// The disk is full.
    #[error("the journal's disk or quota is full")]
    NoRoom,
    /// The collector may not write to the journal.
    #[error("the collector may not write to the journal")]
    NotWritable,
    /// The collector was started as read-only.
    #[error("the collector was started with --read-only")]
    ReadOnly,
    /// Too many uploads are waiting.
    #[error("too many uploads are waiting")]
    Overloaded,
    /// The journal has not answered a test write within five seconds, or its database cannot be
    /// reached.
    #[error("the journal does not answer")]
    NoAnswer,
    /// The collector is stopping.
    #[error("the collector is stopping")]
    Stopping,
    /// The journal failed for a different reason.
    #[error("the journal failed; the log states the reason")]
    Failed,
}

impl NotReadyReason {
    pub(in crate::http) fn from_store_error(error: &StoreError) -> Self {
        match error {
            StoreError::ReadOnly => Self::ReadOnly,
            StoreError::Overloaded => Self::Overloaded,
            StoreError::NoAnswer => Self::NoAnswer,
            StoreError::Closed => Self::Stopping,
            StoreError::Failed(error) => match error.remedy() {
                Remedy::FreeSpace => Self::NoRoom,
                Remedy::Permission => Self::NotWritable,
                Remedy::RestoreConnection => Self::NoAnswer,
                Remedy::ReadCollectorLog => Self::Failed,
            },
            StoreError::BatchFillsTooFast
            | StoreError::TooFewReportsToClose { .. }
            | StoreError::ShuffledBatchIncomplete
            | StoreError::InvalidBlock(_)
            | StoreError::TaskDeleted { .. } => Self::Failed,
        }
    }
}
