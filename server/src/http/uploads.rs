//! Receiving uploads from pages.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::{Extension, Json};
use data_encoding::HEXLOWER;
use hushbin::upload::{EncodedUpload, FINGERPRINT_RANGE};
use hushbin::{ErrorCode, sealed};
use serde::Serialize;

use super::problem::Problem;
use super::server::{PeerQuota, QuotaExceeded};
use super::state::AppState;
use super::{body, tasks};
use crate::role::ShufflerKeys;
use crate::store::{
    ProcessRole, StoredTask, Submission, SubmittedUpload, TaskSettings, common_key_id,
};

#[derive(Debug, Serialize)]
pub(super) struct UploadResponse {
    /// Number of uploads in the body.
    uploads: usize,
    /// Number of reports newly counted.
    accepted_reports: usize,
    /// Number of uploads that had been counted before.
    duplicate_uploads: usize,
}

/// `POST /tasks/{id}/reports`: takes one or more uploads back to back. Responds with 2xx only when
/// all uploads are on disk: 201 if at least one is new, and 200 otherwise.
///
/// If any upload is invalid, none is stored. If a different upload was accepted earlier under the
/// same id, the response is a problem that names the id. The remaining uploads of the body are
/// nevertheless stored.
///
/// The content type is ignored: without a preflight, browsers send one of the simple types or none.
pub(super) async fn accept_uploads(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    quota: Option<Extension<PeerQuota>>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<UploadResponse>), Problem> {
    let id = tasks::task_id_in_path(path)?;
    // A page may send reports that it has made under another label.
    let candidates = state.store().tasks_with_id_or_name(&id);
    match &candidates[..] {
        [] => return Err(Problem::UnknownTask(id)),
        [stored] => check_origin(&stored.settings(), &headers)?,
        _ => {}
    }
    body::check_no_content_encoding(&headers)?;
    let store = state.store();
    let limits = state.request_limits();
    let mut memory = store.empty_memory_reservation();
    let bytes = body::read_body_within_deadline(
        body,
        limits.max_upload_bytes,
        limits.body_timeout,
        &mut memory,
    )
    .await?;
    let stored = choose_task(candidates, &bytes);
    let settings = stored.settings();
    check_origin(&settings, &headers)?;
    // At most some thousand reports of a few bytes take microseconds, so this may run on the
    // runtime's thread. Hostile bytes are rejected here and never reach the writer.
    let mut uploads = split_uploads(&stored, store.role(), &bytes)?;
    if let Some(shuffler) = &state.role_keys_and_peers().shuffler_keys {
        check_sealing_keys(shuffler, &stored, &uploads, &bytes)?;
    }
    let reports = count_reports(&stored, &mut uploads)?;
    check_report_count(&settings, reports)?;
    charge_reports(quota.as_deref(), reports)?;
    let submission = Submission {
        uploads,
        bytes,
        memory,
        block: None,
    };
    let receipt = store.submit_uploads(&stored, submission).await?;
    if let Some(id) = receipt.first_conflicting_id {
        return Err(Problem::UploadIdConflict { id: id.to_string() });
    }
    let status = if receipt.duplicates < receipt.upload_count {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let accepted = UploadResponse {
        uploads: receipt.upload_count,
        accepted_reports: receipt.new_report_count,
        duplicate_uploads: receipt.duplicates,
    };
    Ok((status, Json(accepted)))
}

/// Returns the candidate whose fingerprint is in the first upload, or the first candidate.
fn choose_task(mut candidates: Vec<Arc<StoredTask>>, bytes: &[u8]) -> Arc<StoredTask> {
    let fingerprint = bytes.get(FINGERPRINT_RANGE);
    let is_named =
        |stored: &Arc<StoredTask>| Some(&stored.task().fingerprint().0[..]) == fingerprint;
    let place = candidates.iter().position(is_named).unwrap_or(0);
    candidates.swap_remove(place)
}

/// Returns the number of reports in uploads. In a task of sums, the messages of one person count as
/// one report, also in `uploads` from now on.
///
/// # Errors
/// [`Problem::MessageCount`] if an upload has fewer or more messages than its task permits.
fn count_reports(stored: &StoredTask, uploads: &mut [SubmittedUpload]) -> Result<usize, Problem> {
    let mut counts = uploads.iter().map(|upload| upload.report_count);
    let Some(permitted) = stored.task().messages_per_upload() else {
        return Ok(counts.map(|count| count as usize).sum());
    };
    match counts.find(|messages| !permitted.contains(messages)) {
        Some(messages) => Err(Problem::MessageCount {
            messages,
            min_messages: *permitted.start(),
            max_messages: *permitted.end(),
        }),
        None => {
            uploads
                .iter_mut()
                .for_each(|upload| upload.report_count = 1);
            Ok(uploads.len())
        }
    }
}

/// Checks the number of reports in a request.
///
/// # Errors
/// [`Problem::TooManyReports`].
fn check_report_count(settings: &TaskSettings, reports: usize) -> Result<(), Problem> {
    let max_reports = settings.max_reports_per_request;
    match max_reports > 0 && reports > max_reports as usize {
        true => Err(Problem::TooManyReports {
            reports,
            max_reports,
        }),
        false => Ok(()),
    }
}

/// Charges the reports of a request to the quota of the peer that sent it.
///
/// # Errors
/// [`Problem::TooManyRequests`] if the peer has to wait. [`Problem::TooManyReports`] if the request
/// has more reports than a peer may send in a minute.
fn charge_reports(quota: Option<&PeerQuota>, reports: usize) -> Result<(), Problem> {
    let Some(quota) = quota else {
        return Ok(());
    };
    quota
        .charge_reports(reports)
        .map_err(|exceeded| match exceeded {
            QuotaExceeded::ForNow => Problem::TooManyRequests,
            QuotaExceeded::ForEver(max_reports) => Problem::TooManyReports {
                reports,
                max_reports,
            },
        })
}

/// Splits a body into uploads, and checks the reports. If reports are sealed, only their length can
/// be checked.
///
/// # Errors
/// When an upload is malformed, or this role does not take uploads of the task.
fn split_uploads(
    stored: &StoredTask,
    role: ProcessRole,
    bytes: &[u8],
) -> Result<Vec<SubmittedUpload>, Problem> {
    let task = stored.task();
    let uploads = match (role, task.report_task()) {
        (ProcessRole::Shuffler, _) => {
            sealed::decode_uploads(bytes, &task.fingerprint(), stored.sealed_report_length())?
        }
        (_, Some(task)) => EncodedUpload::read_checked_uploads(bytes, task)?,
        // A collector has no tasks of sums, and an analyser takes their messages as blocks.
        (_, None) => return Err(Problem::OtherRole),
    };
    let submitted = |(own, range): (EncodedUpload<'_>, _)| {
        SubmittedUpload::new(own.id, own.report_count, range)
    };
    Ok(uploads.into_iter().map(submitted).collect())
}

/// Checks that each report is sealed to a key that the analyser has listed. The analyser refuses a
/// batch with any other key, and the remaining reports of the batch would wait.
///
/// # Errors
/// [`Problem::UnlistedSealingKey`]. [`Problem::MalformedUpload`] if the messages of sums have
/// several keys.
fn check_sealing_keys(
    shuffler: &ShufflerKeys,
    stored: &StoredTask,
    uploads: &[SubmittedUpload],
    bytes: &[u8],
) -> Result<(), Problem> {
    let length = stored.sealed_report_length();
    let sealed_reports = |upload: &SubmittedUpload| {
        // The reports are at the end of the body, after their number.
        let body = &bytes[upload.body_range.clone()];
        &body[body.len() - upload.report_count as usize * length..]
    };
    let ids = uploads.iter().flat_map(|upload| {
        let reports = sealed_reports(upload).chunks_exact(length);
        reports.filter_map(|report| report.first_chunk().copied())
    });
    match shuffler.find_unlisted_key(stored.task().id(), ids) {
        // People are counted by key, so a person's messages have one key. An upload without
        // messages is refused for their number.
        None if stored.task().sum_task().is_some()
            && uploads.iter().any(|upload| {
                upload.report_count > 0 && common_key_id(sealed_reports(upload), length).is_none()
            }) =>
        {
            Err(Problem::MalformedUpload {
                code: ErrorCode::Malformed.as_str(),
                detail: "the messages of an upload are sealed to several keys, expected one key"
                    .to_owned(),
            })
        }
        None => Ok(()),
        Some(id) => Err(Problem::UnlistedSealingKey {
            key_id: HEXLOWER.encode(&id),
        }),
    }
}

/// Checks that the task's settings allow the page that sends the upload. Browsers send the true
/// origin of a page. Programs can send any origin, so this check keeps out only pages.
///
/// # Errors
/// [`Problem::OriginNotAllowed`].
fn check_origin(settings: &TaskSettings, headers: &HeaderMap) -> Result<(), Problem> {
    let Some(origins) = &settings.origins else {
        return Ok(());
    };
    let origin = headers.get(header::ORIGIN).map(|value| value.as_bytes());
    match origins.iter().any(|own| Some(own.as_bytes()) == origin) {
        true => Ok(()),
        false => Err(Problem::OriginNotAllowed),
    }
}
