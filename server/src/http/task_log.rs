//! Public log of the tasks that were added and removed.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::problem::Problem;
use super::state::AppState;
use super::tasks;
use crate::role::PublishedTaskLog;

/// `GET /task-log`: all entries, the hash of the last entry, and its signature.
pub(super) async fn get_task_log(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let entries = state.store().task_log();
    let signer = state.role_keys_and_peers().log_signer.as_deref();
    let published = PublishedTaskLog::new(&entries, signer);
    // The head and the key determine everything else.
    let tag = HeaderValue::try_from(published.entity_tag()).map_err(|_| Problem::Internal)?;
    let known = headers.get_all(header::IF_NONE_MATCH).iter();
    let known = known.filter_map(|value| value.to_str().ok());
    let mut known = known.flat_map(|value| value.split(','));
    let is_known = known.any(|own| tag == own.trim().trim_start_matches("W/"));
    let caching = (tasks::CACHE_CONTROL_NO_CACHE, [(header::ETAG, tag)]);
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, caching).into_response());
    }
    let json = serde_json::to_vec(&published).map_err(|_| Problem::Internal)?;
    Ok((caching, tasks::JSON_CONTENT_TYPE_HEADER, Bytes::from(json)).into_response())
}
