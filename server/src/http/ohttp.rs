//! Gateway for Oblivious HTTP: opens requests from relays, answers them like direct requests, and
//! seals the responses.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::body;
use super::hosts::AllowedHosts;
use super::problem::Problem;
use super::server::PeerQuota;
use super::state::AppState;
use super::tasks;
use crate::ohttp::message;
use crate::store::MemoryReservation;

/// Number of bytes by which a sealed request may exceed the longest upload. The envelope takes some
/// hundred bytes, and the rest is room for padding.
pub(super) const MAX_ENVELOPE_OVERHEAD_BYTES: usize = 16 << 10;

/// Router that answers requests from relays after they are opened.
#[derive(Clone)]
pub(super) struct RelayedRequestRouter(pub(super) Router);

/// `GET /.well-known/ohttp-gateway`: key configurations that requests may be sealed to.
pub(super) async fn get_ohttp_key_configurations(
    State(state): State<AppState>,
) -> Result<impl IntoResponse, Problem> {
    let gateway = state.ohttp_gateway().ok_or(Problem::NotFound)?;
    let kind = HeaderValue::from_static("application/ohttp-keys");
    let kind = [(header::CONTENT_TYPE, kind)];
    Ok((
        tasks::CACHE_CONTROL_NO_CACHE,
        kind,
        gateway.key_configurations(),
    ))
}

/// `POST /.well-known/ohttp-gateway`: answers a request that is sealed to one of the gateway's
/// keys.
///
/// The response is sealed regardless of its status, and the relay sees 200. The relay can read only
/// problems about requests that cannot be opened.
///
/// A repeated request is answered again, no matter which client repeats it. This is safe, because
/// an upload that was counted before is a duplicate.
pub(super) async fn answer_sealed_request(
    State(state): State<AppState>,
    Extension(RelayedRequestRouter(inside)): Extension<RelayedRequestRouter>,
    hosts: Option<Extension<AllowedHosts>>,
    quota: Option<Extension<PeerQuota>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let gateway = state.ohttp_gateway().ok_or(Problem::NotFound)?;
    body::check_no_content_encoding(&headers)?;
    let limits = state.request_limits();
    let mut memory = state.store().empty_memory_reservation();
    let most = limits.max_upload_bytes + MAX_ENVELOPE_OVERHEAD_BYTES;
    let bytes =
        body::read_body_within_deadline(body, most, limits.body_timeout, &mut memory).await?;
    // Opening takes 70 µs for short messages and 400 µs for 1 MiB, so it may run on the runtime's
    // thread.
    let (message, reply) = gateway.open_request(bytes)?;
    state.metrics().count_relayed_request();
    let response = match decode_request(&message, hosts.as_deref()) {
        Ok(mut request) => {
            // Reports inside count for the peer that sent the sealed request.
            if let Some(Extension(quota)) = quota {
                request.extensions_mut().insert(quota);
            }
            inside.oneshot(request).await.into_response()
        }
        Err(problem) => {
            state.metrics().count_problem(problem.slug());
            problem.into_response()
        }
    };
    let (parts, body) = response.into_parts();
    let content = body.collect().await.map_err(|_| Problem::Internal)?;
    let content = content.to_bytes();
    // The response may be much longer than the request, and it is in memory twice: plain and
    // sealed.
    memory.grow(2 * content.len())?;
    let response = message::encode_response(parts.status, &parts.headers, &content);
    let sealed = reply.seal(&response).map_err(|error| {
        tracing::error!(%error, "the system gives no random numbers");
        Problem::Internal
    })?;
    let of_answer = [
        (header::CONTENT_TYPE, "message/ohttp-res"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    // Releases the reserved memory when the response has been sent.
    let sealed = Bytes::from_owner(ResponseWithReservation::new(sealed, memory));
    Ok((of_answer, sealed).into_response())
}

/// Decodes the request in a message, and checks that it is for a host name of the collector.
fn decode_request(message: &Bytes, hosts: Option<&AllowedHosts>) -> Result<Request, Problem> {
    let request = message::decode_request(message).map_err(|error| {
        Problem::BadRequest(format!("the message inside is malformed: {error}"))
    })?;
    if request.headers().contains_key(header::EXPECT) {
        // Must be refused (RFC 9458, section 5.1): an interim response cannot be sent.
        return Err(Problem::BadRequest(
            "the message inside expects an answer before its end".to_owned(),
        ));
    }
    let (parts, body) = request.into_parts();
    match hosts.is_none_or(|hosts| hosts.allows_request(&parts)) {
        true => Ok(Request::from_parts(parts, body)),
        false => Err(Problem::Misdirected),
    }
}

/// Sealed response, with the memory that is reserved until the response has been sent.
pub(super) struct ResponseWithReservation(
    Vec<u8>,
    #[expect(dead_code, reason = "given back on drop")] MemoryReservation,
);

impl ResponseWithReservation {
    pub(super) const fn new(sealed: Vec<u8>, memory: MemoryReservation) -> Self {
        Self(sealed, memory)
    }
}

impl AsRef<[u8]> for ResponseWithReservation {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
