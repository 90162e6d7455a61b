//! Middleware for all requests and responses, and the routers that need no store.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{Any as Anything, CorsLayer};
use tower_http::trace::TraceLayer;
use tracing::Span;

use super::health;
use super::metrics::Metrics;
use super::paths::{LIVENESS_ROUTE, METRICS_ROUTE, UNLOGGED_ROUTES};
use super::problem::{Problem, ProblemSlug};
use super::state::RequestLimits;

/// Returns the router of a process that has no store yet.
pub(super) fn starting_router(metrics: Arc<Metrics>) -> Router {
    let router = Router::new()
        .route(LIVENESS_ROUTE, get(health::liveness_check))
        .route(METRICS_ROUTE, get(health::prometheus_metrics))
        .fallback(async || Problem::Starting)
        .with_state(Arc::clone(&metrics));
    with_common_layers(router, MiddlewareState::new(metrics))
}

/// Returns the router that refuses all requests, for peers that send too many.
pub(super) fn too_many_requests_router(metrics: Arc<Metrics>) -> Router {
    let router = Router::new().fallback(async || Problem::TooManyRequests);
    with_common_layers(router, MiddlewareState::new(metrics))
}

/// State of the middleware.
#[derive(Clone)]
pub(super) struct MiddlewareState {
    pub(super) metrics: Arc<Metrics>,
    pub(super) request_timeout: Duration,
}

impl MiddlewareState {
    fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            metrics,
            request_timeout: RequestLimits::DEFAULT.request_timeout,
        }
    }
}

/// Adds the middleware for all requests: a deadline, access from any origin, and a ban on content
/// sniffing. The middleware also counts error responses, and turns panics into error responses.
///
/// The middleware is a single layer. A router boxes each layer, and clones it with all inner layers
/// for each request. With separate layers, cloning took a third of an upload's time.
pub(super) fn with_common_layers(router: Router, common: MiddlewareState) -> Router {
    let cors = CorsLayer::new()
        .allow_origin(Anything)
        .allow_methods([Method::GET, Method::POST])
        // Any header: monitoring scripts add headers to all requests of a page, and a refused
        // preflight would hold back every report. The collector does not read or log them.
        .allow_headers(Anything)
        .expose_headers([header::RETRY_AFTER])
        .max_age(Duration::from_secs(24 * 60 * 60));
    let log = TraceLayer::new_for_http()
        .make_span_with(request_span)
        .on_request(())
        .on_response(log_answer)
        .on_body_chunk(())
        .on_eos(())
        .on_failure(());
    // The first layer is the outermost: it also counts problems that inner layers create.
    let layers = ServiceBuilder::new()
        .layer(middleware::from_fn_with_state(
            common,
            apply_deadline_and_headers,
        ))
        .layer(cors)
        .layer(CatchPanicLayer::custom(panic_response))
        .layer(log);
    router.layer(layers)
}

/// Enforces the deadline of a request. Work that the handler began may still complete after the
/// deadline. An upload that was committed too late is a duplicate when the client sends it again.
async fn apply_deadline_and_headers(
    State(common): State<MiddlewareState>,
    request: Request,
    next: Next,
) -> Response {
    let is_metrics = request.uri().path() == METRICS_ROUTE;
    let mut response = tokio::time::timeout(common.request_timeout, next.run(request))
        .await
        .unwrap_or_else(|_| Problem::Overloaded.into_response());
    if let Some(ProblemSlug(slug)) = response.extensions().get() {
        common.metrics.count_problem(slug);
    }
    if is_metrics {
        // Metrics are for the operator. Pages of other sites must not read them, for example on an
        // operator's own machine.
        response
            .headers_mut()
            .remove(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    }
    // Responses contain names and ids chosen by clients. A browser must never read them as a page.
    response.headers_mut().insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// Returns a tracing span at debug level with the method and route of a request. The span contains
/// no address, user agent or query. Uploads have no span, even if the router is nested.
fn request_span(request: &Request) -> Span {
    match request.extensions().get::<MatchedPath>() {
        Some(route)
            if !UNLOGGED_ROUTES
                .iter()
                .any(|own| route.as_str().ends_with(own)) =>
        {
            tracing::debug_span!(
                "request",
                method = %request.method(),
                route = route.as_str()
            )
        }
        _ => Span::none(),
    }
}

fn log_answer(response: &Response, latency: Duration, span: &Span) {
    if !span.is_none() {
        tracing::debug!(
            status = response.status().as_u16(),
            ms = latency.as_secs_f64() * 1e3,
            "answered"
        );
    }
}

// `CatchPanicLayer` requires this signature.
#[allow(clippy::needless_pass_by_value)]
fn panic_response(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    tracing::error!(message, "a request handler panicked");
    Problem::Internal.into_response()
}
