//! The collector's HTTP interface.
//!
//! | request | answer |
//! |---|---|
//! | `POST /tasks/{id}/reports` | 201 when the upload is on disk, 200 when it was already |
//! | `GET /tasks` | ids of all tasks |
//! | `GET /tasks/{id}` | the complete task, its fingerprint and effective ε |
//! | `GET /tasks/{id}/estimates` | estimates with error bars, JSON or CSV |
//! | `GET /livez` | the process answers |
//! | `GET /readyz` | a write has gone through the journal |
//!
//! All errors are [`Problem`]s. Any origin may call, without credentials; an
//! upload is a simple request, so that browsers send it without asking first.

mod accept;
mod body;
mod estimates;
mod health;
mod privacy;
mod problem;
mod query;
mod server;
mod tasks;
mod uploads;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{Any as AnyOrigin, CorsLayer};
use tower_http::trace::TraceLayer;
use tracing::Span;

pub use problem::Problem;
pub use server::{ServerOptions, serve};

use crate::store::{Store, StoredTask};

/// Route of uploads, which is never logged: lines have times.
const UPLOADS: &str = "/tasks/{id}/reports";

/// Bounds of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest body of an upload.
    pub upload_bytes: usize,
    /// Time that an upload's body may take to arrive.
    pub body_timeout: Duration,
    /// Time that an answer may take.
    pub request_timeout: Duration,
    /// Estimates computed at once; further ones wait.
    pub estimates_at_once: usize,
}

impl Limits {
    /// Bounds that suit browsers that send a few reports at a time.
    pub const DEFAULT: Self = Self {
        upload_bytes: 1 << 20,
        body_timeout: Duration::from_secs(10),
        request_timeout: Duration::from_secs(30),
        estimates_at_once: 2,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What handlers share.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

struct Shared {
    store: Store,
    limits: Limits,
    estimating: Arc<Semaphore>,
}

impl AppState {
    /// Serves this store within these limits.
    #[must_use]
    pub fn new(store: Store, limits: Limits) -> Self {
        let estimating = Arc::new(Semaphore::new(limits.estimates_at_once.max(1)));
        Self(Arc::new(Shared {
            store,
            limits,
            estimating,
        }))
    }

    fn task(&self, id: Result<String, Problem>) -> Result<Arc<StoredTask>, Problem> {
        let id = id?;
        self.0.store.task(&id).ok_or(Problem::UnknownTask { id })
    }
}

/// The whole interface as a service, without a socket.
pub fn router(state: AppState) -> Router {
    let cors = CorsLayer::new()
        .allow_origin(AnyOrigin)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([header::CONTENT_TYPE])
        .expose_headers([header::RETRY_AFTER])
        .max_age(Duration::from_secs(24 * 60 * 60));
    Router::new()
        .route("/tasks", get(tasks::list))
        .route("/tasks/{id}", get(tasks::show))
        .route("/tasks/{id}/estimates", get(estimates::show))
        .route("/tasks/{id}/privacy", get(privacy::show))
        .route(UPLOADS, post(uploads::create))
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .fallback(async || Problem::NotFound)
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(span)
                .on_request(())
                .on_response(log_answer)
                .on_body_chunk(())
                .on_eos(())
                .on_failure(()),
        )
        .layer(middleware::from_fn_with_state(state.clone(), deadline))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(cors)
        .layer(middleware::from_fn(never_guess_types))
        .with_state(state)
}

/// Method and route, at debug level, and neither address nor agent nor query;
/// nothing for uploads.
fn span(request: &Request) -> Span {
    match request.extensions().get::<MatchedPath>() {
        Some(route) if route.as_str() != UPLOADS => tracing::debug_span!(
            "request",
            method = %request.method(),
            route = route.as_str()
        ),
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

/// Answers in time or not at all. What a handler began may still come to pass:
/// an upload that was committed too late is a duplicate when it is sent again.
async fn deadline(State(state): State<AppState>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(state.0.limits.request_timeout, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::Overloaded.into_response(),
    }
}

/// Names and ids that clients chose occur in answers; none is ever a page.
async fn never_guess_types(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

// The signature is CatchPanicLayer's.
#[allow(clippy::needless_pass_by_value)]
fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    tracing::error!(message, "a request handler panicked");
    Problem::Internal.into_response()
}
