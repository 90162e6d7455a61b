//! Dashboard: a page that shows released data. Its files are inside the binary.
//!
//! The files contain no collected data. The page requests the data from the collector, with the
//! token of the person who uses the page. `npm run build:dashboard` builds the files from
//! `www/dashboard`.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Content security policy: the page loads from and connects to this collector only.
const PAGE_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

const DASHBOARD_HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::CONTENT_SECURITY_POLICY, PAGE_SECURITY_POLICY),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    ),
    // `no-cache`, because the page changes with the collector's version.
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
];

/// Returns a response whose body is inside the binary.
fn dashboard_file_response(kind: &'static str, body: &'static str) -> Response {
    (DASHBOARD_HEADERS, [(header::CONTENT_TYPE, kind)], body).into_response()
}

/// `GET /` and `GET /dashboard`: redirects to the page. The location is relative, so it also works
/// if the router is nested.
pub(super) async fn redirect_to_dashboard() -> Response {
    (
        StatusCode::TEMPORARY_REDIRECT,
        [(header::LOCATION, "dashboard/")],
    )
        .into_response()
}

/// `GET /dashboard/`: the HTML page.
pub(super) async fn dashboard_page() -> Response {
    let body = include_str!("../../dashboard/index.html");
    dashboard_file_response("text/html; charset=utf-8", body)
}

/// `GET /dashboard/dashboard.js`: the page's script.
pub(super) async fn dashboard_script() -> Response {
    let body = include_str!("../../dashboard/dashboard.js");
    dashboard_file_response("text/javascript; charset=utf-8", body)
}

/// `GET /dashboard/dashboard.css`: the page's style sheet.
pub(super) async fn dashboard_stylesheet() -> Response {
    let body = include_str!("../../dashboard/dashboard.css");
    dashboard_file_response("text/css; charset=utf-8", body)
}

/// `GET /dashboard/icon.svg`: the page's icon.
pub(super) async fn dashboard_icon() -> Response {
    let body = include_str!("../../dashboard/icon.svg");
    dashboard_file_response("image/svg+xml", body)
}
