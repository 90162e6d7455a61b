//! Several uploads in one body: each counts once, by its own id.

use crate::support::App;
use axum::http::{Method, StatusCode};
use hushbin::{Upload, bounds};
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Totals, estimates_for_query};
use hushbin_tests::uploads::Uploads;
use serde_json::{Value, json};

/// Bytes of all uploads, back to back.
fn body(app: &App, uploads: &[&Upload]) -> Vec<u8> {
    let fingerprint = app.task("settings").fingerprint();
    let encoded = uploads.iter().map(|upload| upload.encode(&fingerprint));
    encoded.collect::<Vec<_>>().concat()
}

async fn post(app: &App, uploads: &[&Upload]) -> (StatusCode, Value) {
    let answer = app.post("settings", body(app, uploads)).await;
    (answer.status, answer.json())
}

fn said(uploads: usize, accepted: usize, duplicates: usize) -> Value {
    json!({ "uploads": uploads, "accepted_reports": accepted, "duplicate_uploads": duplicates })
}

/// Checks that the collector's estimates are those of exactly these uploads.
async fn assert_counted(app: &App, uploads: &[&Upload]) {
    let task = app.task("settings");
    let mut totals = Totals::new(&task);
    for upload in uploads {
        upload
            .reports
            .iter()
            .for_each(|report| totals.add_report(report));
    }
    let question = EstimateQuery::new(&task, &EstimateOptions::default()).unwrap();
    let expected = serde_json::to_value(estimates_for_query(&task, &totals, &question)).unwrap();
    let found = app.get("/tasks/settings/estimates").await.json();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn each_counts_once_whatever_it_travels_with() {
    let app = App::new();
    let mut uploads = Uploads::new(&app.task("settings"), 1);
    let [a, b, c, d] = [3, 1, 4, 2].map(|reports| uploads.make(reports));
    assert_eq!(
        post(&app, &[&a, &b]).await,
        (StatusCode::CREATED, said(2, 4, 0))
    );
    // The uploads come in another order, with a new one, and alone.
    assert_eq!(
        post(&app, &[&b, &c, &a]).await,
        (StatusCode::CREATED, said(3, 4, 2))
    );
    assert_eq!(
        post(&app, &[&c, &b, &a]).await,
        (StatusCode::OK, said(3, 0, 3))
    );
    assert_eq!(post(&app, &[&b]).await, (StatusCode::OK, said(1, 0, 1)));
    // One upload occurs twice in a body.
    assert_eq!(
        post(&app, &[&d, &a, &d]).await,
        (StatusCode::CREATED, said(3, 2, 2))
    );
    assert_counted(&app, &[&a, &b, &c, &d]).await;
}

#[tokio::test]
async fn of_one_whose_id_is_taken_the_others_are_stored() {
    let app = App::new();
    let mut uploads = Uploads::new(&app.task("settings"), 2);
    let [a, b, c] = [3, 1, 4].map(|reports| uploads.make(reports));
    let mut other = uploads.make(2);
    other.id = a.id;
    let mut third = uploads.make(1);
    third.id = b.id;
    assert_eq!(post(&app, &[&a]).await.0, StatusCode::CREATED);
    // An id conflicts with one in the journal, then with one earlier in the body.
    for (conflicting, id) in [([&b, &other, &c], a.id), ([&third, &a, &c], b.id)] {
        let answer = app.post("settings", body(&app, &conflicting)).await;
        let problem = answer.problem("upload-id-conflict", 409);
        assert_eq!(problem["id"], id.to_string());
    }
    let within = uploads.make(1);
    let mut again = uploads.make(2);
    again.id = within.id;
    let answer = app.post("settings", body(&app, &[&within, &again])).await;
    let problem = answer.problem("upload-id-conflict", 409);
    assert_eq!(problem["id"], within.id.to_string());
    assert_eq!(
        post(&app, &[&a, &b, &c, &within]).await,
        (StatusCode::OK, said(4, 0, 4))
    );
    assert_counted(&app, &[&a, &b, &c, &within]).await;
}

#[tokio::test]
async fn nothing_is_taken_unless_all_decode() {
    let app = App::new();
    let mut uploads = Uploads::new(&app.task("settings"), 3);
    let good = uploads.make(2);
    let bytes = body(&app, &[&good]);
    let counted = Uploads::new(&app.task("counted"), 4).bytes(1);
    for mixed in [
        [&bytes[..], &counted].concat(),
        [&counted[..], &bytes].concat(),
    ] {
        let problem = app
            .post("settings", mixed)
            .await
            .problem("fingerprint-mismatch", 409);
        let fingerprint = |id| app.task(id).fingerprint().to_string();
        assert_eq!(problem["expected"], fingerprint("settings"));
        assert_eq!(problem["received"], fingerprint("counted"));
    }
    for broken in [
        [&bytes[..], &bytes[..bytes.len() - 1]].concat(),
        [&bytes[..], b"?"].concat(),
    ] {
        let problem = app
            .post("settings", broken)
            .await
            .problem("malformed-upload", 400);
        assert!(problem["detail"].is_string());
    }
    let cut = [&bytes[..], &bytes[..20]].concat();
    let problem = app.post("settings", cut).await;
    let detail = problem.problem("malformed-upload", 400)["detail"].to_string();
    let place = format!("byte {}", bytes.len() + 17);
    assert!(detail.contains(&place), "{detail}");
    assert_counted(&app, &[]).await;
}

#[tokio::test]
async fn a_body_has_as_many_reports_as_an_upload() {
    let app = App::new();
    let mut uploads = Uploads::new(&app.task("settings"), 5);
    let most = bounds::REPORTS_PER_UPLOAD_RANGE.max as usize;
    // The body has more uploads than a single commit takes.
    let made: Vec<Upload> = (0..most).map(|_| uploads.make(1)).collect();
    let mut all: Vec<&Upload> = made.iter().collect();
    assert_eq!(
        post(&app, &all).await,
        (StatusCode::CREATED, said(most, most, 0))
    );
    let one = uploads.make(1);
    all.push(&one);
    let answer = app.post("settings", body(&app, &all)).await;
    let problem = answer.problem("malformed-upload", 400);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("at most 4096 reports"), "{detail}");
    all.pop();
    assert_counted(&app, &all).await;
}

#[tokio::test]
async fn an_encoded_body_is_refused_and_not_guessed_at() {
    let app = App::new();
    let upload = Uploads::new(&app.task("settings"), 6).make(2);
    let bytes = body(&app, &[&upload]);
    let send = async |encoding: &str| {
        let headers = [("content-encoding", encoding)];
        let path = "/tasks/settings/reports";
        app.send(Method::POST, path, &headers, bytes.clone()).await
    };
    for encoding in ["gzip", "br", "identity, gzip", "x"] {
        let answer = send(encoding).await;
        answer.problem("encoded-body", 415);
        assert_eq!(answer.header("accept-encoding"), "identity");
    }
    assert_counted(&app, &[]).await;
    assert_eq!(send("Identity").await.status, StatusCode::CREATED);
    assert_counted(&app, &[&upload]).await;
}
