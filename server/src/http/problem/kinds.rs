//! Problems, each with its type, status and title.

use hushbin::Fingerprint;
use serde::Serialize;

use super::not_ready::NotReady;

/// Error as the client learns it. Causes inside the collector stay in its log.
///
/// Displayed, it is the sentence about this occurrence, empty if the title says everything.
/// Serialized, it is the members beside type, title, status and detail.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize)]
#[serde(untagged)]
pub(crate) enum Problem {
    /// No task has this id.
    #[error("there is no task {0:?}")]
    UnknownTask(#[serde(skip)] String),
    /// The body is no upload.
    #[error("{detail}")]
    MalformedUpload {
        code: &'static str,
        #[serde(skip)]
        detail: String,
    },
    /// The upload was made under other parameters than the task's.
    #[error("the task's fingerprint is {expected}, the upload's is {received}")]
    FingerprintMismatch {
        expected: Fingerprint,
        received: Fingerprint,
    },
    /// Other bytes were accepted under an upload's id before: the first that was not taken. What
    /// else the body holds was taken.
    #[error(
        "a retry must send the same bytes as the first attempt; uploads in the body with other ids \
         than {id} were accepted, unless they conflict too"
    )]
    UploadIdConflict { id: String },
    /// The body is longer than the collector reads.
    #[error("a body has at most {limit} bytes")]
    TooLarge { limit: usize },
    /// The body is compressed, or encoded otherwise.
    #[error("uploads are read as they are, without a Content-Encoding")]
    EncodedBody,
    /// The body ended early or broke the protocol.
    #[error("")]
    IncompleteBody,
    /// The body did not arrive in time.
    #[error("")]
    Timeout,
    /// A query parameter is unknown or has no meaning.
    #[error("{0}")]
    BadQuery(#[serde(skip)] String),
    /// The query asks for an item that the task does not have.
    #[error("{detail}")]
    UnknownItem {
        item: String,
        #[serde(skip)]
        detail: String,
    },
    /// The query asks for a post-processing that there is not.
    #[error("{detail}")]
    UnknownPostProcessing {
        post: String,
        #[serde(skip)]
        detail: String,
    },
    /// The query asks for a post-processing of what is not estimated.
    #[error("{detail}")]
    ImpossiblePostProcessing {
        post: &'static str,
        #[serde(skip)]
        detail: String,
    },
    /// No batch of the task is released yet.
    #[error("the open batch has {have} reports, and is closed with {need} at least")]
    NothingReleased { have: u64, need: u64 },
    /// No batch of this number is released.
    #[error("no batch {batch} is released")]
    UnknownBatch { batch: u64 },
    /// The open batch has too few reports to be closed.
    #[error("the open batch has {have} reports, and is closed with {need} at least")]
    BatchTooSmall { have: u64, need: u64 },
    /// What is asked for needs reports that are no longer kept.
    #[error("{0}")]
    ReportsGone(#[serde(skip)] String),
    /// Who asks sends no token that is known.
    #[error("send \"Authorization: Bearer TOKEN\"; hushbin token create makes one")]
    Unauthorized,
    /// Who asks sends a token, which is none of the collector's.
    #[error(
        "the token is unknown to this collector: it was revoked or made for another; \
         hushbin token list lists the valid ones"
    )]
    UnknownToken,
    /// Who asks may do less than that.
    #[error("an admin's token is needed")]
    Forbidden,
    /// The body says something else than is asked for.
    #[error("{0}")]
    BadRequest(#[serde(skip)] String),
    /// The task cannot be collected.
    #[error("{0}")]
    InvalidTask(#[serde(skip)] String),
    /// There is a task of this id.
    #[error("there is a task {0:?} already")]
    TaskExists(#[serde(skip)] String),
    /// A search that takes longer than a request may.
    #[error("{0}")]
    SearchTooLong(#[serde(skip)] String),
    /// To count so many items of so many reports takes longer than a request may.
    #[error(
        "{have} items are requested, expected at most {most}: every report is compared with each \
         item; request fewer, or estimate from exported reports (hushbin journal export)"
    )]
    TooManyItems { have: usize, most: u64 },
    /// More is waiting than the collector will hold.
    #[error("try again later")]
    Overloaded,
    /// The journal did not take or give data.
    #[error("it could not be read or written, and nothing was accepted; try again later")]
    Storage,
    /// A write through the journal did not succeed.
    #[error("{reason}")]
    NotReady { reason: NotReady },
    /// The journal is served to be read only.
    #[error("released batches can still be read; try again later")]
    ReadOnly,
    /// The store is still being opened.
    #[error("")]
    Starting,
    /// The peer has asked too often.
    #[error("try again later")]
    TooManyRequests,
    /// The upload comes from a page that the task is not for.
    #[error("the Origin header names no origin of the task's settings")]
    OriginNotAllowed,
    /// What is asked for is done by another role.
    #[error("pages send reports to shufflers, analysers estimate from them")]
    OtherRole,
    /// The analyser's keys are not known yet.
    #[error("the shuffler has not heard from its analyser; try again later")]
    NoKeys,
    /// A block is not signed by a shuffler that is known.
    #[error("the header hushbin-signature is not by a shuffler of --shuffler")]
    UnknownShuffler,
    /// An upload has more reports than the task takes in one.
    #[error("an upload has {have} reports, at most {most} are taken")]
    TooManyReports { have: usize, most: u32 },
    /// An upload has another number of messages than everybody sends for the task.
    #[error("an upload has {have} messages, expected exactly {expected}")]
    MessageCount { have: usize, expected: u32 },
    /// What is asked for is not of sums that a shuffler hides.
    #[error("GET estimates, privacy and influence of the task")]
    OfSums,
    /// What came through a relay is sealed to a key, or by a suite, that this gateway has not.
    #[error("GET /.well-known/ohttp-gateway lists keys and suites")]
    OhttpKey,
    /// The request is for a host that this collector is not.
    #[error("")]
    Misdirected,
    /// A defect of the collector.
    #[error("")]
    Internal,
    /// Nothing is served at this path.
    #[error("")]
    NotFound,
    /// The path is served, for other methods.
    #[error("")]
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
            Self::UnknownTask(_) => ("unknown-task", 404, "There is no such task"),
            Self::MalformedUpload { .. } => ("malformed-upload", 400, "The body is not an upload of this task"),
            Self::FingerprintMismatch { .. } => ("fingerprint-mismatch", 409, "The upload was made under other parameters than the task's"),
            Self::UploadIdConflict { .. } => ("upload-id-conflict", 409, "Another upload was accepted under this upload id"),
            Self::TooLarge { .. } => ("too-large", 413, "The body is too large"),
            Self::EncodedBody => ("encoded-body", 415, "The body is encoded"),
            Self::IncompleteBody => ("incomplete-body", 400, "The body ended early"),
            Self::Timeout => ("timeout", 408, "The body did not arrive in time"),
            Self::UnknownItem { .. } => ("unknown-item", 404, "The task has no such item"),
            Self::UnknownPostProcessing { .. } => ("unknown-post-processing", 400, "There is no such post-processing"),
            Self::ImpossiblePostProcessing { .. } => ("impossible-post-processing", 400, "The estimates cannot be processed so"),
            Self::BadQuery(_) => ("bad-query", 400, "The query cannot be answered"),
            Self::NothingReleased { .. } => ("nothing-released", 409, "No reports of the task are released yet"),
            Self::UnknownBatch { .. } => ("unknown-batch", 404, "There is no such release"),
            Self::BatchTooSmall { .. } => ("batch-too-small", 409, "The open batch has too few reports"),
            Self::ReportsGone(_) => ("reports-gone", 410, "The reports are no longer kept"),
            Self::Unauthorized | Self::UnknownToken => ("unauthorized", 401, "A token is needed"),
            Self::Forbidden => ("forbidden", 403, "The token is for less than this"),
            Self::BadRequest(_) => ("bad-request", 400, "The body is malformed"),
            Self::InvalidTask(_) => ("invalid-task", 400, "The task cannot be collected"),
            Self::TaskExists(_) => ("task-exists", 409, "There is such a task"),
            Self::SearchTooLong(_) => ("search-too-long", 400, "The search takes longer than a request may"),
            Self::TooManyItems { .. } => ("too-many-items", 400, "Too many items for one request"),
            Self::Overloaded => ("overloaded", 503, "The collector is busy"),
            Self::Storage => ("storage", 503, "The journal failed"),
            Self::NotReady { .. } => ("not-ready", 503, "The collector cannot take uploads"),
            Self::ReadOnly => ("read-only", 503, "The collector takes nothing"),
            Self::Starting => ("starting", 503, "The collector is opening its journal"),
            Self::TooManyRequests => ("too-many-requests", 429, "Too many requests came from here"),
            Self::OriginNotAllowed => ("origin-not-allowed", 403, "The task takes no reports from this page"),
            Self::TooManyReports { .. } => ("too-many-reports", 400, "The upload has more reports than the task takes in one"),
            Self::MessageCount { .. } => ("message-count", 400, "The upload has the wrong number of messages"),
            Self::OfSums => ("of-sums", 404, "The task has sums through a shuffler only"),
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
