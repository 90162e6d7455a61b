//! The OpenAPI document describes every response.

pub(crate) mod crowd;
pub(crate) mod document;
mod random;

use axum::http::{Method, StatusCode};
use hushbin_analysis::accounting::{
    DEFAULT_DELTA, DEFAULT_HONEST_FRACTION, DELTA_RANGE, HONEST_FRACTION_RANGE,
};
use hushbin_analysis::estimate::{
    CONFIDENCE_RANGE, DEFAULT_CONFIDENCE, FALSE_DISCOVERY_RATE_RANGE, PostProcessingMethod,
};
use hushbin_analysis::heavy_hitters::DEFAULT_ALPHABET;
use hushbin_server::http::RequestLimits;
use hushbin_server::store::{Store, StoreOptions};
use serde_json::{Value, json};

use crate::support::{Answer, App, SETTINGS, unlimited};
use crowd::{TASKS, ids, upload};
use document::Document;

/// A collector, and the document that it serves.
struct Described {
    app: App,
    document: Document,
}

impl Described {
    /// A collector with reports for all tasks.
    async fn new() -> Self {
        let app = App::with(&TASKS);
        let document = Document::of(&app).await;
        let described = Self { app, document };
        for id in ids() {
            let task = described.app.task(&id);
            let bytes = upload(&task, 900, 1).encode(&task.fingerprint());
            let path = format!("/tasks/{id}/reports");
            for status in [201, 200] {
                let answer = described.ask("POST", &path, &[], bytes.clone()).await;
                assert_eq!(answer.status.as_u16(), status);
            }
        }
        described
    }

    /// Sends a request, and checks its response against the document.
    async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<axum::body::Body>,
    ) -> Answer {
        let verb = Method::from_bytes(method.as_bytes()).unwrap();
        let answer = self.app.send(verb, path, headers, body).await;
        self.document.check(method, path, &answer);
        answer
    }

    /// Sends a GET request, and checks its status, too.
    async fn get(&self, path: &str, status: u16) -> Answer {
        let answer = self.ask("GET", path, &[], "").await;
        let body = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status.as_u16(), status, "{path}: {body}");
        answer
    }

    /// Sends a request that must be refused with this problem.
    async fn refused(
        &self,
        method: &str,
        path: &str,
        body: impl Into<axum::body::Body>,
        slug: &str,
    ) {
        let answer = self.ask(method, path, &[], body).await;
        let kind = format!("urn:hushbin:problem:{slug}");
        assert_eq!(answer.json()["type"], kind, "{method} {path}");
    }
}

#[tokio::test]
async fn what_is_told_of_tasks_is_as_described() {
    let described = Described::new().await;
    described.get("/tasks", 200).await;
    for id in ids() {
        for path in ["", "/settings", "/batches", "/privacy", "/influence"] {
            described.get(&format!("/tasks/{id}{path}"), 200).await;
        }
        for query in ["?delta=1e-5&honest_fraction=0.5", "?honest_fraction=0.001"] {
            described
                .get(&format!("/tasks/{id}/privacy{query}"), 200)
                .await;
        }
    }
    let answer = described.get("/tasks/coco/privacy", 200).await.json();
    assert!(answer["shuffled"].is_object(), "{answer}");
    described.get("/tasks/coco/influence?batches=1", 200).await;
}

#[tokio::test]
async fn estimates_are_as_described() {
    let described = Described::new().await;
    let queries = [
        (
            "everything",
            "question=rated&post_processing=conditional-mean,projection,full-projection,shrinkage",
        ),
        ("everything", "question=rated&items=b%2Cc,a&confidence=0.5"),
        (
            "everything",
            "question=features&post_processing=shrinkage&false_discovery_rate=0.1",
        ),
        ("everything", "question=theme&post_processing=projection"),
        ("everything", "question=signed-in"),
        ("everything", "question=load&quantiles=0.1,0.9"),
        ("everything", "question=zoom"),
        ("everything", "question=times"),
        ("everything", "question=plan-theme"),
        (
            "everything",
            "question=plan-theme&items=plan:%20pro%2C%20theme:%201",
        ),
        ("everything", "question=pro-load"),
        ("everything", "question=both"),
        ("delays", "batches=1"),
        (
            "coco",
            "post_processing=conditional-mean&false_discovery_rate=0.5",
        ),
        ("clipped", ""),
        ("near", ""),
        ("open", "items=a,b"),
    ];
    for (id, query) in queries {
        let path = format!("/tasks/{id}/estimates?{query}");
        let answer = described.get(&path, 200).await.json();
        // A cross by a number for its mean has no shares of cells.
        let told = answer["estimates"].as_array().unwrap();
        assert_eq!(told.is_empty(), query.contains("pro-load"), "{path}");
        // Shrinkage works for a set of 24 options, and is refused for 2 items.
        if query.contains("shrinkage") {
            let refused = query.contains("rated");
            assert_eq!(
                answer["shrinkage"].get("refused").is_some(),
                refused,
                "{answer}"
            );
        }
        let csv = [("accept", "text/csv")];
        assert_eq!(
            described.ask("GET", &path, &csv, "").await.status,
            StatusCode::OK
        );
    }
    for query in [
        "question=query&alphabet=ab",
        "question=query&alphabet=b&confidence=0.99",
    ] {
        let path = format!("/tasks/everything/heavy-hitters?{query}");
        described.get(&path, 200).await;
        described
            .ask("GET", &path, &[("accept", "text/csv")], "")
            .await;
    }
}

#[tokio::test]
async fn what_is_changed_is_as_described() {
    let described = Described::new().await;
    let examples = |path: &str, method: &str| {
        let operation = &described.document.value["paths"][path][method];
        let content = &operation["requestBody"]["content"]["application/json"];
        let examples = content["examples"].as_object().unwrap().values();
        let examples: Vec<Value> = examples.map(|own| own["value"].clone()).collect();
        for example in &examples {
            described
                .document
                .faults(&content["schema"], example)
                .unwrap();
        }
        examples
    };
    for example in examples("/tasks", "post") {
        let answer = described
            .ask("POST", "/tasks", &[], example.to_string())
            .await;
        assert_eq!(answer.status, StatusCode::CREATED);
        described
            .refused("POST", "/tasks", example.to_string(), "task-exists")
            .await;
    }
    for example in examples("/tasks/{id}/settings", "put") {
        let answer = described
            .ask("PUT", "/tasks/coco/settings", &[], example.to_string())
            .await;
        assert_eq!(answer.status, StatusCode::OK);
        described.get("/tasks/coco/settings", 200).await;
    }
    let close = "/tasks/near/batches";
    described
        .refused("POST", close, "", "batch-too-small")
        .await;
    let task = described.app.task("near");
    let bytes = upload(&task, 1000, 2).encode(&task.fingerprint());
    described
        .ask("POST", "/tasks/near/reports", &[], bytes)
        .await;
    let answer = described.ask("POST", close, &[], "").await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    described.get(close, 200).await;
    let answer = described.ask("DELETE", "/tasks/near", &[], "").await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    described
        .refused("DELETE", "/tasks/near", "", "unknown-task")
        .await;
}

#[tokio::test]
async fn what_is_not_of_tasks_is_as_described() {
    let described = Described::new().await;
    let paths: Vec<String> = {
        let operations = described.document.operations();
        let paths = operations.map(|(path, ..)| path.to_owned());
        paths.filter(|path| !path.starts_with("/tasks")).collect()
    };
    assert!(paths.len() > 8);
    for path in paths {
        if path.starts_with("/gateways/") {
            // Only relays have such resources, and only for POST.
            let answer = described.ask("POST", &path, &[], "").await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND);
            continue;
        }
        let answer = described.ask("GET", &path, &[], "").await;
        if path == "/.well-known/ohttp-gateway" {
            // A collector without a key has no such resource.
            assert_eq!(answer.status, StatusCode::NOT_FOUND);
            continue;
        }
        assert!(!answer.status.is_client_error() && !answer.status.is_server_error());
    }
}

#[tokio::test]
async fn problems_are_as_described() {
    let described = Described::new().await;
    let long = vec![0; RequestLimits::DEFAULT.max_upload_bytes + 1];
    let [coco, near] = ["coco", "near"].map(|id| described.app.task(id));
    let conflict = upload(&coco, 3, 1).encode(&coco.fingerprint());
    let other = upload(&near, 3, 3).encode(&near.fingerprint());
    let reports = "/tasks/coco/reports";
    described
        .refused("POST", reports, "x", "malformed-upload")
        .await;
    described
        .refused("POST", reports, long.clone(), "too-large")
        .await;
    described
        .refused("POST", reports, conflict, "upload-id-conflict")
        .await;
    described
        .refused("POST", reports, other.clone(), "fingerprint-mismatch")
        .await;
    described
        .refused("POST", "/tasks/none/reports", "x", "unknown-task")
        .await;
    let packed = [("content-encoding", "gzip")];
    let answer = described.ask("POST", reports, &packed, "x").await;
    assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let strict = r#"{ "origins": [], "max_reports_per_request": 2 }"#;
    described
        .ask("PUT", "/tasks/near/settings", &[], strict)
        .await;
    let of_near = "/tasks/near/reports";
    described
        .refused("POST", of_near, other.clone(), "origin-not-allowed")
        .await;
    described
        .ask(
            "PUT",
            "/tasks/near/settings",
            &[],
            r#"{ "max_reports_per_request": 2 }"#,
        )
        .await;
    described
        .refused("POST", of_near, other, "too-many-reports")
        .await;
    described
        .refused("POST", "/tasks", "{", "bad-request")
        .await;
    described.refused("POST", "/tasks", long, "too-large").await;
    let task: Value = serde_json::from_str(SETTINGS).unwrap();
    let mut none = json!({ "task": task });
    none["task"]["epsilon"] = json!(100);
    described
        .refused("POST", "/tasks", none.to_string(), "invalid-task")
        .await;
    described
        .refused("PUT", "/tasks/coco/settings", "[]", "bad-request")
        .await;
    for (path, slug) in [
        ("/tasks/none", "unknown-task"),
        ("/tasks/%FF", "not-found"),
        ("/tasks/coco/estimates?colour=red", "bad-query"),
        ("/tasks/coco/estimates?items=z", "unknown-item"),
        (
            "/tasks/coco/estimates?post_processing=median",
            "unknown-post-processing",
        ),
        (
            "/tasks/coco/estimates?items=a&post_processing=projection",
            "impossible-post-processing",
        ),
        ("/tasks/coco/estimates?batches=99", "unknown-batch"),
        ("/tasks/coco/influence?batches=99", "unknown-batch"),
        ("/tasks/coco/privacy?delta=1", "bad-query"),
        ("/tasks/coco/heavy-hitters", "bad-query"),
    ] {
        described.refused("GET", path, "", slug).await;
    }
    // Other methods of a described path are not served.
    described
        .app
        .get("/nothing")
        .await
        .problem("not-found", 404);
}

#[tokio::test]
async fn what_a_collector_cannot_do_yet_or_any_more_is_as_described() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        Store::open(
            directory.path(),
            &[unlimited(SETTINGS)],
            StoreOptions::default(),
        )
    };
    let app = App::over(open().unwrap(), RequestLimits::default());
    let document = Document::of(&app).await;
    let described = Described { app, document };
    for path in ["estimates", "privacy", "influence"] {
        let path = format!("/tasks/settings/{path}");
        described
            .refused("GET", &path, "", "nothing-released")
            .await;
    }
    described.app.store.close().await.unwrap();
    described
        .refused("POST", "/tasks/settings/batches", "", "overloaded")
        .await;
    described.refused("GET", "/readyz", "", "not-ready").await;
}

/// Ranges, defaults and enumerations in the document equal their definitions.
#[tokio::test]
async fn parameters_are_as_described() {
    let app = App::new();
    let document = Document::of(&app).await;
    let schema = |path: &str, name: &str| {
        let operation = &document.value["paths"][format!("/tasks/{{id}}/{path}")]["get"];
        let parameters = document.parameters(operation);
        let found = parameters.into_iter().find(|own| own["name"] == name);
        document.resolve(&found.unwrap()["schema"]).clone()
    };
    for (path, bound, default) in [
        ("estimates", CONFIDENCE_RANGE, json!(DEFAULT_CONFIDENCE)),
        ("heavy-hitters", CONFIDENCE_RANGE, json!(DEFAULT_CONFIDENCE)),
        ("estimates", FALSE_DISCOVERY_RATE_RANGE, Value::Null),
        ("privacy", DELTA_RANGE, json!(DEFAULT_DELTA)),
        (
            "privacy",
            HONEST_FRACTION_RANGE,
            json!(DEFAULT_HONEST_FRACTION),
        ),
    ] {
        let said = schema(path, bound.name);
        let numbers = ["minimum", "maximum"].map(|end| said[end].as_f64().unwrap());
        assert_eq!(numbers, [bound.min, bound.max], "{path}: {}", bound.name);
        assert_eq!(
            said["default"].as_f64(),
            default.as_f64(),
            "{path}: {}",
            bound.name
        );
    }
    assert_eq!(
        schema("heavy-hitters", "alphabet")["default"],
        DEFAULT_ALPHABET
    );
    let words = PostProcessingMethod::ALL.map(PostProcessingMethod::as_str);
    let post = schema("estimates", "post_processing");
    assert_eq!(document.resolve(&post["items"])["enum"], json!(words));
}
