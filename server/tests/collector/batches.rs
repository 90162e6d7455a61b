//! Batches: closed once, released once, and unreadable while open.
use std::time::Duration;

use axum::http::{Method, StatusCode};
use hushbin_server::http::RequestLimits;
use hushbin_server::store::{BatchSettings, Store, StoreOptions, TaskSettings, TaskSetup};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::{Value, json};

use crate::support::{App, OPEN, SETTINGS};

/// A collector whose batches have at least three reports and close at seven.
fn app(directory: &std::path::Path) -> App {
    let settings = TaskSettings {
        batch: BatchSettings {
            least: 3,
            most: 7,
            hours: 0,
            min_minutes: 0,
        },
        ..TaskSettings::default()
    };
    let collected = |task| TaskSetup {
        draft: draft(task).into(),
        settings: Some(settings.clone()),
    };
    let tasks = [collected(SETTINGS), collected(OPEN)];
    let store = Store::open(directory, &tasks, StoreOptions::default()).unwrap();
    App::over(store, RequestLimits::default())
}

async fn batches(app: &App) -> Vec<Value> {
    let answer = app.get("/tasks/settings/batches").await.json();
    answer["batches"].as_array().unwrap().clone()
}

/// Waits until every closed batch has been counted.
async fn released(app: &App) {
    while batches(app)
        .await
        .iter()
        .any(|batch| batch["state"] == "closed")
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn close(app: &App) -> crate::support::Answer {
    app.send(
        Method::POST,
        "/tasks/settings/batches",
        &[],
        axum::body::Body::empty(),
    )
    .await
}

#[tokio::test]
async fn a_batch_is_released_with_enough_reports_and_not_before() {
    let directory = tempfile::tempdir().unwrap();
    let app = app(directory.path());
    let mut uploads = Uploads::new(&app.task("settings"), 1);
    assert_eq!(
        app.post("settings", uploads.bytes(2)).await.status,
        StatusCode::CREATED
    );
    for path in ["estimates", "privacy"] {
        let said = app.get(&format!("/tasks/settings/{path}")).await;
        let said = said.problem("nothing-released", 409);
        assert_eq!(
            (&said["reports"], &said["min_reports"]),
            (&json!(2), &json!(3))
        );
    }
    let said = close(&app).await.problem("batch-too-small", 409);
    assert_eq!(
        (&said["reports"], &said["min_reports"]),
        (&json!(2), &json!(3))
    );
    app.post("settings", uploads.bytes(1)).await;
    let answer = close(&app).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    assert_eq!(answer.json()["number"], 1);
    released(&app).await;
    assert_eq!(
        app.get("/tasks/settings/estimates").await.json()["reports"],
        3
    );
    app.get("/tasks/settings/estimates?batches=2")
        .await
        .problem("unknown-batch", 404);
}

#[tokio::test]
async fn a_full_batch_closes_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let app = app(directory.path());
    let mut uploads = Uploads::new(&app.task("settings"), 2);
    for _ in 0..3 {
        app.post("settings", uploads.bytes(5)).await;
    }
    released(&app).await;
    let found = batches(&app).await;
    let told: Vec<_> = found.iter().map(|b| (&b["state"], &b["reports"])).collect();
    assert_eq!(
        told,
        [
            (&json!("released"), &json!(10)),
            (&json!("open"), &json!(5))
        ]
    );
}

#[tokio::test]
async fn releases_merge_and_never_change() {
    let directory = tempfile::tempdir().unwrap();
    let app = app(directory.path());
    let mut uploads = Uploads::new(&app.task("settings"), 3);
    let mut all = Vec::new();
    for count in [3, 4, 5] {
        let bytes = uploads.bytes(count);
        app.post("settings", bytes.clone()).await;
        all.push(bytes);
        close(&app).await;
        released(&app).await;
    }
    let queries = [
        "",
        "?batches=1",
        "?batches=2-3",
        "?batches=1,3",
        "?post_processing=projection",
    ];
    let ask = async |app: &App| {
        let mut answers = Vec::new();
        for query in queries {
            let path = format!("/tasks/settings/estimates{query}");
            answers.push(app.get(&path).await.body);
        }
        answers
    };
    let before = ask(&app).await;
    let reports = |body: &[u8]| serde_json::from_slice::<Value>(body).unwrap()["reports"].clone();
    let counted: Vec<_> = before.iter().map(|body| reports(body)).collect();
    assert_eq!(counted, [12, 3, 9, 8, 12]);
    // New uploads and repeated ones change nothing that can be read.
    app.post("settings", uploads.bytes(2)).await;
    for bytes in &all {
        assert_eq!(
            app.post("settings", bytes.clone()).await.status,
            StatusCode::OK
        );
    }
    assert_eq!(ask(&app).await, before);
    app.store.close().await.unwrap();
    let app = self::app(directory.path());
    assert_eq!(ask(&app).await, before);
    for bytes in all {
        assert_eq!(app.post("settings", bytes).await.status, StatusCode::OK);
    }
    assert_eq!(batches(&app).await.last().unwrap()["reports"], 2);
}
