//! Taking uploads.

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use hushbin::Upload;
use serde::Serialize;

use super::problem::Problem;
use super::state::AppState;
use super::{body, tasks};
use crate::store::Submission;

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
/// Nothing is taken unless all of them decode. Each is then stored or not by
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
    body::check_encoding(&headers)?;
    let store = state.store();
    let limits = state.limits();
    let mut memory = store.reservation();
    let bytes = body::read(body, limits.upload_bytes, limits.body_timeout, &mut memory).await?;
    // At most some thousand reports of a few bytes: microseconds, so it need not
    // leave the runtime. Hostile bytes end here and never reach the writer.
    let uploads = Upload::decode_all(&bytes, stored.task())?;
    let submission = Submission {
        uploads,
        bytes,
        memory,
    };
    let receipt = store.submit(&stored, submission).await?;
    if let Some(id) = receipt.conflict {
        return Err(Problem::UploadIdConflict { id });
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
