//! Conversions to problems from errors of the store, the analysis and the core.

use hushbin_analysis::estimate::EstimateError;
use hushbin_analysis::heavy_hitters::SearchError;
use hushbin_analysis::sums::SumQueryError;

use super::kinds::Problem;
use crate::estimates::QueryTextError;
use crate::ohttp;
use crate::store::{JournalError, MemoryExhausted, Remedy, StoreError};

impl From<MemoryExhausted> for Problem {
    fn from(_: MemoryExhausted) -> Self {
        Self::Overloaded
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            // The store closes when the collector stops. Another collector, or this one after its
            // restart, will take the upload.
            StoreError::Overloaded | StoreError::Closed | StoreError::NoAnswer => Self::Overloaded,
            StoreError::BatchFillsTooFast => Self::BatchFillsTooFast,
            StoreError::ReadOnly => Self::ReadOnly,
            StoreError::ShuffledBatchIncomplete => Self::BatchIncomplete,
            StoreError::InvalidBlock(error) => Self::InvalidBlock(error.to_string()),
            StoreError::TaskDeleted { id } => Self::UnknownTask(id),
            StoreError::TooFewReportsToClose {
                reports,
                min_reports,
            } => Self::BatchTooSmall {
                reports,
                min_reports,
            },
            // The database may be back, or its standby promoted, within seconds.
            StoreError::Failed(error) if error.remedy() == Remedy::RestoreConnection => {
                Self::Overloaded
            }
            // The writer has logged the error already.
            StoreError::Failed(_) => Self::Storage,
        }
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        let detail = error.to_string();
        match error {
            JournalError::ReportsDeleted { .. } => Self::ReportsGone(detail),
            JournalError::InvalidTask { .. } | JournalError::Settings { .. } => {
                Self::InvalidTask(detail)
            }
            JournalError::TaskExists { id } => Self::TaskExists(id),
            JournalError::DamagedBatch { batch, .. } => {
                tracing::error!(detail, "a released batch is damaged");
                Self::DamagedBatch { batch }
            }
            JournalError::Closed => Self::Overloaded,
            JournalError::ReadOnly => Self::ReadOnly,
            error => {
                tracing::error!(detail, "the journal cannot be read");
                match error {
                    // As for uploads: the database may be back within seconds.
                    JournalError::Engine(error) if error.remedy() == Remedy::RestoreConnection => {
                        Self::Overloaded
                    }
                    _ => Self::Storage,
                }
            }
        }
    }
}

impl From<EstimateError> for Problem {
    fn from(error: EstimateError) -> Self {
        let detail = error.to_string();
        match error {
            EstimateError::UnknownItem { item } => Self::UnknownItem { item, detail },
            EstimateError::UnknownPostProcessing { name } => Self::UnknownPostProcessing {
                post_processing: name,
                detail,
            },
            EstimateError::MissingEstimand { post, .. }
            | EstimateError::PostProcessingNeedsAllItems { post } => {
                let post_processing = post.as_str();
                Self::ImpossiblePostProcessing {
                    post_processing,
                    detail,
                }
            }
            _ => Self::BadQuery(detail),
        }
    }
}

impl From<SumQueryError> for Problem {
    fn from(error: SumQueryError) -> Self {
        match error {
            SumQueryError::InvalidEstimateQuery(error) => error.into(),
            // The query is fine: other batches may have an answer.
            SumQueryError::ImpossibleCounts(error) => Self::ImpossibleTotals(error.to_string()),
            error => Self::BadQuery(error.to_string()),
        }
    }
}

impl From<QueryTextError> for Problem {
    fn from(error: QueryTextError) -> Self {
        match error {
            QueryTextError::InvalidPostProcessing(error) => error.into(),
            error => Self::BadQuery(error.to_string()),
        }
    }
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        let detail = error.to_string();
        match error {
            SearchError::QuestionNotFound(error) => error.into(),
            SearchError::TooManyHashes { .. } => Self::SearchTooLong(detail),
            // The client is gone, so this is never read.
            SearchError::SearchCancelled => Self::Overloaded,
            _ => Self::BadQuery(detail),
        }
    }
}

impl From<ohttp::DecapsulationError> for Problem {
    fn from(error: ohttp::DecapsulationError) -> Self {
        let detail = match error {
            ohttp::DecapsulationError::UnknownKeyOrSuite => return Self::OhttpKey,
            ohttp::DecapsulationError::RequestTooShort => {
                "it is too short for an encapsulated request"
            }
            ohttp::DecapsulationError::DecryptionFailed => {
                "it cannot be opened with the key that it names"
            }
        };
        Self::BadRequest(detail.to_owned())
    }
}

/// Conversion of errors of decoding an upload.
impl From<hushbin::Error> for Problem {
    fn from(error: hushbin::Error) -> Self {
        match error {
            hushbin::Error::FingerprintMismatch { expected, received } => {
                Self::FingerprintMismatch { expected, received }
            }
            error => Self::MalformedUpload {
                code: error.code().as_str(),
                detail: error.to_string(),
            },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::EngineError;

    #[test]
    fn a_database_may_be_back_sooner_than_a_damaged_journal() {
        let seconds = |error: EngineError| Problem::from(JournalError::from(error)).retry_after();
        let unreachable = EngineError::DatabaseUnreachable(String::new());
        assert_eq!(seconds(unreachable).unwrap(), "1");
        assert_eq!(seconds(EngineError::Damaged(String::new())).unwrap(), "30");
    }
}
