//! Your own service, with the collector nested below `/telemetry`.

use std::error::Error;
use std::path::Path;

use axum::Router;
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use hushbin::TaskDraft;
use hushbin_server::http::{RequestLimits, unrestricted_router};
use hushbin_server::store::{Store, StoreOptions};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

const SETTINGS: &str = include_str!("../settings.json");
/// Path and text of the files that the page loads: the first always, the others while a report is
/// allowed.
const SCRIPTS: [(&str, &str); 3] = [
    (
        "/hushbin.script.js",
        include_str!("../node_modules/hushbin/dist/hushbin.script.js"),
    ),
    (
        "/hushbin.script.engine.js",
        include_str!("../node_modules/hushbin/dist/hushbin.script.engine.js"),
    ),
    (
        "/hushbin.script.collision-module.js",
        include_str!("../node_modules/hushbin/dist/hushbin.script.collision-module.js"),
    ),
];

/// Middleware that lets only uploads through, since the library's router has no access control.
/// Pages contain the task, so they need no more.
async fn for_pages(request: Request, next: Next) -> Response {
    let reports = request.uri().path().ends_with("/reports");
    if reports && [Method::POST, Method::OPTIONS].contains(request.method()) {
        next.run(request).await
    } else {
        StatusCode::NOT_FOUND.into_response()
    }
}

/// Returns the public router: a page, and the path that it reports to.
fn service(store: Store) -> Router {
    let page = include_str!("page.html").replace("THE_TASK", SETTINGS);
    let telemetry =
        unrestricted_router(store, RequestLimits::DEFAULT).layer(middleware::from_fn(for_pages));
    let router = Router::new()
        .route("/", get(async move || Html(page)))
        .nest("/telemetry", telemetry);
    SCRIPTS.into_iter().fold(router, |router, (path, text)| {
        let script = ([(header::CONTENT_TYPE, "text/javascript")], text);
        router.route(path, get(async move || script))
    })
}

/// Returns the private router for analysts: the whole collector with its dashboard.
fn private(store: Store) -> Router {
    let limits = RequestLimits {
        // In development, requesting estimates releases all reports, even a few.
        release_on_read: cfg!(debug_assertions),
        ..RequestLimits::DEFAULT
    };
    unrestricted_router(store, limits)
}

/// Completes when the service is asked to stop.
async fn ended() {
    let mut terminated = signal(SignalKind::terminate()).expect("signals are to be had on Unix");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let draft: TaskDraft = serde_json::from_str(SETTINGS)?;
    let store = Store::open(Path::new("data"), &[draft.into()], StoreOptions::DEFAULT)?;
    let world = TcpListener::bind("127.0.0.1:8000").await?;
    // Reachable from this machine only.
    let own = TcpListener::bind("127.0.0.1:8080").await?;
    tokio::try_join!(
        axum::serve(world, service(store.clone()))
            .with_graceful_shutdown(ended())
            .into_future(),
        axum::serve(own, private(store.clone()))
            .with_graceful_shutdown(ended())
            .into_future(),
    )?;
    // Waits for every upload in the queue.
    store.close().await?;
    println!("all that was taken is in the journal");
    Ok(())
}
