//! Reading of request bodies, with bounds on length, memory and time.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;

use serde::de::DeserializeOwned;

use super::problem::Problem;
use super::query;
use super::state::AppState;
use crate::store::MemoryReservation;

/// Checks that a body has no content encoding. The collector does not decode bodies, and could
/// mistake encoded bytes for an upload.
///
/// # Errors
/// [`Problem::EncodedBody`].
pub(super) fn check_no_content_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let plain = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .all(|value| value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if plain {
        Ok(())
    } else {
        Err(Problem::EncodedBody)
    }
}

/// Reads a whole body, reserving memory as bytes arrive.
///
/// # Errors
/// - [`Problem::TooLarge`] as soon as the length is known to exceed `limit`.
/// - [`Problem::Overloaded`] if the memory for all uploads is exhausted.
/// - [`Problem::Timeout`] after `deadline`.
/// - [`Problem::IncompleteBody`] if the body ends early.
pub(super) async fn read_body_within_deadline(
    body: Body,
    limit: usize,
    deadline: Duration,
    memory: &mut MemoryReservation,
) -> Result<Vec<u8>, Problem> {
    tokio::time::timeout(deadline, read_limited_body(body, limit, memory))
        .await
        .map_err(|_| Problem::Timeout)?
}

/// Reads the body of a request that needs a token. The limits of uploads apply.
///
/// # Errors
/// Same as [`read_body_within_deadline`].
pub(super) async fn read_body_bytes(state: &AppState, body: Body) -> Result<Vec<u8>, Problem> {
    let limits = state.request_limits();
    let mut memory = state.store().empty_memory_reservation();
    read_body_within_deadline(
        body,
        limits.max_upload_bytes,
        limits.body_timeout,
        &mut memory,
    )
    .await
}

/// Reads the body of an analyst's query.
///
/// # Errors
/// Same as [`read_body_within_deadline`], and [`Problem::BadQuery`] if the body is not UTF-8.
pub(super) async fn read_body_text(state: &AppState, body: Body) -> Result<String, Problem> {
    String::from_utf8(read_body_bytes(state, body).await?).map_err(|_| query::not_utf8_problem())
}

/// Parses the body of an admin's request.
///
/// # Errors
/// [`Problem::BadRequest`], which describes the mistake and its position.
pub(super) fn parse_json_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // serde would accept a list as the fields in order, and an empty list as all defaults.
    if bytes.trim_ascii_start().starts_with(b"[") {
        return Err(Problem::BadRequest(
            "invalid type: list, expected an object".to_owned(),
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        Problem::BadRequest(match error.is_data() {
            true => error.to_string(),
            false => format!("the body is not valid JSON: {error}"),
        })
    })
}

async fn read_limited_body(
    mut body: Body,
    limit: usize,
    memory: &mut MemoryReservation,
) -> Result<Vec<u8>, Problem> {
    // The announced length, or 0 if there is none. A false announcement is detected below.
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(Problem::TooLarge { max_bytes: limit });
    }
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::IncompleteBody)?;
        let Ok(data) = frame.into_data() else {
            continue; // Trailers contain nothing that an upload needs.
        };
        // `limit - bytes.len()` cannot underflow, and a sum could overflow.
        if data.len() > limit - bytes.len() {
            return Err(Problem::TooLarge { max_bytes: limit });
        }
        memory.grow(data.len())?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}
