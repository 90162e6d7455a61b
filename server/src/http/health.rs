//! Is the process alive, and can it take uploads?

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::problem::Problem;
use super::state::AppState;

/// `GET /livez`: the process answers. Says nothing about storage, because a
/// restart does not mend a disk.
pub(super) async fn live() -> Json<Value> {
    Json(json!({ "status": "live" }))
}

/// `GET /readyz`: a write has just gone through the journal, on the way that
/// uploads take.
pub(super) async fn ready(State(state): State<AppState>) -> Result<Json<Value>, Problem> {
    match state.store().probe().await {
        Ok(()) => Ok(Json(json!({ "status": "ready" }))),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            Err(Problem::NotReady)
        }
    }
}
