//! Requests for the settings with which a task is collected.

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::IntoResponse;

use super::access::{RequireAdmin, RequireAnalyst};
use super::problem::Problem;
use super::state::AppState;
use super::{body, tasks};
use crate::store::TaskSettings;

/// `GET /tasks/{id}/settings`: the settings with which the task is collected.
pub(super) async fn get_task_settings(
    _: RequireAnalyst,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<impl IntoResponse, Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    Ok((
        tasks::CACHE_CONTROL_NO_CACHE,
        Json((*stored.settings()).clone()),
    ))
}

/// `PUT /tasks/{id}/settings`: replaces all settings. Omitted settings are those of the collector's
/// options, as for new tasks.
pub(super) async fn replace_task_settings(
    admin: RequireAdmin,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    body: Body,
) -> Result<Json<TaskSettings>, Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    let bytes = body::read_body_bytes(&state, body).await?;
    // Parsed as settings first, so that errors name the position.
    body::parse_json_object::<TaskSettings>(&bytes)?;
    let requested = body::parse_json_object(&bytes)?;
    let settings = tasks::requested_settings(requested, state.new_task_settings())?;
    let checked = settings.check();
    checked.map_err(|error| Problem::BadRequest(error.to_string()))?;
    state
        .store()
        .configure_task(&stored, settings.clone())
        .await?;
    let least = settings.batch.least;
    tracing::info!(
        task = stored.task().id(),
        token = admin.token_id,
        least,
        "its settings were changed"
    );
    Ok(Json(settings))
}
