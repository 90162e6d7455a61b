//! Shared test support: tasks, and a collector without a socket.

pub(crate) mod alternatives;
#[cfg(unix)]
pub(crate) mod proxy;
pub(crate) mod simulation;
#[cfg(unix)]
pub(crate) mod tls;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use hushbin::Task;
use hushbin_server::http::{RequestLimits, unrestricted_router};
use hushbin_server::store::{Store, StoreOptions, TaskSettings, TaskSetup};
use hushbin_tests::uploads::draft;
use serde_json::Value;
use tower::ServiceExt;

/// A closed task with named items; one name holds a comma.
pub(crate) const SETTINGS: &str = r#"{
    "id": "settings",
    "items": ["dark-mode", "autoplay", "captions", "a,b", "large text"],
    "sparsity": 2, "epsilon": 2.0, "value": "sign"
}"#;

/// A closed task with counted items.
pub(crate) const COUNTED: &str =
    r#"{ "id": "counted", "items": 12, "sparsity": 3, "epsilon": 1.0, "value": "real" }"#;

/// An open task.
pub(crate) const OPEN: &str = r#"{
    "id": "anything", "items": "open", "sparsity": 2, "epsilon": 2.0, "value": "sign"
}"#;

/// Limits of `hushbin serve --development`: estimates include all reports so far.
pub(crate) const DEVELOPMENT: RequestLimits = RequestLimits {
    release_on_read: true,
    ..RequestLimits::DEFAULT
};

/// A collector without a socket, on a temporary data directory.
pub(crate) struct App {
    pub(crate) store: Store,
    pub(crate) router: Router,
    /// Data directory; `None` if the store uses another engine.
    pub(crate) directory: Option<tempfile::TempDir>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// A task whose requests may have any number of reports.
pub(crate) fn unlimited(task: &str) -> TaskSetup {
    TaskSetup {
        draft: draft(task).into(),
        settings: Some(TaskSettings {
            max_reports_per_request: 0,
            ..TaskSettings::default()
        }),
    }
}

impl App {
    pub(crate) fn new() -> Self {
        Self::with(&[SETTINGS, COUNTED, OPEN])
    }

    pub(crate) fn with(tasks: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let drafts: Vec<TaskSetup> = tasks.iter().map(|task| unlimited(task)).collect();
        let store = Store::open(directory.path(), &drafts, StoreOptions::default()).unwrap();
        Self {
            directory: Some(directory),
            ..Self::over(store, DEVELOPMENT)
        }
    }

    pub(crate) fn over(store: Store, limits: RequestLimits) -> Self {
        Self {
            router: unrestricted_router(store.clone(), limits),
            store,
            directory: None,
        }
    }

    pub(crate) fn task(&self, id: &str) -> Task {
        self.store
            .task(id)
            .unwrap()
            .task()
            .report_task()
            .unwrap()
            .clone()
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes().to_vec(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], Body::empty()).await
    }

    pub(crate) async fn post(&self, task: &str, body: impl Into<Body>) -> Answer {
        let path = format!("/tasks/{task}/reports");
        self.send(Method::POST, &path, &[], body).await
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }

    /// Checks that this is the problem of this kind, complete, and returns it.
    #[track_caller]
    pub(crate) fn problem(&self, slug: &str, status: u16) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status.as_u16(), status, "{text}");
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["type"], format!("urn:hushbin:problem:{slug}"));
        assert_eq!(problem["status"], status);
        assert!(!problem["title"].as_str().unwrap().is_empty());
        assert_eq!(self.headers.contains_key("retry-after"), status == 503);
        problem
    }
}
