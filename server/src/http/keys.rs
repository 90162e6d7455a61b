//! Public keys that pages seal reports to.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use data_encoding::HEXLOWER;
use serde::Serialize;

use super::problem::Problem;
use super::state::AppState;
use super::tasks;

#[derive(Serialize)]
pub(super) struct KeysResponse {
    /// Key configurations, in hexadecimal. New reports should be sealed to the first.
    keys: Vec<String>,
}

/// `GET /tasks/{id}/keys`: key configurations. A page accepts only configurations that match the
/// page's pins, so it need not trust the process that sends the configurations.
pub(super) async fn get_key_configurations(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<impl IntoResponse, Problem> {
    let stored = state.find_stored_task(tasks::task_id_in_path(path))?;
    let peers = state.role_keys_and_peers();
    let configurations = if let Some(shuffler) = &peers.shuffler_keys {
        let known = shuffler.key_configurations(stored.task().id());
        known.ok_or(Problem::NoKeys)?
    } else {
        let analyser = peers.analyser_keys.as_ref().ok_or(Problem::OtherRole)?;
        let recipient = analyser.recipient(stored.task());
        let recipient = recipient.map_err(|error| {
            tracing::error!(%error, "reports cannot be opened");
            Problem::NoKeys
        })?;
        recipient.key_configurations().to_vec()
    };
    let keys = configurations
        .iter()
        .map(|own| HEXLOWER.encode(own.bytes()));
    Ok((
        tasks::CACHE_CONTROL_NO_CACHE,
        Json(KeysResponse {
            keys: keys.collect(),
        }),
    ))
}
