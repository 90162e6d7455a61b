//! Relay for Oblivious HTTP: forwards sealed requests to gateways, and their answers back.
//!
//! A relay has no journal. It forwards only the body, and keeps nothing of a request.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRef, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::body;
use super::health;
use super::layers::{MiddlewareState, with_common_layers};
use super::ohttp::{MAX_ENVELOPE_OVERHEAD_BYTES, ResponseWithReservation};
use super::paths::{LIVENESS_ROUTE, METRICS_ROUTE, READINESS_ROUTE, RELAY_ROUTE};
use super::problem::Problem;
use super::state::RequestLimits;
use crate::http::metrics::{ForwardOutcome, Metrics};
use crate::role::{GatewayClient, MAX_IDLE_CONNECTIONS, RelayedGateway, SEALED_REQUEST_TYPE};
use crate::store::{MemoryBudget, MemoryReservation};

/// Maximum number of requests that wait for one gateway. Each needs a connection, so a gateway that
/// does not answer cannot take all connections of the relay.
const MAX_WAITING_REQUESTS: usize = 512;

/// Maximum number of connections to one gateway.
pub(crate) const MAX_GATEWAY_CONNECTIONS: usize = MAX_WAITING_REQUESTS + MAX_IDLE_CONNECTIONS;

/// Time by which the deadline of the middleware is later than that of [`forward_sealed_request`],
/// which knows the reason of a delay.
const DEADLINE_SLACK: Duration = Duration::from_secs(5);

#[derive(Clone)]
struct RelayState(Arc<SharedRelayState>);

struct SharedRelayState {
    gateways: Vec<GatewayWithPermits>,
    client: GatewayClient,
    limits: RequestLimits,
    memory: MemoryBudget,
    metrics: Arc<Metrics>,
}

struct GatewayWithPermits {
    gateway: RelayedGateway,
    /// Permits for requests that wait for the gateway.
    permits: Semaphore,
}

impl FromRef<RelayState> for Arc<Metrics> {
    fn from_ref(state: &RelayState) -> Self {
        Self::clone(&state.0.metrics)
    }
}

/// Returns the interface of a relay. `memory_bytes` is the memory for requests that wait and their
/// answers.
pub(crate) fn relay_router(
    gateways: Vec<RelayedGateway>,
    client: GatewayClient,
    limits: RequestLimits,
    memory_bytes: usize,
    metrics: Arc<Metrics>,
) -> Router {
    let names = gateways.iter().map(|gateway| gateway.name.clone());
    metrics.register_relay_metrics(names);
    let gateways = gateways.into_iter().map(|gateway| GatewayWithPermits {
        gateway,
        permits: Semaphore::new(MAX_WAITING_REQUESTS),
    });
    let state = RelayState(Arc::new(SharedRelayState {
        gateways: gateways.collect(),
        client,
        limits,
        memory: MemoryBudget::new(memory_bytes),
        metrics: Arc::clone(&metrics),
    }));
    let router = Router::new()
        .route(RELAY_ROUTE, post(forward_sealed_request))
        .route(LIVENESS_ROUTE, get(health::liveness_check))
        .route(READINESS_ROUTE, get(readiness_check))
        .route(METRICS_ROUTE, get(health::prometheus_metrics))
        .fallback(async || Problem::NotFound)
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
        .with_state(state);
    let common = MiddlewareState {
        metrics,
        request_timeout: limits.request_timeout + DEADLINE_SLACK,
    };
    with_common_layers(router, common)
}

/// `GET /readyz` of a relay: shows that it serves. Gateways are not asked, because a relay that one
/// gateway does not answer still serves the others.
async fn readiness_check() -> Json<Value> {
    Json(json!({ "status": "ready" }))
}

/// `POST /gateways/{host}`: forwards a sealed request, and returns the gateway's answer: its
/// status, content type and body.
async fn forward_sealed_request(
    State(state): State<RelayState>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let state = &*state.0;
    let Path(name) = path.map_err(|_| Problem::NotFound)?;
    let mut all = state.gateways.iter();
    let gateway = all.find(|own| own.gateway.name.eq_ignore_ascii_case(&name));
    let gateway = gateway.ok_or(Problem::UnknownGateway(name))?;
    check_is_sealed(&headers)?;

    let deadline = Instant::now() + state.limits.request_timeout;
    let arrival = state.limits.body_timeout.min(state.limits.request_timeout);
    let mut memory = state.memory.empty_reservation();
    // Waits for the whole body, so that a slow client takes no connection to the gateway.
    let sealed =
        body::read_body_within_deadline(body, state.max_bytes(), arrival, &mut memory).await?;
    let _permit = gateway
        .permits
        .try_acquire()
        .map_err(|_| Problem::Overloaded)?;
    let gateway = &gateway.gateway;
    let exchanged = state.exchange(gateway, sealed.into(), deadline, &mut memory);
    let exchanged = timeout_at(deadline, exchanged).await;
    let exchanged = exchanged.unwrap_or(Err(Problem::GatewayTimeout));
    let outcome = match &exchanged {
        Ok(answer) if answer.status == StatusCode::OK => Some(ForwardOutcome::Answered),
        Ok(_) => Some(ForwardOutcome::Refused),
        Err(Problem::GatewayUnreachable) => Some(ForwardOutcome::Unreachable),
        Err(Problem::GatewayTimeout) => Some(ForwardOutcome::Late),
        Err(Problem::GatewayAnswer { .. }) => Some(ForwardOutcome::Invalid),
        Err(_) => None,
    };
    if let Some(outcome) = outcome {
        state
            .metrics
            .count_forwarded_request(&gateway.name, outcome);
    }
    Ok(exchanged?.into_response(memory))
}

impl SharedRelayState {
    /// Maximum length of a sealed request, and of its answer, in bytes.
    const fn max_bytes(&self) -> usize {
        self.limits.max_upload_bytes + MAX_ENVELOPE_OVERHEAD_BYTES
    }

    /// Sends a sealed request to a gateway, and reads the answer until `deadline`.
    async fn exchange(
        &self,
        gateway: &RelayedGateway,
        sealed: Bytes,
        deadline: Instant,
        memory: &mut MemoryReservation,
    ) -> Result<GatewayAnswer, Problem> {
        let answer = self.client.forward(gateway, sealed).await;
        let (mut head, body) = answer
            .map_err(|_| Problem::GatewayUnreachable)?
            .into_parts();
        let left = deadline.saturating_duration_since(Instant::now());
        let max_bytes = self.max_bytes();
        let body = body::read_body_within_deadline(Body::new(body), max_bytes, left, memory).await;
        let body = body.map_err(|problem| match problem {
            Problem::Overloaded => Problem::Overloaded,
            Problem::Timeout => Problem::GatewayTimeout,
            _ => Problem::GatewayAnswer { max_bytes },
        })?;
        Ok(GatewayAnswer {
            status: head.status,
            content_type: head.headers.remove(header::CONTENT_TYPE),
            body,
        })
    }
}

/// Part of a gateway's answer that a page gets.
struct GatewayAnswer {
    status: StatusCode,
    content_type: Option<HeaderValue>,
    body: Vec<u8>,
}

impl GatewayAnswer {
    /// Returns the response to the page, which holds the memory until it has been sent.
    fn into_response(self, memory: MemoryReservation) -> Response {
        let body = Bytes::from_owner(ResponseWithReservation::new(self.body, memory));
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if let Some(kind) = self.content_type {
            headers.insert(header::CONTENT_TYPE, kind);
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

/// Checks that a body is a sealed request, without a content encoding. Headers are not forwarded,
/// so the gateway would not decode it.
///
/// # Errors
/// [`Problem::NotSealed`].
fn check_is_sealed(headers: &HeaderMap) -> Result<(), Problem> {
    body::check_no_content_encoding(headers).map_err(|_| Problem::NotSealed)?;
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let (kind, _parameters) = kind.split_once(';').unwrap_or((kind, ""));
    match kind.trim().eq_ignore_ascii_case(SEALED_REQUEST_TYPE) {
        true => Ok(()),
        false => Err(Problem::NotSealed),
    }
}
