//! Health checks and metrics.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};

use super::problem::{NotReadyReason, Problem};
use super::state::AppState;
use crate::http::accept::prefers_openmetrics;
use crate::http::metrics::{Metrics, openmetrics_to_prometheus};

/// `GET /livez`: shows that the process responds. Storage is not checked, because a restart does
/// not repair a disk.
pub(super) async fn liveness_check() -> Json<Value> {
    Json(json!({ "status": "live" }))
}

/// `GET /readyz`: writes to the journal on the same path as uploads, and responds with 200 if the
/// write succeeds.
pub(super) async fn readiness_check(State(state): State<AppState>) -> Result<Json<Value>, Problem> {
    match state.store().probe_write().await {
        Ok(()) => Ok(Json(json!({ "status": "ready" }))),
        // The journal has logged the error once, so it is not logged here.
        Err(error) => Err(Problem::NotReady {
            reason: NotReadyReason::from_store_error(&error),
        }),
    }
}

/// `GET /metrics`: metrics of the collector, in the text format of Prometheus, or as OpenMetrics if
/// the client prefers that.
pub(super) async fn prometheus_metrics(
    State(metrics): State<Arc<Metrics>>,
    headers: HeaderMap,
) -> impl IntoResponse {
    metrics.probe_journal().await;
    metrics.check_tokens();
    // Encoding reads the sizes of files, which blocks.
    let text = tokio::task::spawn_blocking(move || metrics.encode_openmetrics()).await;
    let text = text.map_err(|_| Problem::Internal)?;
    let (kind, text) = match prefers_openmetrics(&headers) {
        true => (
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            text,
        ),
        false => (
            "text/plain; version=0.0.4; charset=utf-8",
            openmetrics_to_prometheus(&text),
        ),
    };
    Ok::<_, Problem>(([(header::CONTENT_TYPE, kind)], text))
}
