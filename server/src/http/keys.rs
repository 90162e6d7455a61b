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
pub(super) async fn show(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<impl IntoResponse, Problem> {
    let stored = state.task(tasks::task_id_in_path(path))?;
    let peers = state.peers();
    let configurations = if let Some(shuffler) = &peers.shuffler {
        let known = shuffler.key_configurations(stored.task().id());
        known.ok_or(Problem::NoKeys)?
    } else {
        let analyser = peers.analyser.as_ref().ok_or(Problem::OtherRole)?;
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
        tasks::ASK_AGAIN,
        Json(KeysResponse {
            keys: keys.collect(),
        }),
    ))
}
