//! The page that shows what is released: files that are part of the binary.
//!
//! They hold nothing of what was collected: the page asks for that, with the token of whoever
//! looks at it. `npm run build:dashboard` writes them, of `www/dashboard`.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Of what the page is made, and whom it asks: this collector alone.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    ),
    // Another version of the collector has another page.
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
];

/// An answer that is part of the binary.
fn file(kind: &'static str, body: &'static str) -> Response {
    (HEADERS, [(header::CONTENT_TYPE, kind)], body).into_response()
}

/// `GET /` and `GET /dashboard`: where the page is, from either of them, under whatever path
/// all of it is nested.
pub(super) async fn elsewhere() -> Response {
    (
        StatusCode::TEMPORARY_REDIRECT,
        [(header::LOCATION, "dashboard/")],
    )
        .into_response()
}

/// `GET /dashboard/`.
pub(super) async fn page() -> Response {
    let body = include_str!("../../dashboard/index.html");
    file("text/html; charset=utf-8", body)
}

/// `GET /dashboard/dashboard.js`.
pub(super) async fn script() -> Response {
    let body = include_str!("../../dashboard/dashboard.js");
    file("text/javascript; charset=utf-8", body)
}

/// `GET /dashboard/dashboard.css`.
pub(super) async fn style() -> Response {
    let body = include_str!("../../dashboard/dashboard.css");
    file("text/css; charset=utf-8", body)
}

/// `GET /dashboard/icon.svg`.
pub(super) async fn icon() -> Response {
    let body = include_str!("../../dashboard/icon.svg");
    file("image/svg+xml", body)
}
