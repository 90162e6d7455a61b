//! Requests for the settings with which a task is collected.

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::IntoResponse;

use super::access::{Admin, Analyst};
use super::problem::Problem;
use super::state::AppState;
use super::{body, tasks};
use crate::store::Settings;

/// `GET /tasks/{id}/settings`: the settings with which the task is collected.
pub(super) async fn show(
    _: Analyst,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<impl IntoResponse, Problem> {
    let stored = state.task(tasks::id(path))?;
    Ok((tasks::ASK_AGAIN, Json((*stored.settings()).clone())))
}

/// `PUT /tasks/{id}/settings`: replaces all settings. Omitted settings get their defaults.
pub(super) async fn change(
    _: Admin,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    body: Body,
) -> Result<Json<Settings>, Problem> {
    let stored = state.task(tasks::id(path))?;
    let settings: Settings = body::json(&state, body).await?;
    let checked = settings.check();
    checked.map_err(|error| Problem::BadRequest(error.to_string()))?;
    state.store().configure(&stored, settings.clone()).await?;
    let least = settings.batch.least;
    tracing::info!(
        task = stored.task().id(),
        least,
        "its settings were changed"
    );
    Ok(Json(settings))
}
