//! Sentence and members of one occurrence of a problem.

use std::borrow::Cow;

use hushbin_analysis::estimate::EstimateError;
use serde_json::{Value, json};

use super::kinds::Problem;

impl Problem {
    /// Returns the sentence, if the title does not say everything.
    pub(super) fn detail(&self) -> Option<Cow<'static, str>> {
        let detail = match self {
            Self::UnknownTask { id } => format!("there is no task {id:?}"),
            Self::MalformedUpload(error) => error.to_string(),
            Self::FingerprintMismatch { expected, received } => {
                format!("the task's fingerprint is {expected}, the upload's is {received}")
            }
            Self::UploadIdConflict { id } => format!(
                "a retry must send the very bytes of the first attempt; uploads of other ids than \
                 {id} in the body were taken, unless they conflict too"
            ),
            Self::TooLarge { limit } => format!("a body has at most {limit} bytes"),
            Self::NothingReleased { have, need } | Self::BatchTooSmall { have, need } => {
                format!("the open batch has {have} reports, and is closed with {need} at least")
            }
            Self::UnknownBatch { batch } => format!("no batch {batch} is released"),
            Self::TaskExists { id } => format!("there is a task {id:?} already"),
            Self::TooManyItems { have, most } => format!(
                "{have} items are asked for, and every report is held against each: ask for {most} \
                 at once, or estimate from exported reports (hushbin journal export)"
            ),
            Self::Estimate(error) => error.to_string(),
            Self::TooManyReports { have, most } => {
                format!("an upload has {have} reports, at most {most} are taken")
            }
            Self::MessageCount { have, expected } => {
                format!("an upload has {have} messages, expected exactly {expected}")
            }
            Self::BadQuery { detail }
            | Self::BadRequest { detail }
            | Self::InvalidTask { detail }
            | Self::SearchTooLong { detail }
            | Self::ReportsGone { detail } => detail.clone(),
            other => return other.fixed_detail().map(Cow::Borrowed),
        };
        Some(Cow::Owned(detail))
    }

    /// Returns the sentence of a problem without values, if its title does not say everything.
    const fn fixed_detail(&self) -> Option<&'static str> {
        Some(match self {
            Self::EncodedBody => "uploads are read as they are, without a Content-Encoding",
            Self::Unauthorized { sent: true } => {
                "the token is unknown to this collector: it was revoked or made for another; \
                 hushbin token list lists the valid ones"
            }
            Self::Unauthorized { sent: false } => {
                "send \"Authorization: Bearer TOKEN\"; hushbin token create makes one"
            }
            Self::Forbidden => "an admin's token is needed",
            Self::Overloaded | Self::TooManyRequests => "try again later",
            Self::NotReady(reason) => reason.words().1,
            Self::ReadOnly => "what is released can be read; try again later",
            Self::Storage => {
                "it could not be read or written, and nothing was accepted; try again later"
            }
            Self::OfSums => "GET estimates, privacy and influence of the task",
            Self::OriginNotAllowed => "the Origin header names no origin of the task's settings",
            Self::OtherRole => "pages send reports to shufflers, analysers estimate from them",
            Self::NoKeys => "the shuffler has not heard from its analyser; try again later",
            Self::UnknownShuffler => {
                "the header hushbin-signature is not by a shuffler of --shuffler"
            }
            Self::OhttpKey => "GET /.well-known/ohttp-gateway lists keys and suites",
            _ => return None,
        })
    }

    /// Returns the members beside type, title, status and detail.
    pub(super) fn members(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::MalformedUpload(error) => vec![("code", json!(error.code().as_str()))],
            Self::FingerprintMismatch { expected, received } => {
                vec![("expected", json!(expected)), ("received", json!(received))]
            }
            Self::UploadIdConflict { id } => vec![("id", json!(id.to_string()))],
            Self::TooLarge { limit } => vec![("limit", json!(limit))],
            Self::NothingReleased { have, need } | Self::BatchTooSmall { have, need } => {
                vec![("have", json!(have)), ("need", json!(need))]
            }
            Self::UnknownBatch { batch } => vec![("batch", json!(batch))],
            Self::TooManyItems { have, most } => {
                vec![("have", json!(have)), ("most", json!(most))]
            }
            Self::TooManyReports { have, most } => {
                vec![("have", json!(have)), ("most", json!(most))]
            }
            Self::MessageCount { have, expected } => {
                vec![("have", json!(have)), ("expected", json!(expected))]
            }
            Self::Estimate(error) => match error {
                EstimateError::UnknownItem { item } => vec![("item", json!(item))],
                EstimateError::UnknownPostProcessing { name } => vec![("post", json!(name))],
                EstimateError::NotEstimated { post, .. } | EstimateError::NotAllItems { post } => {
                    vec![("post", json!(post.as_str()))]
                }
                _ => Vec::new(),
            },
            Self::NotReady(reason) => vec![("reason", json!(reason.words().0))],
            _ => Vec::new(),
        }
    }
}
