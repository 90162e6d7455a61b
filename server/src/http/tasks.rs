//! What is collected, for everybody to see.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, header};
use hushbin::{Fingerprint, Task};
use serde::Serialize;

use super::problem::Problem;
use super::state::AppState;
use hushbin_analysis::promise::protects;

/// A task does not change, but its id may be given to another data directory.
pub(super) const ASK_AGAIN: [(HeaderName, HeaderValue); 1] =
    [(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))];

/// What bytes are that were written as JSON.
pub(super) const JSON: [(HeaderName, HeaderValue); 1] = [(
    header::CONTENT_TYPE,
    HeaderValue::from_static("application/json"),
)];

/// The task's id in the path. What cannot be decoded names no task.
pub(super) fn id(path: Result<Path<String>, PathRejection>) -> Result<String, Problem> {
    path.map(|Path(id)| id).map_err(|_| Problem::NotFound)
}

#[derive(Serialize)]
pub(super) struct List {
    tasks: Vec<String>,
}

/// `GET /tasks`.
pub(super) async fn list(State(state): State<AppState>) -> Json<List> {
    let tasks = state.store().tasks();
    Json(List {
        tasks: tasks
            .iter()
            .map(|stored| stored.task().id().to_owned())
            .collect(),
    })
}

#[derive(Serialize)]
struct Show<'a> {
    task: &'a Task,
    fingerprint: Fingerprint,
    effective_epsilon: f64,
    /// What that is about; of several questions, each protects whole inputs.
    protects: String,
}

/// `GET /tasks/{id}`.
pub(super) async fn show(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<impl axum::response::IntoResponse, Problem> {
    let stored = state.task(id(path))?;
    let task = stored.task();
    let shown = state.shown(task, || {
        let show = Show {
            task,
            fingerprint: task.fingerprint(),
            effective_epsilon: task.effective_epsilon(),
            protects: protects(task.questions()[0].mechanism().neighbours()),
        };
        let json = serde_json::to_vec(&show).map_err(|_| Problem::Internal)?;
        Ok(Bytes::from(json))
    });
    Ok((ASK_AGAIN, JSON, shown?))
}
