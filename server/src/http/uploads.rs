//! Taking uploads.

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use hushbin::sealed;
use hushbin::upload::EncodedUpload;
use serde::Serialize;

use super::problem::Problem;
use super::state::AppState;
use super::{body, tasks};
use crate::store::{Role, Settings, StoredTask, Submission, SubmittedUpload};

#[derive(Debug, Serialize)]
pub(super) struct Accepted {
    /// Uploads in the body.
    uploads: usize,
    /// Reports newly counted.
    accepted: usize,
    /// Those of the uploads that had been counted before.
    duplicates: usize,
}

/// `POST /tasks/{id}/reports`: one or more uploads back to back. Answers 2xx only
/// when all of them are on disk, 201 where at least one is new.
///
/// Nothing is taken unless all of them are valid. Each is then stored or not by
/// itself: where another upload was accepted under the id of one, the answer is
/// a problem that names it, and all others are on disk all the same.
///
/// The body's content type is not looked at: browsers send any of their simple
/// types, or none, without a preflight.
pub(super) async fn create(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Accepted>), Problem> {
    let stored = state.task(tasks::id(path))?;
    let settings = stored.settings();
    check_origin(&settings, &headers)?;
    body::check_encoding(&headers)?;
    let store = state.store();
    let limits = state.limits();
    let mut memory = store.reservation();
    let bytes = body::read(body, limits.upload_bytes, limits.body_timeout, &mut memory).await?;
    // At most some thousand reports of a few bytes: microseconds, so it need not
    // leave the runtime. Hostile bytes end here and never reach the writer.
    let uploads = submitted(&stored, store.role(), &bytes)?;
    if let Some(expected) = stored.task().upload_reports() {
        let mut counts = uploads.iter().map(|upload| upload.reports as usize);
        if let Some(have) = counts.find(|have| *have != expected as usize) {
            return Err(Problem::MessageCount { have, expected });
        }
    } else if let Some(most) = settings.upload_reports {
        let over = |have: &usize| *have > most as usize;
        let mut counts = uploads.iter().map(|upload| upload.reports as usize);
        if let Some(have) = counts.find(over) {
            return Err(Problem::TooManyReports { have, most });
        }
    }
    let submission = Submission {
        uploads,
        bytes,
        memory,
    };
    let receipt = store.submit(&stored, submission).await?;
    if let Some(id) = receipt.conflict {
        return Err(Problem::UploadIdConflict { id: id.to_string() });
    }
    let status = if receipt.duplicates < receipt.uploads {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let accepted = Accepted {
        uploads: receipt.uploads,
        accepted: receipt.reports,
        duplicates: receipt.duplicates,
    };
    Ok((status, Json(accepted)))
}

/// The uploads of a body: of reports that are checked, or of sealed ones, of which nothing can
/// be told but their length.
fn submitted(
    stored: &StoredTask,
    role: Role,
    bytes: &[u8],
) -> Result<Vec<SubmittedUpload>, Problem> {
    let task = stored.task();
    let uploads = match (role, task.reports()) {
        (Role::Shuffler, _) => {
            sealed::decode_all(bytes, &task.fingerprint(), stored.sealed_bytes())?
        }
        (_, Some(task)) => EncodedUpload::check_all(bytes, task)?,
        // A collector has no such tasks, an analyser takes blocks of them.
        (_, None) => return Err(Problem::OtherRole),
    };
    let submitted =
        |(own, range): (EncodedUpload<'_>, _)| SubmittedUpload::new(own.id, own.count, range);
    Ok(uploads.into_iter().map(submitted).collect())
}

/// Whether the page that sends is one of those that the task is for. Browsers name its origin
/// with every upload; programs name whatever they like, so that this keeps out pages alone.
fn check_origin(settings: &Settings, headers: &HeaderMap) -> Result<(), Problem> {
    let Some(origins) = &settings.origins else {
        return Ok(());
    };
    let origin = headers.get(header::ORIGIN).map(|value| value.as_bytes());
    match origins.iter().any(|own| Some(own.as_bytes()) == origin) {
        true => Ok(()),
        false => Err(Problem::OriginNotAllowed),
    }
}
