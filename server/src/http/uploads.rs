//! Taking uploads.

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use hushbin::Upload;
use serde::Serialize;

use super::problem::Problem;
use super::state::AppState;
use super::{body, tasks};
use crate::store::{Outcome, Submission};

#[derive(Debug, Serialize)]
pub(super) struct Accepted {
    /// Reports newly counted.
    accepted: usize,
    /// Whether the upload had been accepted before.
    duplicate: bool,
}

/// `POST /tasks/{id}/reports`. Answers 2xx only when the upload is on disk.
///
/// The body's content type is not looked at: browsers send any of their simple
/// types, or none, without a preflight.
pub(super) async fn create(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    body: Body,
) -> Result<(StatusCode, Json<Accepted>), Problem> {
    let stored = state.task(tasks::id(path))?;
    let store = state.store();
    let limits = state.limits();
    let mut memory = store.reservation();
    let bytes = body::read(body, limits.upload_bytes, limits.body_timeout, &mut memory).await?;
    // At most some thousand reports of a few bytes: microseconds, so it need not
    // leave the runtime. Hostile bytes end here and never reach the writer.
    let upload = Upload::decode(&bytes, stored.task())?;
    let reports = upload.reports.len();
    let submission = Submission {
        upload,
        bytes,
        memory,
    };
    match store.submit(&stored, submission).await? {
        Outcome::Stored => Ok((
            StatusCode::CREATED,
            Json(Accepted {
                accepted: reports,
                duplicate: false,
            }),
        )),
        Outcome::Duplicate => Ok((
            StatusCode::OK,
            Json(Accepted {
                accepted: 0,
                duplicate: true,
            }),
        )),
        Outcome::Conflict => Err(Problem::UploadIdConflict),
    }
}
