//! HTTP interface of the collector.
//!
//! | request | who may send it | response |
//! |---|---|---|
//! | `POST /tasks/{id}/reports` | anyone | takes one or more uploads back to back: 201 when all are on disk, 200 if all were on disk before |
//! | `GET /tasks` | analysts | ids of all tasks |
//! | `POST /tasks` | admins | collects a new task: `{ "task": …, "collection_settings": … }` |
//! | `GET /task-log` | anyone | fingerprints of all tasks that were added and removed, as a signed hash chain |
//! | `GET /tasks/{id}` | anyone | the complete task, its fingerprint and effective ε |
//! | `DELETE /tasks/{id}` | admins | deletes the task and all of its data |
//! | `GET /tasks/{id}/settings` | analysts | settings for collecting the task |
//! | `PUT /tasks/{id}/settings` | admins | changes these settings |
//! | `GET /tasks/{id}/batches` | analysts | released and closed batches, and the number of reports in the open batch |
//! | `POST /tasks/{id}/batches` | admins | closes the open batch, which is released after its reports are counted |
//! | `GET /tasks/{id}/estimates` | analysts | estimates of released batches with error bars, JSON or CSV |
//! | `POST /tasks/{id}/estimates` | analysts | estimates for a query in the body, which may be longer than a URL |
//! | `GET /tasks/{id}/heavy-hitters` | analysts | texts that many people have, JSON or CSV |
//! | `GET /tasks/{id}/privacy` | analysts | how much the released reports reveal, individually and shuffled |
//! | `GET /tasks/{id}/influence` | analysts | the effect that made-up reports could have, and tests that detect some of them |
//! | `GET /tasks/{id}/keys` | anyone | keys that pages seal reports to; only on shufflers and analysers |
//! | `POST /tasks/{id}/blocks` | shufflers | takes sealed reports of a shuffled batch: 200 when all are on the analyser's disk |
//! | `GET /.well-known/ohttp-gateway` | anyone | keys that requests through relays are sealed to (RFC 9458 and 9540) |
//! | `POST /.well-known/ohttp-gateway` | anyone | answers a sealed request from a relay like a direct request |
//! | `POST /gateways/{host}` | anyone | forwards a sealed request to a gateway; only on relays |
//! | `GET /` | anyone | redirects to the dashboard |
//! | `GET /dashboard` | anyone | redirects to the dashboard |
//! | `GET /dashboard/` | anyone | the dashboard, a page that shows released data to analysts with a token |
//! | `GET /dashboard/dashboard.js` | anyone | the dashboard's script |
//! | `GET /dashboard/dashboard.css` | anyone | the dashboard's style sheet |
//! | `GET /dashboard/icon.svg` | anyone | the dashboard's icon |
//! | `GET /livez` | anyone | shows that the process responds |
//! | `GET /readyz` | anyone | shows that the journal accepts writes |
//! | `GET /metrics` | anyone | metrics of the collector, for Prometheus |
//! | `GET /openapi.json` | anyone | this interface as an OpenAPI document |
//!
//! The response to uploads contains the number of uploads, of newly counted reports, and of uploads
//! that had been counted before: `{ "uploads": 2, "accepted_reports": 1, "duplicate_uploads": 1 }`.
//!
//! Analysts and admins send `Authorization: Bearer TOKEN`, with a token from `hushbin token`.
//! Admins may do everything that analysts may. Under `--development`, and in applications that
//! embed [`unrestricted_router`], no tokens are needed.
//!
//! All errors are problems (RFC 9457). Pages of any origin may call the interface, without
//! credentials. An upload is a simple request, so browsers send it without a preflight.
//!
//! A relay serves only `POST /gateways/{host}`, `/livez`, `/readyz` and `/metrics`.
//!
//! Requests through a relay may do what pages do: get tasks and keys, and send uploads.
//!
//! While `hushbin serve` opens its store, `/livez` and `/metrics` respond. All remaining paths
//! respond with the problem `starting`, 503.

mod accept;
mod access;
mod answer_cache;
mod batches;
mod blocks;
mod body;
mod dashboard;
mod estimates;
mod handled_blocks;
mod health;
mod heavy_hitters;
mod hosts;
mod influence;
mod keys;
mod layers;
pub(crate) mod metrics;
mod ohttp;
mod openapi;
mod paths;
mod privacy;
mod problem;
mod query;
mod query_cost;
mod refusal_log;
mod relay;
mod response_writer;
mod router_service;
mod server;
mod settings;
mod state;
mod task_log;
mod tasks;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
mod uploads;

use std::sync::Arc;

use axum::Router;
use axum::extract::Extension;
use axum::routing::{MethodRouter, any, get, post};

pub(crate) use access::AccessPolicy;
pub(crate) use hosts::AllowedHosts;
pub(crate) use openapi::OPENAPI_JSON as OPENAPI;
pub(crate) use relay::{MAX_GATEWAY_CONNECTIONS, relay_router};
pub(crate) use router_service::{EXPIRY_WARNING_DAYS, RouterService};
pub(crate) use server::{ServerOptions, bind_listener, serve_connections};
pub use state::RequestLimits;
pub(crate) use tls::{Tls, TlsError};

use crate::http::metrics::Metrics;
use crate::ohttp::OhttpGateway;
use crate::role::RoleKeysAndPeers;
use crate::store::{ProcessRole, Store, TaskSettings};
use layers::{MiddlewareState, with_common_layers};
use ohttp::RelayedRequestRouter;
use paths::{LIVENESS_ROUTE, METRICS_ROUTE, OHTTP_GATEWAY_ROUTE, READINESS_ROUTE, UPLOAD_ROUTE};
use problem::Problem;
use state::AppState;

/// Roles that take reports from pages.
const UPLOAD_ROLES: &[ProcessRole] = &[ProcessRole::Collector, ProcessRole::Shuffler];

/// Roles that serve estimates.
const ESTIMATE_SERVING_ROLES: &[ProcessRole] = &[ProcessRole::Collector, ProcessRole::Analyser];

/// Roles that handle sealed reports.
const SEALED_REPORT_ROLES: &[ProcessRole] = &[ProcessRole::Shuffler, ProcessRole::Analyser];

const ALL_ROLES: &[ProcessRole] = &[
    ProcessRole::Collector,
    ProcessRole::Shuffler,
    ProcessRole::Analyser,
];

/// Path with its handlers and the roles that serve it.
type Route = (&'static str, MethodRouter<AppState>, &'static [ProcessRole]);

/// Returns all routes.
#[rustfmt::skip]
fn routes() -> [Route; 23] {
    [
        (UPLOAD_ROUTE, post(uploads::accept_uploads), UPLOAD_ROLES),
        ("/tasks", get(tasks::list_task_ids).post(tasks::create_task), ALL_ROLES),
        ("/task-log", get(task_log::get_task_log), ALL_ROLES),
        ("/tasks/{id}", get(tasks::get_task).delete(tasks::delete_task), ALL_ROLES),
        ("/tasks/{id}/settings", get(settings::get_task_settings).put(settings::replace_task_settings), ALL_ROLES),
        ("/tasks/{id}/batches", get(batches::list_batches).post(batches::close_open_batch), ALL_ROLES),
        ("/tasks/{id}/estimates", get(estimates::get_estimates).post(estimates::post_estimates_query), ESTIMATE_SERVING_ROLES),
        ("/tasks/{id}/heavy-hitters", get(heavy_hitters::get_heavy_hitters), ESTIMATE_SERVING_ROLES),
        ("/tasks/{id}/privacy", get(privacy::get_privacy), ESTIMATE_SERVING_ROLES),
        ("/tasks/{id}/influence", get(influence::get_influence), ESTIMATE_SERVING_ROLES),
        ("/tasks/{id}/keys", get(keys::get_key_configurations), SEALED_REPORT_ROLES),
        ("/tasks/{id}/blocks", post(blocks::receive_sealed_block), &[ProcessRole::Analyser]),
        (OHTTP_GATEWAY_ROUTE, get(ohttp::get_ohttp_key_configurations).post(ohttp::answer_sealed_request), UPLOAD_ROLES),
        ("/", get(dashboard::redirect_to_dashboard), ESTIMATE_SERVING_ROLES),
        ("/dashboard", get(dashboard::redirect_to_dashboard), ESTIMATE_SERVING_ROLES),
        ("/dashboard/", get(dashboard::dashboard_page), ESTIMATE_SERVING_ROLES),
        ("/dashboard/dashboard.js", get(dashboard::dashboard_script), ESTIMATE_SERVING_ROLES),
        ("/dashboard/dashboard.css", get(dashboard::dashboard_stylesheet), ESTIMATE_SERVING_ROLES),
        ("/dashboard/icon.svg", get(dashboard::dashboard_icon), ESTIMATE_SERVING_ROLES),
        (LIVENESS_ROUTE, get(health::liveness_check), ALL_ROLES),
        (READINESS_ROUTE, get(health::readiness_check), ALL_ROLES),
        (METRICS_ROUTE, get(health::prometheus_metrics), ALL_ROLES),
        ("/openapi.json", get(openapi::get_openapi_document), ALL_ROLES),
    ]
}

/// Returns the routes for requests through a relay: only the routes that pages use.
fn relayed_routes() -> [Route; 3] {
    [
        (UPLOAD_ROUTE, post(uploads::accept_uploads), UPLOAD_ROLES),
        ("/tasks/{id}", get(tasks::get_task), UPLOAD_ROLES),
        (
            "/tasks/{id}/keys",
            get(keys::get_key_configurations),
            SEALED_REPORT_ROLES,
        ),
    ]
}

/// Returns the whole interface as a service without a socket, to be served alone or nested in
/// another application.
///
/// The router has no access control: anyone who can reach it may read and change everything. The
/// embedding application must restrict access. (`hushbin serve` requires tokens.) After serving,
/// the application has to close the store ([`Store::close`]).
pub fn unrestricted_router(store: Store, limits: RequestLimits) -> Router {
    let metrics = Arc::new(Metrics::new());
    metrics.register_store_metrics(&store, None, None);
    access_controlled_router(
        store,
        AccessPolicy::Unrestricted,
        limits,
        RoleKeysAndPeers::default(),
        metrics,
        None,
        TaskSettings::default(),
    )
}

/// Returns the whole interface with access control, peers and metrics. New tasks have the settings
/// `new_task_settings`, unless a request has its own.
pub(crate) fn access_controlled_router(
    store: Store,
    access: AccessPolicy,
    limits: RequestLimits,
    peers: RoleKeysAndPeers,
    metrics: Arc<Metrics>,
    gateway: Option<Arc<OhttpGateway>>,
    new_task_settings: TaskSettings,
) -> Router {
    let deadline = limits.request_timeout;
    let role = store.role();
    let state = AppState::new(
        store,
        access,
        limits,
        peers,
        Arc::clone(&metrics),
        gateway,
        new_task_settings,
    );
    let common = MiddlewareState {
        metrics,
        request_timeout: deadline,
    };
    let inside = router_for_role(relayed_routes(), role).with_state(state.clone());
    let inside = RelayedRequestRouter(with_common_layers(inside, common.clone()));
    let routes = routes().map(|(path, methods, roles)| match path {
        OHTTP_GATEWAY_ROUTE => (path, methods.layer(Extension(inside.clone())), roles),
        _ => (path, methods, roles),
    });
    with_common_layers(router_for_role(routes, role).with_state(state), common)
}

/// Builds the router for one role. Requests for paths of other roles get
/// [`Problem::OtherRole`].
fn router_for_role(routes: impl IntoIterator<Item = Route>, role: ProcessRole) -> Router<AppState> {
    let add = |router: Router<AppState>, (path, methods, roles): Route| {
        router.route(
            path,
            match roles.contains(&role) {
                true => methods,
                false => any(async || Problem::OtherRole),
            },
        )
    };
    routes
        .into_iter()
        .fold(Router::new(), add)
        .fallback(async || Problem::NotFound)
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use axum::body::Body;
    use axum::http::{Method, Request, StatusCode, header};
    use axum::response::Response;
    use tower::ServiceExt;
    use tracing::instrument::WithSubscriber;

    use super::*;
    use crate::store::{JournalLocation, StoreOptions};
    use crate::tokens::{self, TokenRole, TokenStore};

    /// Returns a store with one task, "t", in a temporary directory.
    fn store(role: ProcessRole) -> (Store, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let draft: hushbin::TaskDraft = serde_json::from_str(
            r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
        )
        .unwrap();
        let options = StoreOptions {
            role,
            ..StoreOptions::DEFAULT
        };
        let store = Store::open(directory.path(), &[draft.into()], options);
        (store.unwrap(), directory)
    }

    fn collector() -> (Router, tempfile::TempDir) {
        let (store, directory) = store(ProcessRole::Collector);
        (
            unrestricted_router(store, RequestLimits::default()),
            directory,
        )
    }

    async fn ask(router: &Router, method: Method, path: &str) -> Response {
        let request = Request::builder().method(method).uri(path);
        let request = request.body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap()
    }

    /// Returns the methods, paths and roles in the table at the top of this file.
    pub(super) fn documented() -> Vec<(&'static str, &'static str, &'static str)> {
        include_str!("mod.rs")
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .filter_map(|line| {
                let (request, rest) = line.strip_prefix(" | `")?.split_once("` | ")?;
                let (method, path) = request.split_once(' ')?;
                Some((method, path, rest.split_once(" |")?.0))
            })
            .collect()
    }

    #[tokio::test]
    async fn what_is_served_is_what_is_documented() {
        let documented = documented();
        let mut paths: Vec<_> = documented.iter().map(|&(_, path, _)| path).collect();
        let mut served: Vec<_> = routes().iter().map(|&(path, ..)| path).collect();
        served.push(paths::RELAY_ROUTE);
        paths.sort_unstable();
        paths.dedup();
        served.sort_unstable();
        assert_eq!(paths, served);
        for &role in ALL_ROLES {
            let (store, _directory) = store(role);
            let (peers, metrics) = (RoleKeysAndPeers::default(), Arc::new(Metrics::new()));
            let access = AccessPolicy::Unrestricted;
            let router = super::access_controlled_router(
                store,
                access,
                RequestLimits::default(),
                peers,
                metrics,
                None,
                TaskSettings::default(),
            );
            for (path, _, roles) in routes() {
                let methods = documented.iter().filter(|(_, own, _)| *own == path);
                let methods = methods.map(|&(method, ..)| match method {
                    "GET" => "GET,HEAD",
                    other => other,
                });
                let expected = methods.collect::<Vec<_>>().join(",");
                let path = path.replace("{id}", "t");
                let refused = ask(&router, Method::PATCH, &path).await;
                if !roles.contains(&role) {
                    assert_eq!(refused.status(), StatusCode::NOT_FOUND, "{role:?} {path}");
                    continue;
                }
                assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
                let allowed = refused.headers()[header::ALLOW].to_str().unwrap();
                assert_eq!(allowed, expected, "{path}");
            }
        }
    }

    #[tokio::test]
    async fn it_is_for_whom_it_is_documented_to_be() {
        let (store, directory) = store(ProcessRole::Collector);
        let location = JournalLocation::Directory(directory.path().to_owned());
        let role = |role| {
            tokens::create_token(&location, role, role.name())
                .unwrap()
                .1
        };
        let [analyst, admin] = [TokenRole::Analyst, TokenRole::Admin].map(role);
        let tokens = Arc::new(TokenStore::open(&location).unwrap());
        let metrics = Arc::new(Metrics::new());
        let access = AccessPolicy::AllowByTokenRole(tokens, Arc::default());
        let router = super::access_controlled_router(
            store,
            access,
            RequestLimits::default(),
            RoleKeysAndPeers::default(),
            metrics,
            None,
            TaskSettings::default(),
        );
        for (method, path, whom) in documented() {
            // An unknown task, so that nothing is deleted.
            let path = path.replace("{id}", "none");
            let expected = match whom {
                // Shufflers need a signature and no token, and a collector takes no blocks.
                "anyone" | "shufflers" => [None, None, None],
                "analysts" => [Some(401), None, None],
                _ => [Some(401), Some(403), None],
            };
            for (token, expected) in [None, Some(&analyst), Some(&admin)]
                .into_iter()
                .zip(expected)
            {
                let mut request = Request::builder().method(method).uri(&path);
                if let Some(token) = token {
                    request = request.header("authorization", format!("Bearer {token}"));
                }
                let request = request.body(Body::empty()).unwrap();
                let status = router
                    .clone()
                    .oneshot(request)
                    .await
                    .unwrap()
                    .status()
                    .as_u16();
                let refused = [401, 403].contains(&status).then_some(status);
                assert_eq!(refused, expected, "{method} {path} {whom}");
            }
        }
    }

    /// Lines of a log.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn uploads_are_not_logged_wherever_the_router_is_nested() {
        let (alone, _directory) = collector();
        let nested = Router::new().nest("/telemetry", alone.clone());
        for (router, prefix) in [(alone, ""), (nested, "/telemetry")] {
            let log = Log::default();
            let lines = log.clone();
            let subscriber = tracing_subscriber::fmt()
                .with_max_level(tracing::Level::TRACE)
                .with_writer(move || lines.clone())
                .finish();
            let requests = async {
                ask(&router, Method::POST, &format!("{prefix}/tasks/t/reports")).await;
                ask(&router, Method::GET, &format!("{prefix}/tasks/t")).await;
            };
            requests.with_subscriber(subscriber).await;
            let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
            let answers: Vec<_> = log.lines().filter(|l| l.contains("answered")).collect();
            assert_eq!(answers.len(), 1, "{log}");
            assert!(answers[0].contains(&format!("{prefix}/tasks/{{id}}")));
            assert!(!log.contains("reports"), "{log}");
        }
    }
}
