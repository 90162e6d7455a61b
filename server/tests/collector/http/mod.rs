//! The HTTP interface without a socket: every status and problem.
mod bodies;
mod dashboard;
mod questions;
mod storage;

use crate::support::{App, DEVELOPMENT, OPEN, SETTINGS};
use axum::body::Body;
use axum::http::{Method, StatusCode};
use hushbin_analysis::accounting::{AccountingError, ReportMixture, compute_batch_privacy};
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Totals, estimates_for_query};
use hushbin_server::http::RequestLimits;
use hushbin_tests::uploads::Uploads;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::HashSet;

use serde_json::json;

#[tokio::test]
async fn an_upload_counts_once_however_often_it_is_sent() {
    let app = App::new();
    let mut uploads = Uploads::new(&app.task("settings"), 1);
    let bytes = uploads.bytes(3);
    let first = app.post("settings", bytes.clone()).await;
    assert_eq!(first.status, StatusCode::CREATED);
    assert_eq!(
        first.json(),
        json!({ "uploads": 1, "accepted_reports": 3, "duplicate_uploads": 0 })
    );
    for _ in 0..3 {
        let again = app.post("settings", bytes.clone()).await;
        assert_eq!(again.status, StatusCode::OK);
        assert_eq!(
            again.json(),
            json!({ "uploads": 1, "accepted_reports": 0, "duplicate_uploads": 1 })
        );
    }
    let estimates = app.get("/tasks/settings/estimates").await.json();
    assert_eq!(estimates["reports"], 3);
}

#[tokio::test]
async fn many_at_once_of_one_upload_are_accepted_once() {
    let app = App::new();
    let bytes = Uploads::new(&app.task("settings"), 2).bytes(5);
    let answers = (0..64).map(|_| app.post("settings", bytes.clone()));
    let mut created = 0;
    for answer in join_all(answers).await {
        created += u32::from(answer.status == StatusCode::CREATED);
        assert!(answer.status.is_success());
    }
    assert_eq!(created, 1);
    let stored = app.store.task("settings").unwrap();
    assert_eq!(stored.batches().last().unwrap().report_count, 5);
}

/// Runs all futures on one task, so that they overlap.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.map(|f| (Box::pin(f), None)).collect();
    std::future::poll_fn(|context| {
        let mut pending = false;
        for (future, output) in &mut futures {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *output = Some(value),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        if pending {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    })
    .await;
    futures
        .into_iter()
        .filter_map(|(_, output)| output)
        .collect()
}

#[tokio::test]
async fn other_bytes_under_a_known_id_are_refused() {
    let app = App::new();
    let task = app.task("settings");
    let mut uploads = Uploads::new(&task, 3);
    let first = uploads.make(2);
    let mut second = uploads.make(2);
    second.id = first.id;
    let post = async |upload: &hushbin::Upload| {
        app.post("settings", upload.encode(&task.fingerprint()))
            .await
    };
    assert_eq!(post(&first).await.status, StatusCode::CREATED);
    let problem = post(&second).await.problem("upload-id-conflict", 409);
    assert_eq!(problem["id"], first.id.to_string());
    assert_eq!(post(&first).await.status, StatusCode::OK);
    let stored = app.store.task("settings").unwrap();
    assert_eq!(stored.batches().last().unwrap().report_count, 2);
}

#[tokio::test]
async fn a_report_of_another_task_is_refused_with_both_fingerprints() {
    let app = App::new();
    let counted = app.task("counted");
    let bytes = Uploads::new(&counted, 4).bytes(1);
    let problem = app
        .post("settings", bytes)
        .await
        .problem("fingerprint-mismatch", 409);
    let settings = app.task("settings");
    assert_eq!(problem["expected"], settings.fingerprint().to_string());
    assert_eq!(problem["received"], counted.fingerprint().to_string());
}

#[tokio::test]
async fn unknown_tasks_paths_and_methods() {
    let app = App::new();
    app.post("nothing", "x").await.problem("unknown-task", 404);
    app.get("/tasks/nothing").await.problem("unknown-task", 404);
    app.get("/tasks/nothing/estimates")
        .await
        .problem("unknown-task", 404);
    app.get("/tasks/%FF").await.problem("not-found", 404);
    app.get("/nothing").await.problem("not-found", 404);
    app.get("/tasks/settings/").await.problem("not-found", 404);
    let answer = app.get("/tasks/settings/reports").await;
    answer.problem("method-not-allowed", 405);
    assert_eq!(answer.header("allow"), "POST");
    let answer = app
        .send(Method::PATCH, "/tasks/settings", &[], Body::empty())
        .await;
    answer.problem("method-not-allowed", 405);
    assert_eq!(answer.header("allow"), "GET,HEAD,DELETE");
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_however_it_comes() {
    let app = App::new();
    let large = vec![0; (1 << 20) + 1];
    let problem = app
        .post("settings", large.clone())
        .await
        .problem("too-large", 413);
    assert_eq!(problem["max_bytes"], 1 << 20);
    // The body has no announced length.
    let chunks: Vec<Result<Vec<u8>, std::io::Error>> = large
        .chunks(1 << 16)
        .map(|chunk| Ok(chunk.to_vec()))
        .collect();
    let body = Body::from_stream(stream::Iter(chunks.into_iter()));
    app.post("settings", body).await.problem("too-large", 413);
    // A body at the limit is read, and is no valid upload.
    app.post("settings", vec![0; 1 << 20])
        .await
        .problem("malformed-upload", 400);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_no_upload() {
    let app = App::new();
    let bytes = Uploads::new(&app.task("settings"), 5).bytes(1);
    let chunks = vec![
        Ok(bytes),
        Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe)),
    ];
    let body = Body::from_stream(stream::Iter(chunks.into_iter()));
    app.post("settings", body)
        .await
        .problem("incomplete-body", 400);
    let stored = app.store.task("settings").unwrap();
    assert_eq!(stored.batches().last().unwrap().report_count, 0);
}

/// A stream of ready chunks, the minimum for `Body::from_stream`.
mod stream {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    pub(crate) struct Iter<I>(pub(crate) I);

    impl<I: Iterator + Unpin> futures_core::Stream for Iter<I> {
        type Item = I::Item;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<I::Item>> {
            Poll::Ready(self.0.next())
        }
    }
}

#[tokio::test]
async fn hostile_bodies_are_typed_problems() {
    let app = App::new();
    let good = Uploads::new(&app.task("settings"), 6).bytes(4);
    let empty = app
        .post("settings", Body::empty())
        .await
        .problem("malformed-upload", 400);
    assert_eq!(empty["code"], "malformed");
    let mut version = good.clone();
    version[0] = 9;
    let problem = app
        .post("settings", version)
        .await
        .problem("malformed-upload", 400);
    assert_eq!(problem["code"], "version");

    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut hostile: Vec<Vec<u8>> = (0..good.len()).map(|n| good[..n].to_vec()).collect();
    hostile.push([&good[..], &[0]].concat());
    for length in [1, 33, 34, 50, 1000, 100_000] {
        let mut noise = vec![0; length];
        rng.fill_bytes(&mut noise);
        hostile.push(noise.clone());
        // A valid start, then noise.
        let keep = 33.min(length);
        noise[..keep].copy_from_slice(&good[..keep]);
        hostile.push(noise);
    }
    // The count promises far more reports than follow.
    hostile.push([&good[..33], &[0xff, 0xff, 0xff, 0xff, 0x0f]].concat());
    for body in hostile {
        let answer = app.post("settings", body).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        answer.problem("malformed-upload", 400);
    }
    let stored = app.store.task("settings").unwrap();
    assert_eq!(stored.batches().last().unwrap().report_count, 0);
    assert_eq!(app.post("settings", good).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn browsers_may_call_from_anywhere_without_asking() {
    let app = App::new();
    let bytes = Uploads::new(&app.task("settings"), 8).bytes(1);
    let origin = ("origin", "https://shop.example");
    let path = "/tasks/settings/reports";
    // Content types that a simple request can have, and none.
    for kind in [
        "",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/octet-stream",
    ] {
        let headers = [origin, ("content-type", kind)];
        let headers = if kind.is_empty() {
            &headers[..1]
        } else {
            &headers
        };
        let answer = app.send(Method::POST, path, headers, bytes.clone()).await;
        assert!(answer.status.is_success(), "{kind}");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert!(
            !answer
                .headers
                .contains_key("access-control-allow-credentials")
        );
    }
    // Preflight requests still get an answer.
    let ask = [
        origin,
        ("access-control-request-method", "POST"),
        // Monitoring scripts add such headers to all requests of a page.
        ("access-control-request-headers", "content-type,traceparent"),
    ];
    let answer = app.send(Method::OPTIONS, path, &ask, Body::empty()).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("access-control-allow-headers"), "*");
    assert!(
        answer
            .header("access-control-allow-methods")
            .contains("POST")
    );
    // Pages of other origins can read errors and the time to retry.
    let answer = app.send(Method::POST, path, &[origin], "x").await;
    answer.problem("malformed-upload", 400);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(
        answer.header("access-control-expose-headers"),
        "retry-after"
    );
}

/// A task file is sent as it is, or beside settings.
#[tokio::test]
async fn a_task_is_made_of_its_file() {
    let app = App::new();
    let file = r#"{ "id": "file", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#;
    let post = |body: String| app.send(Method::POST, "/tasks", &[], body);
    let answer = post(file.to_owned()).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(answer.json()["task"]["id"], "file");
    assert_eq!(answer.json()["collection_settings"]["batch"]["least"], 1000);
    let beside = file.replace("file", "beside");
    let settings = r#""collection_settings": { "batch": { "least": 7, "most": 70, "hours": 1 } }"#;
    let answer = post(format!(r#"{{ "task": {beside}, {settings} }}"#)).await;
    assert_eq!(answer.json()["collection_settings"]["batch"]["least"], 7);
    // Errors name the fields of what was sent.
    for (body, said) in [
        (file.replace("sparsity", "sparsities"), "sparsities"),
        (
            format!(r#"{{ "task": {file}, "setting": {{}} }}"#),
            "setting",
        ),
        ("[]".to_owned(), "expected an object"),
        ("{".to_owned(), "EOF"),
    ] {
        let answer = post(body).await;
        answer.problem("bad-request", 400);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(said), "{detail}");
    }
}

#[tokio::test]
async fn metrics_have_the_format_that_is_asked_for_and_no_page_reads_them() {
    let app = App::new();
    let ask = |accept: &'static str| {
        let headers = [("origin", "https://example.org"), ("accept", accept)];
        let app = &app;
        async move {
            app.send(Method::GET, "/metrics", &headers, Body::empty())
                .await
        }
    };
    let answer = ask("*/*").await;
    assert_eq!(
        answer.header("content-type"),
        "text/plain; version=0.0.4; charset=utf-8"
    );
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    let mut declared = HashSet::new();
    for line in text.lines() {
        // Each sample follows the type of its own metric, which has a help text before it.
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            assert!(declared.insert(name), "{line}");
        } else if !line.starts_with("# HELP ") {
            let name = line.split(['{', ' ']).next().unwrap();
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| {
                name.strip_suffix(suffix)
                    .filter(|own| declared.contains(own))
            });
            assert!(declared.contains(base.unwrap_or(name)), "{line}");
        }
    }
    let answer = ask("application/openmetrics-text; version=1.0.0").await;
    assert!(
        answer
            .header("content-type")
            .starts_with("application/openmetrics-text")
    );
    assert!(answer.body.ends_with(b"# EOF\n"));
}

#[tokio::test]
async fn tasks_are_public_and_complete() {
    let app = App::new();
    let list = app.get("/tasks").await.json();
    assert_eq!(
        list,
        json!({ "tasks": ["settings", "counted", "anything"] })
    );
    for id in ["settings", "counted", "anything"] {
        let shown = app.get(&format!("/tasks/{id}")).await;
        assert_eq!(shown.status, StatusCode::OK);
        let shown = shown.json();
        let task: hushbin::Task = serde_json::from_value(shown["task"].clone()).unwrap();
        assert_eq!(task, app.task(id));
        assert_eq!(shown["fingerprint"], task.fingerprint().to_string());
        let effective = shown["effective_epsilon"].as_f64().unwrap();
        assert!(effective <= task.epsilon() && effective > 0.9 * task.epsilon());
        assert_eq!(shown["protects"], "a person's whole input");
    }
}

#[tokio::test]
async fn estimates_are_those_of_what_was_accepted() {
    let app = App::new();
    let task = app.task("counted");
    let mut uploads = Uploads::new(&task, 9);
    let mut totals = Totals::new(&task);
    for size in [1, 20, 300] {
        let upload = uploads.make(size);
        upload
            .reports
            .iter()
            .for_each(|report| totals.add_report(report));
        app.post("counted", upload.encode(&task.fingerprint()))
            .await;
    }
    let options = EstimateOptions {
        item_names: Some(vec!["3".to_owned(), "0".to_owned()]),
        confidence: 0.999,
        ..EstimateOptions::default()
    };
    let question = EstimateQuery::new(&task, &options).unwrap();
    let expected = serde_json::to_value(estimates_for_query(&task, &totals, &question)).unwrap();
    let answer = app
        .get("/tasks/counted/estimates?items=3,0&confidence=0.999")
        .await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("vary"), "accept");
    assert_eq!(answer.json(), expected);
    assert_eq!(expected["estimates"][0]["item"], 3);
    assert_eq!(expected["reports"], 321);
    let all = app.get("/tasks/counted/estimates").await.json();
    assert_eq!(all["estimates"].as_array().unwrap().len(), 12);
}

#[tokio::test]
async fn an_open_task_is_estimated_for_the_items_asked() {
    let app = App::new();
    let bytes = Uploads::new(&app.task("anything"), 10).bytes(2000);
    assert_eq!(
        app.post("anything", bytes).await.status,
        StatusCode::CREATED
    );
    let path = "/tasks/anything/estimates";
    app.get(path).await.problem("bad-query", 400);
    let answer = app
        .get(&format!(
            "{path}?items=dark-mode,never+seen&confidence=0.999999"
        ))
        .await;
    let answer = answer.json();
    assert_eq!(answer["reports"], 2000);
    let names: Vec<_> = answer["estimates"].as_array().unwrap().iter().collect();
    for (item, name, truth) in [(names[0], "dark-mode", 1.0), (names[1], "never seen", 0.0)] {
        assert_eq!(item["item"], name);
        let [low, high] = [0, 1].map(|i| item["mean"]["interval"][i].as_f64().unwrap());
        assert!(low < truth && truth < high, "{item}");
    }
}

/// Reports of a batch are folded in several pieces, in parallel.
#[tokio::test]
async fn many_reports_of_an_open_task_are_folded_as_one_by_one() {
    let app = App::new();
    let task = app.task("anything");
    let options = EstimateOptions {
        item_names: Some(vec!["dark-mode".to_owned(), "never seen".to_owned()]),
        ..EstimateOptions::default()
    };
    let query = EstimateQuery::new(&task, &options).unwrap();
    let mut totals = Totals::for_items(&task, 0, query.items());
    let mut uploads = Uploads::new(&task, 12);
    for _ in 0..18 {
        let upload = uploads.make(4096);
        upload
            .reports
            .iter()
            .for_each(|report| totals.add_report(report));
        let bytes = upload.encode(&task.fingerprint());
        assert_eq!(
            app.post("anything", bytes).await.status,
            StatusCode::CREATED
        );
    }
    let expected = serde_json::to_value(estimates_for_query(&task, &totals, &query)).unwrap();
    let path = "/tasks/anything/estimates?items=dark-mode,never+seen";
    assert_eq!(app.get(path).await.json(), expected);
}

#[tokio::test]
async fn a_query_in_the_body_may_be_longer_than_an_address() {
    let app = App::new();
    let bytes = Uploads::new(&app.task("anything"), 10).bytes(100);
    app.post("anything", bytes).await;
    let path = "/tasks/anything/estimates";
    let ask = |query: String| app.send(Method::POST, path, &[], query);
    let short = "items=dark-mode,a%2Cb&confidence=0.9";
    let alike = app.get(&format!("{path}?{short}")).await;
    assert_eq!(ask(short.to_owned()).await.json(), alike.json());

    let names: Vec<String> = (0..12_000).map(|i| format!("setting number {i}")).collect();
    let answer = ask(format!("items={}", names.join(","))).await.json();
    let items = answer["estimates"].as_array().unwrap().iter();
    assert!(items.map(|item| &item["item"]).eq(&names));

    ask(String::new()).await.problem("bad-query", 400);
    ask("items=a&colour=red".to_owned())
        .await
        .problem("bad-query", 400);
    let no_text = app.send(Method::POST, path, &[], vec![0xFF]).await;
    no_text.problem("bad-query", 400);
    let long = "a".repeat(RequestLimits::DEFAULT.max_upload_bytes + 1);
    ask(long).await.problem("too-large", 413);
    let packed = [("content-encoding", "gzip")];
    let packed = app.send(Method::POST, path, &packed, short).await;
    packed.problem("encoded-body", 415);
}

#[tokio::test]
async fn items_that_take_too_long_to_count_are_refused_with_how_many_may_be_asked() {
    let App {
        store, directory, ..
    } = App::new();
    let limits = RequestLimits {
        max_hashes_per_response: 2000,
        ..DEVELOPMENT
    };
    let app = App {
        directory,
        ..App::over(store, limits)
    };
    let bytes = Uploads::new(&app.task("anything"), 10).bytes(100);
    app.post("anything", bytes).await;
    let ask = |items: usize| {
        let names: Vec<String> = (0..items).map(|i| i.to_string()).collect();
        let query = format!("items={}", names.join(","));
        let app = &app;
        async move {
            app.send(Method::POST, "/tasks/anything/estimates", &[], query)
                .await
        }
    };
    assert_eq!(ask(10).await.status, StatusCode::OK);
    let problem = ask(11).await.problem("too-many-items", 400);
    assert_eq!(
        (&problem["items"], &problem["max_items"]),
        (&json!(11), &json!(10))
    );
    // Listed items were all counted when the batch was closed.
    let bytes = Uploads::new(&app.task("counted"), 10).bytes(1001);
    app.post("counted", bytes).await;
    assert_eq!(
        app.get("/tasks/counted/estimates").await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_query_that_costs_more_than_its_share_is_refused_before_it_runs() {
    let App {
        store, directory, ..
    } = App::new();
    // With the default deadline, each of these responses may take half a millisecond.
    let limits = RequestLimits {
        max_concurrent_long_responses: 1 << 16,
        ..DEVELOPMENT
    };
    let app = App {
        directory,
        ..App::over(store, limits)
    };
    let bytes = Uploads::new(&app.task("counted"), 10).bytes(5);
    app.post("counted", bytes).await;
    let path = "/tasks/counted/estimates";
    assert_eq!(
        app.get(&format!("{path}?items=0,1,2")).await.status,
        StatusCode::OK
    );
    let many = (0..100).map(|item| item.to_string()).collect::<Vec<_>>();
    for query in [
        format!("items={}", many.join(",")),
        format!("items={}&post_processing=shrinkage", many[..50].join(",")),
        format!("items={}&false_discovery_rate=0.1", many[..50].join(",")),
    ] {
        let answer = app.get(&format!("{path}?{query}")).await;
        let problem = answer.problem("query-too-costly", 400);
        assert!(
            problem["seconds"].as_f64() > problem["max_seconds"].as_f64(),
            "{problem}"
        );
    }
}

#[tokio::test]
async fn a_repeated_query_sees_each_release() {
    let app = App::new();
    for (seed, reports) in [(1, 4), (2, 8)] {
        let bytes = Uploads::new(&app.task("settings"), seed).bytes(4);
        app.post("settings", bytes).await;
        for query in ["estimates", "estimates?items=a%2Cb", "influence", "privacy"] {
            let path = format!("/tasks/settings/{query}");
            let first = app.get(&path).await;
            let again = app.get(&path).await;
            assert_eq!(first.body, again.body, "{query}");
            assert_eq!(first.header("content-type"), again.header("content-type"));
            assert_eq!(first.json()["reports"], reports, "{query}");
        }
        let accept = [("accept", "text/csv")];
        let path = "/tasks/settings/estimates";
        let answer = app.send(Method::GET, path, &accept, Body::empty()).await;
        assert!(answer.header("content-type").starts_with("text/csv"));
        assert!(answer.body.starts_with(b"item,"));
    }
}

#[tokio::test]
async fn csv_for_those_who_ask_for_it() {
    let app = App::new();
    let bytes = Uploads::new(&app.task("settings"), 11).bytes(10);
    app.post("settings", bytes).await;
    let path = "/tasks/settings/estimates?items=a%2Cb";
    let accept = [("accept", "text/csv")];
    let answer = app.send(Method::GET, path, &accept, Body::empty()).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.header("content-type").starts_with("text/csv"));
    let mut reader = csv::Reader::from_reader(&answer.body[..]);
    assert_eq!(&reader.headers().unwrap()[0], "item");
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| &row[0] == "a,b"));
    // Errors stay in the format problem+json.
    let path = "/tasks/settings/estimates?items=nothing";
    let answer = app.send(Method::GET, path, &accept, Body::empty()).await;
    assert_eq!(answer.problem("unknown-item", 404)["item"], "nothing");
    let accept = [("accept", "text/csv;q=0.1, application/json")];
    let path = "/tasks/settings/estimates";
    let answer = app.send(Method::GET, path, &accept, Body::empty()).await;
    assert_eq!(answer.header("content-type"), "application/json");
}

/// Post-processed values are returned only on request, under separate names next to the raw ones.
#[tokio::test]
async fn post_processing_is_labelled_and_never_the_default() {
    let app = App::new();
    let bytes = Uploads::new(&app.task("settings"), 13).bytes(3000);
    app.post("settings", bytes).await;
    let path = "/tasks/settings/estimates";
    let raw = app.get(path).await.json();
    assert!(!raw.to_string().contains("post"), "{raw}");

    let asked = format!("{path}?post_processing=projection,conditional-mean");
    let mut answer = app.get(&asked).await.json();
    let statements = answer["post_processing"].as_object().unwrap();
    assert_eq!(
        statements.keys().collect::<Vec<_>>(),
        ["conditional_mean", "projected"]
    );
    assert!(statements.values().all(|text| text.is_string()));
    let items = answer["estimates"].as_array().unwrap().clone();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    // Every person has item 0 with the value 1.
    let processed = &items[0]["post_processed"];
    let conditional = &processed["conditional_mean"];
    let ratio = number(&items[0]["mean"]["estimate"]) / number(&items[0]["nonmissing"]["estimate"]);
    assert_eq!(number(&conditional["estimate"]), ratio);
    for interval in ["interval", "simultaneous_interval"] {
        let [low, high] = [0, 1].map(|i| number(&conditional[interval][i]));
        assert!(low < 1.0 && 1.0 < high, "{conditional}");
    }
    let mut sum = 0.0;
    for item in &items {
        let projected = &item["post_processed"]["projected"];
        let [plus, minus, mean] = ["plus", "minus", "mean"].map(|name| number(&projected[name]));
        assert!(plus >= 0.0 && minus >= 0.0);
        assert_eq!(mean, plus - minus);
        assert_eq!(projected.as_object().unwrap().len(), 3);
        sum += plus + minus;
    }
    assert!(sum <= 2.0 + 1e-12, "{sum}");
    // No person has any other item.
    let refused = "the non-missing frequency is not significantly above 0 at the stated confidence";
    assert!(
        items
            .iter()
            .any(|item| item["post_processed"]["conditional_mean"] == json!({ "refused": refused }))
    );

    // Without the added fields the responses are equal.
    answer.as_object_mut().unwrap().remove("post_processing");
    for item in answer["estimates"].as_array_mut().unwrap() {
        item.as_object_mut().unwrap().remove("post_processed");
    }
    assert_eq!(answer, raw);
    // One post-processing step alone.
    let answer = app
        .get(&format!("{path}?post_processing=projection"))
        .await
        .json();
    assert_eq!(answer["post_processing"].as_object().unwrap().len(), 1);
    let processed = &answer["estimates"][0]["post_processed"];
    assert_eq!(processed.as_object().unwrap().len(), 1);

    let accept = [("accept", "text/csv")];
    let answer = app.send(Method::GET, &asked, &accept, Body::empty()).await;
    let mut reader = csv::Reader::from_reader(&answer.body[..]);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let lines = [
        "mean",
        "plus",
        "minus",
        "nonmissing",
        "conditional-mean",
        "projected-mean",
        "projected-plus",
        "projected-minus",
    ];
    assert_eq!(rows.len(), 5 * lines.len());
    for (rows, item) in rows.chunks(lines.len()).zip(&items) {
        for (row, line) in rows.iter().zip(lines) {
            assert_eq!((&row[0], &row[1]), (item["item"].as_str().unwrap(), line));
            let filled = row.iter().skip(2).filter(|cell| !cell.is_empty()).count();
            let processed = &item["post_processed"];
            let expected = match line {
                "conditional-mean" if processed["conditional_mean"]["refused"].is_string() => 0,
                "projected-mean" | "projected-plus" | "projected-minus" => 1,
                _ => 6,
            };
            assert_eq!(filled, expected, "{row:?}");
        }
        let plus: f64 = rows[6][2].parse().unwrap();
        assert_eq!(plus, item["post_processed"]["projected"]["plus"]);
    }
}

#[tokio::test]
async fn post_processing_that_cannot_be_is_refused() {
    let means = r#"{ "id": "means", "items": 12, "sparsity": 3, "epsilon": 1.0, "value": "sign",
        "mechanism": "coco" }"#;
    let sums = r#"{ "id": "sums", "items": 12, "sparsity": 3, "epsilon": 1.0, "value": "real",
        "mechanism": { "name": "hash-bin", "level": "event" } }"#;
    let both = r#"{ "id": "both", "items": 12, "sparsity": 3, "epsilon": 1.0, "value": "sign",
        "mechanism": { "name": "coco", "rule": "overwrite" } }"#;
    let app = App::with(&[SETTINGS, OPEN, means, sums, both]);
    let ask = async |query: &str| app.get(&format!("/tasks/{query}")).await;
    let unknown = ask("settings/estimates?post_processing=median")
        .await
        .problem("unknown-post-processing", 400);
    assert_eq!(unknown["post_processing"], "median");
    assert_eq!(
        unknown["detail"],
        "no post-processing is called \"median\", expected conditional-mean, projection, \
         full-projection or shrinkage"
    );
    for (query, post, detail) in [
        (
            "settings/estimates?post_processing=projection&items=autoplay",
            "projection",
            "projection uses all items of a closed task: name no items",
        ),
        (
            "anything/estimates?post_processing=projection&items=autoplay",
            "projection",
            "projection uses all items of a closed task: name no items",
        ),
        (
            "means/estimates?post_processing=conditional-mean",
            "conditional-mean",
            "conditional-mean needs estimates of nonmissing, which the task's mechanism does not give",
        ),
        (
            "sums/estimates?post_processing=conditional-mean",
            "conditional-mean",
            "conditional-mean needs estimates of nonmissing, which the task's mechanism does not give",
        ),
        (
            "means/estimates?post_processing=projection",
            "projection",
            "projection needs estimates of plus, which the task's mechanism does not give",
        ),
    ] {
        let problem = ask(query).await.problem("impossible-post-processing", 400);
        assert_eq!(
            (&problem["post_processing"], &problem["detail"]),
            (&json!(post), &json!(detail))
        );
    }
    // Post-processing that these tasks support.
    for query in [
        "both/estimates?post_processing=conditional-mean",
        "both/estimates?post_processing=projection",
        "settings/estimates?post_processing=conditional-mean&items=autoplay",
        "anything/estimates?post_processing=conditional-mean&items=autoplay",
        "settings/estimates?post_processing=projection&items=captions,large+text,autoplay,a%2Cb,dark-mode",
    ] {
        let answer = ask(query).await;
        assert_eq!(answer.status, StatusCode::OK, "{query}");
        // There are no reports yet, so there is nothing to process.
        assert_eq!(answer.json()["estimates"], json!([]));
        assert_eq!(
            answer.json()["post_processing"].as_object().unwrap().len(),
            1
        );
    }
}

#[tokio::test]
async fn privacy_is_stated_alone_and_shuffled() {
    let app = App::new();
    let path = "/tasks/counted/privacy";
    let before = app.get(path).await.json();
    assert_eq!(before["reports"], 0);
    assert_eq!(before["local"]["epsilon"], 1.0);
    assert!(before.get("shuffled").is_none());

    let task = app.task("counted");
    let bytes = Uploads::new(&task, 12).bytes(3000);
    app.post("counted", bytes).await;
    let answer = app
        .get("/tasks/counted/privacy?delta=1e-6&honest_fraction=0.5")
        .await;
    assert_eq!(answer.status, StatusCode::OK);
    let answer = answer.json();
    let mixture = ReportMixture::for_task(&task).unwrap();
    let expected = compute_batch_privacy(&mixture, 3000, 0.5, 1e-6).unwrap();
    assert_eq!(answer["shuffled"], serde_json::to_value(expected).unwrap());
    assert_eq!(answer["shuffled"]["honest_reports"], 1500);
    assert!(expected.central_epsilon < 0.5);
    let said = answer["shuffled_statement"].as_str().unwrap();
    assert!(
        said.contains("Only this collector shuffled the reports") && said.contains("1500"),
        "{said}"
    );

    for query in [
        "delta=0",
        "delta=much",
        "honest_fraction=2",
        "honest_fraction=0",
        "delta=1e-6&delta=1e-6",
        "n=5",
    ] {
        let path = format!("/tasks/counted/privacy?{query}");
        app.get(&path).await.problem("bad-query", 400);
    }
    app.get("/tasks/nothing/privacy")
        .await
        .problem("unknown-task", 404);
}

/// A reader of one batch alone gains nothing from the other batches' people, so the smallest batch
/// counts. α is the mechanism's.
#[tokio::test]
async fn privacy_is_of_the_smallest_batch() {
    let binned = r#"{
        "id": "binned", "items": 12, "sparsity": 3, "epsilon": 1.0, "value": "real",
        "mechanism": { "name": "hash-bin", "level": "user" }
    }"#;
    let app = App::with(&[SETTINGS, binned]);
    for (id, seed) in [("settings", 21), ("binned", 22)] {
        let task = app.task(id);
        let mixture = ReportMixture::for_task(&task).unwrap();
        let mut uploads = Uploads::new(&task, seed);
        let (mut reports, mut smallest) = (0, u64::MAX);
        // Each batch is released when it is read.
        for more in [3000, 998, 2000, 1] {
            let bytes = uploads.bytes(more);
            for expected in [StatusCode::CREATED, StatusCode::OK] {
                assert_eq!(app.post(id, bytes.clone()).await.status, expected);
            }
            reports += more as u64;
            smallest = smallest.min(more as u64);
            for (query, delta, honest) in [
                ("", 1e-8, 1.0),
                ("?honest_fraction=0.9", 1e-8, 0.9),
                ("?delta=1e-3", 1e-3, 1.0),
            ] {
                let answer = app.get(&format!("/tasks/{id}/privacy{query}")).await;
                assert_eq!(answer.status, StatusCode::OK);
                let answer = answer.json();
                assert_eq!(answer["reports"], reports);
                assert_eq!(answer["smallest_batch"], smallest);
                let said = answer["shuffled_statement"].as_str().unwrap();
                if smallest as f64 * honest < 2.0 {
                    assert!(answer.get("shuffled").is_none());
                    assert!(said.starts_with("Fewer than two honest reports"), "{said}");
                } else {
                    let expected =
                        compute_batch_privacy(&mixture, smallest, honest, delta).unwrap();
                    assert_eq!(answer["shuffled"], serde_json::to_value(expected).unwrap());
                    let (before, _) = said.split_once(&format!(", {delta:e})")).unwrap();
                    let (_, stated) = before.rsplit_once('(').unwrap();
                    // Three digits, rounded up.
                    let over = stated.parse::<f64>().unwrap() / expected.central_epsilon - 1.0;
                    assert!((0.0..=0.01).contains(&over), "{said}");
                }
            }
        }
    }
    // The bound is for any randomizer of this ε, not for the one with buckets.
    let app = App::with(&[binned]);
    let bytes = Uploads::new(&app.task("binned"), 23).bytes(3000);
    app.post("binned", bytes).await;
    let generic = compute_batch_privacy(
        &ReportMixture::for_any_randomizer(1.0).unwrap(),
        3000,
        1.0,
        1e-8,
    )
    .unwrap();
    let answer = app.get("/tasks/binned/privacy").await.json();
    assert_eq!(answer["shuffled"], serde_json::to_value(generic).unwrap());
}

#[tokio::test]
async fn neighbours_are_not_hidden_by_shuffling() {
    for level in [
        r#""level": "event""#,
        r#""level": "neighbouring", "distance": 2"#,
    ] {
        let task = format!(
            r#"{{ "id": "binned", "items": 12, "sparsity": 3, "epsilon": 1.0, "value": "real",
                 "mechanism": {{ "name": "hash-bin", {level} }} }}"#
        );
        let app = App::with(&[&task]);
        let bytes = Uploads::new(&app.task("binned"), 23).bytes(100);
        assert_eq!(app.post("binned", bytes).await.status, StatusCode::CREATED);
        let answer = app
            .get("/tasks/binned/privacy?honest_fraction=0.5")
            .await
            .json();
        assert_eq!(answer["reports"], 100);
        assert_eq!(answer["local"]["epsilon"], 1.0);
        assert!(answer.get("shuffled").is_none());
        assert_eq!(
            answer["shuffled_statement"],
            AccountingError::NotAtUserLevel.to_string()
        );
        // The request must be valid even without a batch.
        app.get("/tasks/binned/privacy?delta=0")
            .await
            .problem("bad-query", 400);
    }
}

#[tokio::test]
async fn queries_without_meaning_are_refused() {
    let app = App::new();
    for query in [
        "items=",
        "items=autoplay,autoplay",
        "confidence=0",
        "confidence=1",
        "confidence=NaN",
        "confidence=much",
        "colour=red",
        "post_processing=projection,projection",
    ] {
        let path = format!("/tasks/settings/estimates?{query}");
        app.get(&path).await.problem("bad-query", 400);
    }
    let path = "/tasks/settings/estimates?items=autoplay,a,b";
    assert_eq!(
        app.get(path).await.problem("unknown-item", 404)["item"],
        "a"
    );
    app.get("/tasks/counted/estimates?items=12")
        .await
        .problem("unknown-item", 404);
    app.get("/tasks/counted/estimates?items=01")
        .await
        .problem("unknown-item", 404);
}

#[tokio::test]
async fn health() {
    let app = App::new();
    assert_eq!(app.get("/livez").await.status, StatusCode::OK);
    assert_eq!(app.get("/readyz").await.status, StatusCode::OK);
    app.store.close().await.unwrap();
    assert_eq!(app.get("/livez").await.status, StatusCode::OK);
    app.get("/readyz").await.problem("not-ready", 503);
    app.post("settings", Uploads::new(&app.task("settings"), 12).bytes(1))
        .await
        .problem("overloaded", 503);
}
