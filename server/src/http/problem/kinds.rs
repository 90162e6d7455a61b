//! Problems, each with its type, status and title.

use hushbin::{Fingerprint, UploadId};
use hushbin_analysis::estimate::EstimateError;

use super::not_ready::NotReady;

/// Error as the client learns it. Causes inside the collector stay in its log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Problem {
    /// No task has this id.
    UnknownTask {
        /// The id asked for.
        id: String,
    },
    /// The body is no upload.
    MalformedUpload(hushbin::Error),
    /// The upload was made under other parameters than the task's.
    FingerprintMismatch {
        /// Fingerprint of the task.
        expected: Fingerprint,
        /// Fingerprint in the upload.
        received: Fingerprint,
    },
    /// Other bytes were accepted under an upload's id before. What else the body
    /// holds was taken.
    UploadIdConflict {
        /// Of the first upload that was not taken.
        id: UploadId,
    },
    /// The body is longer than the collector reads.
    TooLarge {
        /// Most bytes that it reads.
        limit: usize,
    },
    /// The body is compressed, or encoded otherwise.
    EncodedBody,
    /// The body ended early or broke the protocol.
    IncompleteBody,
    /// The body did not arrive in time.
    Timeout,
    /// A query parameter is unknown or has no meaning.
    BadQuery {
        /// What is wrong.
        detail: String,
    },
    /// The query asks for estimates that cannot be given.
    Estimate(EstimateError),
    /// No batch of the task is released yet.
    NothingReleased {
        /// How many reports the open batch has.
        have: u64,
        /// How many it needs to be closed.
        need: u64,
    },
    /// No batch of this number is released.
    UnknownBatch {
        /// The batch asked for.
        batch: u64,
    },
    /// The open batch has too few reports to be closed.
    BatchTooSmall {
        /// How many reports it has.
        have: u64,
        /// How many it needs.
        need: u64,
    },
    /// What is asked for needs reports that are no longer kept.
    ReportsGone {
        /// What is gone.
        detail: String,
    },
    /// Who asks sends no token that is known.
    Unauthorized {
        /// Whether one was sent, which is none of the collector's.
        sent: bool,
    },
    /// Who asks may do less than that.
    Forbidden,
    /// The body says something else than is asked for.
    BadRequest {
        /// What is wrong.
        detail: String,
    },
    /// The task cannot be collected.
    InvalidTask {
        /// What is wrong.
        detail: String,
    },
    /// There is a task of this id.
    TaskExists {
        /// The id.
        id: String,
    },
    /// A search that takes longer than a request may.
    SearchTooLong {
        /// What there is to do.
        detail: String,
    },
    /// To count so many items of so many reports takes longer than a request may.
    TooManyItems {
        /// Items asked for.
        have: usize,
        /// Items that may be asked for.
        most: u64,
    },
    /// More is waiting than the collector will hold.
    Overloaded,
    /// The journal did not take or give data.
    Storage,
    /// A write through the journal did not succeed.
    NotReady(NotReady),
    /// The journal is served to be read only.
    ReadOnly,
    /// The store is still being opened.
    Starting,
    /// The peer has asked too often.
    TooManyRequests,
    /// The upload comes from a page that the task is not for.
    OriginNotAllowed,
    /// What is asked for is done by another role.
    OtherRole,
    /// The analyser's keys are not known yet.
    NoKeys,
    /// A block is not signed by a shuffler that is known.
    UnknownShuffler,
    /// An upload has more reports than the task takes in one.
    TooManyReports {
        /// Reports that it has.
        have: usize,
        /// Reports that it may have.
        most: u32,
    },
    /// An upload has another number of messages than everybody sends for the task.
    MessageCount {
        /// Messages that it has.
        have: usize,
        /// Messages that it has to have.
        expected: u32,
    },
    /// What is asked for is not of sums that a shuffler hides.
    OfSums,
    /// What came through a relay is sealed to a key, or by a suite, that this gateway has not.
    OhttpKey,
    /// The request is for a host that this collector is not.
    Misdirected,
    /// A defect of the collector.
    Internal,
    /// Nothing is served at this path.
    NotFound,
    /// The path is served, for other methods.
    MethodNotAllowed,
}

/// Identity of a kind of problem.
pub(super) struct Kind {
    pub(super) slug: &'static str,
    pub(super) status: u16,
    pub(super) title: &'static str,
}

/// Slug of the problem that a response is, kept in its extensions for metrics.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Answered(pub(in crate::http) &'static str);

impl Problem {
    /// The one place where type, status and title are defined.
    #[rustfmt::skip]
    pub(super) const fn kind(&self) -> Kind {
        let (slug, status, title) = match self {
            Self::UnknownTask { .. } => ("unknown-task", 404, "There is no such task"),
            Self::MalformedUpload(_) => ("malformed-upload", 400, "The body is not an upload of this task"),
            Self::FingerprintMismatch { .. } => ("fingerprint-mismatch", 409, "The upload was made under other parameters than the task's"),
            Self::UploadIdConflict { .. } => ("upload-id-conflict", 409, "Another upload was accepted under this upload id"),
            Self::TooLarge { .. } => ("too-large", 413, "The body is too large"),
            Self::EncodedBody => ("encoded-body", 415, "The body is encoded"),
            Self::IncompleteBody => ("incomplete-body", 400, "The body ended early"),
            Self::Timeout => ("timeout", 408, "The body did not arrive in time"),
            Self::Estimate(EstimateError::UnknownItem { .. }) => ("unknown-item", 404, "The task has no such item"),
            Self::Estimate(EstimateError::UnknownPostProcessing { .. }) => ("unknown-post-processing", 400, "There is no such post-processing"),
            Self::Estimate(EstimateError::NotEstimated { .. } | EstimateError::NotAllItems { .. }) => ("impossible-post-processing", 400, "The estimates cannot be processed so"),
            Self::BadQuery { .. } | Self::Estimate(_) => ("bad-query", 400, "The query cannot be answered"),
            Self::NothingReleased { .. } => ("nothing-released", 409, "No reports of the task are released yet"),
            Self::UnknownBatch { .. } => ("unknown-batch", 404, "There is no such release"),
            Self::BatchTooSmall { .. } => ("batch-too-small", 409, "The open batch has too few reports"),
            Self::ReportsGone { .. } => ("reports-gone", 410, "The reports are no longer kept"),
            Self::Unauthorized { .. } => ("unauthorized", 401, "A token is needed"),
            Self::Forbidden => ("forbidden", 403, "The token is for less than this"),
            Self::BadRequest { .. } => ("bad-request", 400, "The body is not what is asked for"),
            Self::InvalidTask { .. } => ("invalid-task", 400, "The task cannot be collected"),
            Self::TaskExists { .. } => ("task-exists", 409, "There is such a task"),
            Self::SearchTooLong { .. } => ("search-too-long", 400, "The search takes longer than a request may"),
            Self::TooManyItems { .. } => ("too-many-items", 400, "To count so many items takes longer than a request may"),
            Self::Overloaded => ("overloaded", 503, "The collector is busy"),
            Self::Storage => ("storage", 503, "The journal failed"),
            Self::NotReady(_) => ("not-ready", 503, "The collector cannot take uploads"),
            Self::ReadOnly => ("read-only", 503, "The collector takes nothing"),
            Self::Starting => ("starting", 503, "The collector is opening its journal"),
            Self::TooManyRequests => ("too-many-requests", 429, "Too many requests came from here"),
            Self::OriginNotAllowed => ("origin-not-allowed", 403, "The task takes no reports from this page"),
            Self::TooManyReports { .. } => ("too-many-reports", 400, "The upload has more reports than the task takes in one"),
            Self::MessageCount { .. } => ("message-count", 400, "The upload has not as many messages as everybody sends"),
            Self::OfSums => ("of-sums", 404, "The task's sums are hidden by a shuffler, which leaves nothing else to ask for"),
            Self::OtherRole => ("other-role", 404, "Another role does this"),
            Self::NoKeys => ("no-keys", 503, "The analyser's keys are not known"),
            Self::UnknownShuffler => ("unknown-shuffler", 403, "No known shuffler has signed this"),
            Self::OhttpKey => ("ohttp-key", 400, "The request is sealed to a key that is not known"),
            Self::Misdirected => ("misdirected", 421, "This host is not served here"),
            Self::Internal => ("internal", 500, "The collector has a defect"),
            Self::NotFound => ("not-found", 404, "Nothing is served here"),
            Self::MethodNotAllowed => ("method-not-allowed", 405, "The method is not served here"),
        };
        Kind { slug, status, title }
    }

    /// The end of its type, which no other kind has.
    pub(in crate::http) const fn slug(&self) -> &'static str {
        self.kind().slug
    }
}
