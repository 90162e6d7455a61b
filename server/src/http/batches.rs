//! Batches of a task: released, closed and open.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Serialize;

use super::access::{RequireAdmin, RequireAnalyst};
use super::problem::Problem;
use super::state::AppState;
use super::tasks;
use crate::store::{BatchRow, BatchSettings, BatchState, StoredTask};

/// Description of a batch in a response.
#[derive(Serialize)]
pub(super) struct BatchSummary {
    number: u64,
    state: &'static str,
    reports: u64,
    /// Time when the batch was opened, in seconds since 1970. `closed` has the same unit.
    opened: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed: Option<u64>,
    /// True if the batch's reports are kept, false if only its totals are.
    reports_kept: bool,
}

impl From<BatchRow> for BatchSummary {
    fn from(row: BatchRow) -> Self {
        Self {
            number: row.number,
            state: match row.state {
                BatchState::Open => "open",
                BatchState::Closed => "closed",
                BatchState::Released => "released",
            },
            reports: row.report_count,
            opened: row.opened_at,
            closed: row.closed_at,
            reports_kept: row.reports_kept,
        }
    }
}

#[derive(Serialize)]
pub(super) struct BatchList {
    /// Settings that decide when the open batch is closed.
    batch_settings: BatchSettings,
    batches: Vec<BatchSummary>,
}

fn batch_list(stored: &StoredTask) -> BatchList {
    BatchList {
        batch_settings: stored.settings().batch.clone(),
        batches: stored
            .batches()
            .iter()
            .copied()
            .map(BatchSummary::from)
            .collect(),
    }
}

/// `GET /tasks/{id}/batches`: lists the released, closed and open batches.
pub(super) async fn list_batches(
    _: RequireAnalyst,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<impl axum::response::IntoResponse, Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    state.store().refresh_batches(&stored).await?;
    Ok((tasks::CACHE_CONTROL_NO_CACHE, Json(batch_list(&stored))))
}

/// `POST /tasks/{id}/batches`: closes the open batch and opens a new one.
pub(super) async fn close_open_batch(
    admin: RequireAdmin,
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<(StatusCode, Json<BatchSummary>), Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    state.store().refresh_batches(&stored).await?;
    let closed = state.store().close_batch(&stored).await?;
    tracing::info!(
        task = stored.task().id(),
        batch = closed.number,
        token = admin.token_id,
        "a batch was closed on request"
    );
    // 202: the batch is released later, when it has been counted.
    Ok((StatusCode::ACCEPTED, Json(closed.into())))
}
