//! What comes through a relay: opened, answered as if it had come without one, and sealed again.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::body;
use super::hosts::Hosts;
use super::problem::Problem;
use super::state::AppState;
use super::tasks;
use crate::ohttp::message;
use crate::store::MemoryReservation;

/// Bytes that a request through a relay may have beyond the longest upload: for what surrounds the
/// upload, some hundred, and for padding.
const ENVELOPE: usize = 16 << 10;

/// What serves what is inside.
#[derive(Clone)]
pub(super) struct Inside(pub(super) Router);

/// `GET /.well-known/ohttp-gateway`: the keys that requests may be sealed to.
pub(super) async fn configurations(
    State(state): State<AppState>,
) -> Result<impl IntoResponse, Problem> {
    let gateway = state.gateway().ok_or(Problem::NotFound)?;
    let kind = HeaderValue::from_static("application/ohttp-keys");
    let kind = [(header::CONTENT_TYPE, kind)];
    Ok((tasks::ASK_AGAIN, kind, gateway.configurations()))
}

/// `POST /.well-known/ohttp-gateway`: a request that is sealed to one of those keys. Whatever it is
/// answered with is sealed, and the relay is told 200; problems that it can read are of what cannot
/// be opened.
///
/// A request that is sent again, by whomever, is answered again: an upload that was counted is a
/// duplicate.
pub(super) async fn take(
    State(state): State<AppState>,
    Extension(Inside(inside)): Extension<Inside>,
    hosts: Option<Extension<Hosts>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let gateway = state.gateway().ok_or(Problem::NotFound)?;
    body::check_encoding(&headers)?;
    let limits = state.limits();
    let mut memory = state.store().reservation();
    let most = limits.upload_bytes + ENVELOPE;
    let bytes = body::read(body, most, limits.body_timeout, &mut memory).await?;
    // 70 µs for short ones and 400 µs for 1 MiB, so it need not leave the runtime.
    let (message, reply) = gateway.open(bytes)?;
    state.metrics().relayed();
    let response = match asked(&message, hosts.as_deref()) {
        Ok(request) => inside.oneshot(request).await.into_response(),
        Err(problem) => {
            state.metrics().problem(problem.slug());
            problem.into_response()
        }
    };
    let (parts, body) = response.into_parts();
    let content = body.collect().await.map_err(|_| Problem::Internal)?;
    let content = content.to_bytes();
    // What is answered may be much longer than what was asked: once as it is, and once sealed.
    memory.grow(2 * content.len())?;
    let response = message::encode_response(parts.status, &parts.headers, &content);
    let sealed = reply.seal(&response).map_err(|error| {
        tracing::error!(%error, "no random numbers");
        Problem::Internal
    })?;
    let of_answer = [
        (header::CONTENT_TYPE, "message/ohttp-res"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let sealed = Bytes::from_owner(Held(sealed, memory));
    Ok((of_answer, sealed).into_response())
}

/// The request in a message, which is for a name that the collector answers to.
fn asked(message: &Bytes, hosts: Option<&Hosts>) -> Result<Request, Problem> {
    let request = message::decode_request(message).map_err(|error| {
        Problem::BadRequest(format!("the message inside is malformed: {error}"))
    })?;
    if request.headers().contains_key(header::EXPECT) {
        // Must be refused (RFC 9458, section 5.1): nothing can be answered before the end.
        return Err(Problem::BadRequest(
            "the message inside expects an answer before its end".to_owned(),
        ));
    }
    let (parts, body) = request.into_parts();
    match hosts.is_none_or(|hosts| hosts.allow(&parts)) {
        true => Ok(Request::from_parts(parts, body)),
        false => Err(Problem::Misdirected),
    }
}

/// An answer with the memory that it takes until it is sent.
struct Held(
    Vec<u8>,
    #[expect(dead_code, reason = "given back on drop")] MemoryReservation,
);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
