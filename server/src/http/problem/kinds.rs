//! Problems: kinds of error responses, each with a type, a status and a title.

use hushbin::Fingerprint;
use serde::Serialize;

use super::not_ready::NotReadyReason;

/// Error as the client sees it. Causes inside the collector appear only in the collector's log.
///
/// `Display` writes the sentence about this occurrence (`detail`), which is empty if the title is
/// enough. `Serialize` writes the members besides `type`, `title`, `status` and `detail`.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize)]
#[serde(untagged)]
pub(crate) enum Problem {
    /// Unknown task id.
    #[error("there is no task {0:?}")]
    UnknownTask(#[serde(skip)] String),
    /// Body that is not an upload.
    #[error("{detail}")]
    MalformedUpload {
        code: &'static str,
        #[serde(skip)]
        detail: String,
    },
    /// Upload whose task parameters differ from those of the task.
    #[error("the task's fingerprint is {expected}, the upload's is {received}")]
    FingerprintMismatch {
        expected: Fingerprint,
        received: Fingerprint,
    },
    /// Upload id under which different bytes were accepted before. `id` is the first such id in the
    /// body. The remaining uploads in the body were accepted unless they conflict too.
    #[error(
        "a retry must send the same bytes as the first attempt; uploads in the body with other ids \
         than {id} were accepted, unless they conflict too"
    )]
    UploadIdConflict { id: String },
    /// Body longer than the collector reads.
    #[error("a body has at most {max_bytes} bytes")]
    TooLarge { max_bytes: usize },
    /// Body with a content encoding, such as compression.
    #[error("uploads are read as they are, without a Content-Encoding")]
    EncodedBody,
    /// Body that ended early or broke the protocol.
    #[error("")]
    IncompleteBody,
    /// Body that did not arrive in time.
    #[error("")]
    Timeout,
    /// Query parameter that is unknown or invalid.
    #[error("{0}")]
    BadQuery(#[serde(skip)] String),
    /// Query for an item that the task does not have.
    #[error("{detail}")]
    UnknownItem {
        item: String,
        #[serde(skip)]
        detail: String,
    },
    /// Query for an unknown post-processing.
    #[error("{detail}")]
    UnknownPostProcessing {
        post_processing: String,
        #[serde(skip)]
        detail: String,
    },
    /// Query for a post-processing that cannot be applied to the estimates.
    #[error("{detail}")]
    ImpossiblePostProcessing {
        post_processing: &'static str,
        #[serde(skip)]
        detail: String,
    },
    /// Task without a released batch.
    #[error(
        "the open batch has {reports} reports; it needs at least {min_reports} to be closed{}",
        closing_hint(*reports, *min_reports)
    )]
    NothingReleased { reports: u64, min_reports: u64 },
    /// Released batch whose file is damaged or missing.
    #[error(
        "batch {batch} is damaged; the collector's log names the file; other batches can be \
         requested by their numbers, such as ?batches=1,4-6"
    )]
    DamagedBatch { batch: u64 },
    /// Released totals that no batch has.
    #[error("{0}")]
    ImpossibleTotals(#[serde(skip)] String),
    /// Number of a batch that is not released.
    #[error("batch {batch} is not released")]
    UnknownBatch { batch: u64 },
    /// Open batch with too few reports to be closed.
    #[error("the open batch has {reports} reports; it needs at least {min_reports} to be closed")]
    BatchTooSmall { reports: u64, min_reports: u64 },
    /// Query that needs reports which are no longer kept.
    #[error("{0}")]
    ReportsGone(#[serde(skip)] String),
    /// Request without a token.
    #[error("send \"Authorization: Bearer TOKEN\"; create a token with hushbin token create")]
    Unauthorized,
    /// Token that the collector does not know.
    #[error(
        "this collector does not know the token: it was revoked, or made for another collector; \
         hushbin token list shows the valid tokens"
    )]
    UnknownToken,
    /// Token whose role does not allow the request.
    #[error("an admin's token is needed")]
    Forbidden,
    /// Body with unexpected content.
    #[error("{0}")]
    BadRequest(#[serde(skip)] String),
    /// Task that cannot be collected.
    #[error("{0}")]
    InvalidTask(#[serde(skip)] String),
    /// Task id that is in use already.
    #[error("there is a task {0:?} already")]
    TaskExists(#[serde(skip)] String),
    /// Search that takes longer than a request may.
    #[error("{0}")]
    SearchTooLong(#[serde(skip)] String),
    /// Query for so many items that counting them in all reports would take longer than a request
    /// may.
    #[error(
        "{items} items are requested, expected at most {max_items}: every report is compared with each \
         item; request fewer, or estimate from exported reports (hushbin journal export)"
    )]
    TooManyItems { items: usize, max_items: u64 },
    /// Query whose predicted processor time, in seconds, is more than its share of the server.
    #[error(
        "the query takes up to {seconds:.0} s of processor time, expected at most {max_seconds:.0}; request \
         fewer items, batches or quantiles, or no conditional means, or estimate from exported \
         reports (hushbin journal export)"
    )]
    QueryTooCostly { seconds: f64, max_seconds: f64 },
    /// Request that is refused because too much work is waiting.
    #[error("try again later")]
    Overloaded,
    /// Upload to a batch that has more reports than its age allows.
    #[error("the task's open batch fills too fast; send the reports again later")]
    BatchFillsTooFast,
    /// Journal that could not be read or written.
    #[error("the journal could not be read or written, and nothing was accepted; try again later")]
    Storage,
    /// Tokens that could not be read, so that no one has access.
    #[error(
        "the tokens cannot be read, so no token is valid; the collector's log states the reason"
    )]
    TokensUnreadable,
    /// Test write to the journal that failed, with the reason.
    #[error("{reason}")]
    NotReady { reason: NotReadyReason },
    /// Write request to a collector that is read-only.
    #[error("released batches can still be read; try again later")]
    ReadOnly,
    /// Request that arrived while the store was being opened.
    #[error("")]
    Starting,
    /// Peer that exceeded its rate of requests.
    #[error("try again later")]
    TooManyRequests,
    /// Upload from a page that the task's settings do not allow.
    #[error("the Origin header names no origin of the task's settings")]
    OriginNotAllowed,
    /// Request that only servers of a different role serve.
    #[error("pages send reports to shufflers; analysers compute the estimates")]
    OtherRole,
    /// Request for the analyser's keys, which the shuffler does not know yet.
    #[error("the shuffler has not yet received the keys of its analyser; try again later")]
    NoKeys,
    /// Upload with a report that is sealed to a key that the shuffler does not know.
    #[error(
        "the analyser has not listed the sealing key {key_id}; the shuffler asks the analyser \
         again; send the upload again later"
    )]
    UnlistedSealingKey { key_id: String },
    /// Block with reports that are sealed to keys which the analyser lacks.
    #[error(
        "start the analyser with the --sealing-key of each of these keys, or give up their reports \
         with --lost-sealing-key; the shuffler keeps the batch"
    )]
    MissingSealingKeys {
        /// Ids of the keys, in hexadecimal.
        missing_keys: Vec<String>,
    },
    /// Block that cannot be what its shuffler states.
    #[error("{0}")]
    InvalidBlock(#[serde(skip)] String),
    /// Open batch that still waits for blocks of a shuffled batch.
    #[error(
        "the open batch has the first blocks of a shuffled batch; try again when its shuffler has \
         sent the rest"
    )]
    BatchIncomplete,
    /// Block that is not signed by a known shuffler.
    #[error("the header hushbin-signature is not from a shuffler listed in --shuffler-key")]
    UnknownShuffler,
    /// Request with more reports than the task's settings allow.
    #[error("the request has {reports} reports, expected at most {max_reports}")]
    TooManyReports { reports: usize, max_reports: u32 },
    /// Upload with fewer or more messages than the task permits.
    #[error("an upload has {messages} messages, expected {min_messages} to {max_messages}")]
    MessageCount {
        messages: u32,
        min_messages: u32,
        max_messages: u32,
    },
    /// Request that does not apply to shuffled sums.
    #[error("GET estimates, privacy or influence of the task instead")]
    NotForSums,
    /// Request from a relay that is sealed to an unknown key, or with an unsupported cipher suite.
    #[error("GET /.well-known/ohttp-gateway lists keys and suites")]
    OhttpKey,
    /// Request to a relay for a gateway that it does not have.
    #[error(
        "this relay has no gateway {0:?}; it forwards POST /gateways/HOST to the URLs of --gateway"
    )]
    UnknownGateway(#[serde(skip)] String),
    /// Request to a relay that is not of the type of sealed requests.
    #[error("the content type is expected to be message/ohttp-req, without a content encoding")]
    NotSealed,
    /// Gateway that a relay cannot reach.
    #[error("try again later")]
    GatewayUnreachable,
    /// Answer of a gateway to a relay that is too long or ends early.
    #[error("an answer has at most {max_bytes} bytes, and ends as announced; try again later")]
    GatewayAnswer {
        #[serde(skip)]
        max_bytes: usize,
    },
    /// Gateway that answers a relay too late.
    #[error("try again later")]
    GatewayTimeout,
    /// Request for a host name that the collector does not serve.
    #[error("")]
    Misdirected,
    /// Error that is caused by a defect of the collector.
    #[error("")]
    Internal,
    /// Request for an unknown path.
    #[error("")]
    NotFound,
    /// Request with a method that its path does not support.
    #[error("")]
    MethodNotAllowed,
}

/// Returns the end of a sentence that says how an open batch with enough reports is closed.
const fn closing_hint(reports: u64, min_reports: u64) -> &'static str {
    match reports >= min_reports {
        true => {
            ", which it has; the collector closes it by its number of reports or by its age, and \
             an admin closes it at once with POST /tasks/{id}/batches"
        }
        false => "",
    }
}

/// Slug, status and title of a kind of problem.
pub(super) struct ProblemKind {
    pub(super) slug: &'static str,
    pub(super) status: u16,
    pub(super) title: &'static str,
}

/// Slug of the problem that a response reports. The slug is in the response's extensions, so that
/// metrics can count the problem.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct ProblemSlug(pub(in crate::http) &'static str);

impl Problem {
    /// Returns the slug, status and title of the problem. They are defined only here.
    #[rustfmt::skip]
    pub(super) const fn kind(&self) -> ProblemKind {
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
            Self::ImpossiblePostProcessing { .. } => ("impossible-post-processing", 400, "The post-processing cannot be applied to these estimates"),
            Self::BadQuery(_) => ("bad-query", 400, "The query cannot be answered"),
            Self::NothingReleased { .. } => ("nothing-released", 409, "No reports of the task are released yet"),
            Self::DamagedBatch { .. } => ("damaged-batch", 500, "A released batch is damaged"),
            Self::ImpossibleTotals(_) => ("impossible-totals", 409, "The released totals are not those of a batch"),
            Self::UnknownBatch { .. } => ("unknown-batch", 404, "There is no such released batch"),
            Self::BatchTooSmall { .. } => ("batch-too-small", 409, "The open batch has too few reports"),
            Self::ReportsGone(_) => ("reports-gone", 410, "The reports are no longer kept"),
            Self::Unauthorized | Self::UnknownToken => ("unauthorized", 401, "A token is needed"),
            Self::Forbidden => ("forbidden", 403, "The role of the token does not allow this"),
            Self::BadRequest(_) => ("bad-request", 400, "The body is malformed"),
            Self::InvalidTask(_) => ("invalid-task", 400, "The task cannot be collected"),
            Self::TaskExists(_) => ("task-exists", 409, "There is already a task with this id"),
            Self::SearchTooLong(_) => ("search-too-long", 400, "The search takes longer than a request may"),
            Self::TooManyItems { .. } => ("too-many-items", 400, "Too many items for one request"),
            Self::QueryTooCostly { .. } => ("query-too-costly", 400, "The query costs more than one request may"),
            Self::Overloaded | Self::BatchFillsTooFast => ("overloaded", 503, "The collector is busy"),
            Self::Storage | Self::TokensUnreadable => ("storage", 503, "The journal failed"),
            Self::NotReady { .. } => ("not-ready", 503, "The collector cannot take uploads"),
            Self::ReadOnly => ("read-only", 503, "The collector is read-only"),
            Self::Starting => ("starting", 503, "The collector is opening its journal"),
            Self::TooManyRequests => ("too-many-requests", 429, "Too many requests came from here"),
            Self::OriginNotAllowed => ("origin-not-allowed", 403, "The task takes no reports from this page"),
            Self::TooManyReports { .. } => ("too-many-reports", 400, "The request has more reports than are taken in one"),
            Self::MessageCount { .. } => ("message-count", 400, "The upload has the wrong number of messages"),
            Self::NotForSums => ("not-for-sums", 404, "The task has sums through a shuffler only"),
            Self::OtherRole => ("other-role", 404, "A server of another role does this"),
            Self::NoKeys => ("no-keys", 503, "The analyser's keys are not known"),
            Self::UnlistedSealingKey { .. } => ("unlisted-sealing-key", 503, "A report is sealed to an unknown key"),
            Self::MissingSealingKeys { .. } => ("missing-sealing-key", 503, "The analyser lacks a sealing key"),
            Self::InvalidBlock(_) => ("invalid-block", 400, "The block cannot be what its shuffler states"),
            Self::BatchIncomplete => ("batch-incomplete", 409, "The open batch waits for blocks of a shuffled batch"),
            Self::UnknownShuffler => ("unknown-shuffler", 403, "No known shuffler has signed this"),
            Self::OhttpKey => ("ohttp-key", 400, "The request is sealed to a key that is not known"),
            Self::UnknownGateway(_) => ("unknown-gateway", 404, "The relay has no such gateway"),
            Self::NotSealed => ("not-sealed", 415, "The body is not a sealed request"),
            Self::GatewayUnreachable => ("gateway-unreachable", 502, "The gateway cannot be reached"),
            Self::GatewayAnswer { .. } => ("gateway-answer", 502, "The gateway's answer is invalid"),
            Self::GatewayTimeout => ("gateway-timeout", 504, "The gateway answers too late"),
            Self::Misdirected => ("misdirected", 421, "This host is not served here"),
            Self::Internal => ("internal", 500, "The collector has a defect"),
            Self::NotFound => ("not-found", 404, "Nothing is served here"),
            Self::MethodNotAllowed => ("method-not-allowed", 405, "The method is not served here"),
        };
        ProblemKind { slug, status, title }
    }

    /// Returns the unique last part of the problem's type URI.
    pub(in crate::http) const fn slug(&self) -> &'static str {
        self.kind().slug
    }
}
