//! Every error answer: `application/problem+json` (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hushbin::{Fingerprint, UploadId};
use serde_json::{Map, Value, json};

use crate::estimates::AskedError;
use crate::ohttp;
use crate::store::{Exhausted, OpenError, Remedy, StoreError};
use hushbin_analysis::estimate::{EstimateError, PostProcessing};
use hushbin_analysis::heavy_hitters::SearchError;
use hushbin_analysis::sums::SumQueryError;

/// What went wrong, as the client learns it. Causes inside the collector stay in
/// its log.
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
    /// The query asks for an item that the task does not have.
    UnknownItem {
        /// The item asked for.
        item: String,
    },
    /// The query asks for a post-processing that does not exist.
    UnknownPostProcessing {
        /// The name asked for.
        name: String,
    },
    /// The query asks for a post-processing that cannot be had of the task, or
    /// of the items named.
    PostProcessing {
        /// What was asked for.
        post: PostProcessing,
        /// What is missing.
        detail: String,
    },
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

/// Why uploads are not taken, as far as somebody who looks after the process has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotReady {
    /// The disk is full.
    Room,
    /// The journal may not be written to.
    Permission,
    /// The collector was started to read only.
    ReadOnly,
    /// More is waiting than the collector will hold.
    Overloaded,
    /// The collector is going away.
    Stopping,
    /// The journal failed otherwise.
    Failed,
}

impl NotReady {
    pub(super) fn of(error: &StoreError) -> Self {
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

    /// For programs, and for people.
    const fn words(self) -> (&'static str, &'static str) {
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

/// Identity of a kind of problem.
struct Kind {
    slug: &'static str,
    status: u16,
    title: &'static str,
}

/// The slug of the problem that an answer is, kept with it to be counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answered(pub(super) &'static str);

/// Seconds after which a refused client may try again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// The same of a peer that has asked too often: a part of the minute that is counted.
const RETRY_RATE: HeaderValue = HeaderValue::from_static("10");

/// The same where the journal failed.
const RETRY_STORAGE: HeaderValue = HeaderValue::from_static("30");

impl Problem {
    /// The one place where type, status and title are defined.
    #[rustfmt::skip]
    const fn kind(&self) -> Kind {
        let (slug, status, title) = match self {
            Self::UnknownTask { .. } => ("unknown-task", 404, "There is no such task"),
            Self::MalformedUpload(_) => ("malformed-upload", 400, "The body is not an upload of this task"),
            Self::FingerprintMismatch { .. } => ("fingerprint-mismatch", 409, "The upload was made under other parameters than the task's"),
            Self::UploadIdConflict { .. } => ("upload-id-conflict", 409, "Another upload was accepted under this upload id"),
            Self::TooLarge { .. } => ("too-large", 413, "The body is too large"),
            Self::EncodedBody => ("encoded-body", 415, "The body is encoded"),
            Self::IncompleteBody => ("incomplete-body", 400, "The body ended early"),
            Self::Timeout => ("timeout", 408, "The body did not arrive in time"),
            Self::BadQuery { .. } => ("bad-query", 400, "The query cannot be answered"),
            Self::UnknownItem { .. } => ("unknown-item", 404, "The task has no such item"),
            Self::UnknownPostProcessing { .. } => ("unknown-post-processing", 400, "There is no such post-processing"),
            Self::PostProcessing { .. } => ("impossible-post-processing", 400, "The estimates cannot be processed so"),
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
    pub(super) const fn slug(&self) -> &'static str {
        self.kind().slug
    }

    /// Sentence and members that belong to this occurrence.
    fn particulars(&self) -> (Option<String>, Vec<(&'static str, Value)>) {
        match self {
            Self::UnknownTask { id } => (Some(format!("there is no task {id:?}")), Vec::new()),
            Self::MalformedUpload(error) => (
                Some(error.to_string()),
                vec![("code", json!(error.code().as_str()))],
            ),
            Self::FingerprintMismatch { expected, received } => (
                Some(format!(
                    "the task's fingerprint is {expected}, the upload's is {received}"
                )),
                vec![("expected", json!(expected)), ("received", json!(received))],
            ),
            Self::UploadIdConflict { id } => (
                Some(format!(
                    "a retry must send the very bytes of the first attempt; uploads of \
                     other ids than {id} in the body were taken, unless they conflict too"
                )),
                vec![("id", json!(id.to_string()))],
            ),
            Self::TooLarge { limit } => (
                Some(format!("a body has at most {limit} bytes")),
                vec![("limit", json!(limit))],
            ),
            Self::NothingReleased { have, need } | Self::BatchTooSmall { have, need } => (
                Some(format!(
                    "the open batch has {have} reports, and is closed with {need} at least"
                )),
                vec![("have", json!(have)), ("need", json!(need))],
            ),
            Self::UnknownBatch { batch } => (
                Some(format!("no batch {batch} is released")),
                vec![("batch", json!(batch))],
            ),
            Self::EncodedBody => (
                Some("uploads are read as they are, without a Content-Encoding".to_owned()),
                Vec::new(),
            ),
            Self::Unauthorized { sent } => {
                let detail = if *sent {
                    "the token that was sent is none of this collector's: it was revoked, or never \
                     made here; hushbin token list names those that hold"
                } else {
                    "send \"Authorization: Bearer TOKEN\"; hushbin token makes one"
                };
                (Some(detail.to_owned()), Vec::new())
            }
            Self::Forbidden => (Some("an admin's token is needed".to_owned()), Vec::new()),
            Self::TaskExists { id } => {
                (Some(format!("there is a task {id:?} already")), Vec::new())
            }
            Self::BadQuery { detail }
            | Self::BadRequest { detail }
            | Self::InvalidTask { detail }
            | Self::SearchTooLong { detail }
            | Self::ReportsGone { detail } => (Some(detail.clone()), Vec::new()),
            Self::TooManyItems { have, most } => (
                Some(format!(
                    "{have} items are asked for, and every report is held against each: ask for \
                     {most} at once, or estimate from exported reports (hushbin journal export)"
                )),
                vec![("have", json!(have)), ("most", json!(most))],
            ),
            Self::UnknownItem { item } => (
                Some(format!("the task has no item {item:?}")),
                vec![("item", json!(item))],
            ),
            Self::UnknownPostProcessing { name } => (
                Some(EstimateError::UnknownPostProcessing { name: name.clone() }.to_string()),
                vec![("post", json!(name))],
            ),
            Self::PostProcessing { post, detail } => {
                (Some(detail.clone()), vec![("post", json!(post.as_str()))])
            }
            Self::Overloaded => (Some("try again later".to_owned()), Vec::new()),
            Self::NotReady(why) => {
                let (reason, detail) = why.words();
                (Some(detail.to_owned()), vec![("reason", json!(reason))])
            }
            Self::ReadOnly => (
                Some("what is released can be read; try again later".to_owned()),
                Vec::new(),
            ),
            Self::Storage => (
                Some(
                    "it could not be read or written, and nothing was accepted; try again later"
                        .to_owned(),
                ),
                Vec::new(),
            ),
            Self::TooManyReports { have, most } => (
                Some(format!(
                    "an upload has {have} reports, at most {most} are taken"
                )),
                vec![("have", json!(have)), ("most", json!(most))],
            ),
            Self::MessageCount { have, expected } => (
                Some(format!(
                    "an upload has {have} messages, expected exactly {expected}"
                )),
                vec![("have", json!(have)), ("expected", json!(expected))],
            ),
            Self::OfSums => (
                Some("GET estimates, privacy and influence of the task".to_owned()),
                Vec::new(),
            ),
            Self::OriginNotAllowed => (
                Some("the Origin header names no origin of the task's settings".to_owned()),
                Vec::new(),
            ),
            Self::TooManyRequests => (Some("try again later".to_owned()), Vec::new()),
            Self::OtherRole => (
                Some("pages send reports to shufflers, analysers estimate from them".to_owned()),
                Vec::new(),
            ),
            Self::NoKeys => (
                Some("the shuffler has not heard from its analyser; try again later".to_owned()),
                Vec::new(),
            ),
            Self::UnknownShuffler => (
                Some(
                    "the header hushbin-signature is to be of a shuffler of --shuffler".to_owned(),
                ),
                Vec::new(),
            ),
            Self::OhttpKey => (
                Some("GET /.well-known/ohttp-gateway tells keys and suites".to_owned()),
                Vec::new(),
            ),
            Self::IncompleteBody
            | Self::Timeout
            | Self::Starting
            | Self::Misdirected
            | Self::Internal
            | Self::NotFound
            | Self::MethodNotAllowed => (None, Vec::new()),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Kind {
            slug,
            status,
            title,
        } = self.kind();
        let (detail, members) = self.particulars();
        let mut body = Map::new();
        let kind = match self {
            // Registered, for whatever made the request (RFC 9458, section 5.3).
            Self::OhttpKey => format!("https://iana.org/assignments/http-problem-types#{slug}"),
            _ => format!("urn:hushbin:problem:{slug}"),
        };
        body.insert("type".to_owned(), kind.into());
        body.insert("title".to_owned(), title.into());
        body.insert("status".to_owned(), status.into());
        if let Some(detail) = detail {
            body.insert("detail".to_owned(), detail.into());
        }
        body.extend(
            members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        let status = StatusCode::from_u16(status).expect("kinds have statuses of HTTP");
        let mut response = (
            status,
            [
                (
                    header::CONTENT_TYPE,
                    HeaderValue::from_static("application/problem+json"),
                ),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ],
            Value::Object(body).to_string(),
        )
            .into_response();
        response.extensions_mut().insert(Answered(slug));
        let headers = response.headers_mut();
        match self {
            // What may be sent instead (RFC 9110, section 12.5.3).
            Self::EncodedBody => {
                headers.insert(
                    header::ACCEPT_ENCODING,
                    HeaderValue::from_static("identity"),
                );
            }
            // The scheme that there is (RFC 9110, section 11.6.1).
            Self::Unauthorized { .. } => {
                headers.insert(
                    header::WWW_AUTHENTICATE,
                    HeaderValue::from_static("Bearer realm=\"hushbin\""),
                );
            }
            // Somebody has to free the disk, or to start the collector anew.
            Self::Storage | Self::ReadOnly => {
                headers.insert(header::RETRY_AFTER, RETRY_STORAGE);
            }
            Self::TooManyRequests => {
                headers.insert(header::RETRY_AFTER, RETRY_RATE);
            }
            _ if status == StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, RETRY_AFTER);
            }
            _ => {}
        }
        response
    }
}

impl From<Exhausted> for Problem {
    fn from(_: Exhausted) -> Self {
        Self::Overloaded
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            // A closed store belongs to a collector that is going away: another
            // one, or this one restarted, will take the upload.
            StoreError::Overloaded | StoreError::Closed => Self::Overloaded,
            StoreError::ReadOnly => Self::ReadOnly,
            StoreError::Removed { id } => Self::UnknownTask { id },
            StoreError::BatchTooSmall { have, need } => Self::BatchTooSmall { have, need },
            // Already logged where it happened.
            StoreError::Failed(_) => Self::Storage,
        }
    }
}

impl From<OpenError> for Problem {
    fn from(error: OpenError) -> Self {
        let detail = error.to_string();
        match error {
            OpenError::ReportsGone { .. } => Self::ReportsGone { detail },
            OpenError::InvalidTask { .. } | OpenError::Settings { .. } => {
                Self::InvalidTask { detail }
            }
            OpenError::TaskThere { id } => Self::TaskExists { id },
            OpenError::Closed => Self::Overloaded,
            OpenError::ReadOnly => Self::ReadOnly,
            _ => {
                tracing::error!(detail, "the journal cannot be read");
                Self::Storage
            }
        }
    }
}

impl From<EstimateError> for Problem {
    fn from(error: EstimateError) -> Self {
        let detail = error.to_string();
        match error {
            EstimateError::UnknownItem { item } => Self::UnknownItem { item },
            EstimateError::UnknownPostProcessing { name } => Self::UnknownPostProcessing { name },
            EstimateError::NotEstimated { post, .. } | EstimateError::NotAllItems { post } => {
                Self::PostProcessing { post, detail }
            }
            _ => Self::BadQuery { detail },
        }
    }
}

impl From<SumQueryError> for Problem {
    fn from(error: SumQueryError) -> Self {
        match error {
            SumQueryError::Estimate(error) => error.into(),
            error => Self::BadQuery {
                detail: error.to_string(),
            },
        }
    }
}

impl From<AskedError> for Problem {
    fn from(error: AskedError) -> Self {
        match error {
            AskedError::Post(error) => error.into(),
            error => Self::BadQuery {
                detail: error.to_string(),
            },
        }
    }
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        let detail = error.to_string();
        match error {
            SearchError::Question(error) => error.into(),
            SearchError::Work { .. } => Self::SearchTooLong { detail },
            // Nobody is there to read it.
            SearchError::GivenUp => Self::Overloaded,
            _ => Self::BadQuery { detail },
        }
    }
}

impl From<ohttp::OpenError> for Problem {
    fn from(error: ohttp::OpenError) -> Self {
        let detail = match error {
            ohttp::OpenError::Key => return Self::OhttpKey,
            ohttp::OpenError::Short => "it is too short for an encapsulated request",
            ohttp::OpenError::Seal => "it does not open by the key that it names",
        };
        Self::BadRequest {
            detail: detail.to_owned(),
        }
    }
}

/// Errors of decoding an upload.
impl From<hushbin::Error> for Problem {
    fn from(error: hushbin::Error) -> Self {
        match error {
            hushbin::Error::FingerprintMismatch { expected, received } => {
                Self::FingerprintMismatch { expected, received }
            }
            error => Self::MalformedUpload(error),
        }
    }
}
