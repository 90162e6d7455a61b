//! Estimates of named questions, as they are asked for.

use crate::support::App;
use axum::body::Body;
use axum::http::{Method, StatusCode};
use hushbin::{Entry, Randomizer, Upload, UploadId};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::Value;

const VISITS: &str = r#"{
    "id": "visits", "epsilon": 4.0, "questions": [
        { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
        { "name": "load", "kind": "number", "unit": "ms", "edges": [0, 100, 200, 400, 800] },
        { "name": "zoom", "kind": "number", "min": 0.5, "max": 2.5 }
    ]
}"#;

/// People who answer alike: dark, 250 ms, 1.25.
async fn asked_of(people: usize) -> App {
    let app = App::with(&[VISITS]);
    let task = app.task("visits");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut randomizer = Randomizer::new(&task);
    let [dark, load, zoom] = [1.0, 250.0, 1.25].map(|value| [Entry { item: 0, value }]);
    let answers: [&[Entry]; 3] = [&dark, &load, &zoom];
    let report = |_| {
        randomizer
            .randomize_answers(&answers, &mut rng)
            .unwrap()
            .report
    };
    let upload = Upload {
        id: UploadId([7; 16]),
        reports: (0..people).map(report).collect(),
    };
    let answer = app.post("visits", upload.encode(&task.fingerprint())).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    app
}

const PATH: &str = "/tasks/visits/estimates";

fn holds(of: &Value, truth: f64) -> bool {
    let [low, high] = [0, 1].map(|end| of["interval"][end].as_f64().unwrap());
    (low..=high).contains(&truth)
}

#[tokio::test]
async fn numbers_are_answered_in_their_unit() {
    let app = asked_of(2000).await;
    let asked = format!("{PATH}?question=load&quantiles=0.5,0.9&confidence=0.9999");
    let answer = app.get(&asked).await.json();
    let number = &answer["number"];
    assert_eq!(number["unit"], "ms");
    let below = number["distribution"].as_array().unwrap();
    let edges: Vec<f64> = below
        .iter()
        .map(|below| below["below"].as_f64().unwrap())
        .collect();
    assert_eq!(edges, [100.0, 200.0, 400.0]);
    for (below, truth) in below.iter().zip([0.0, 0.0, 1.0]) {
        assert!(holds(below, truth), "{below}");
    }
    let quantiles = number["quantiles"].as_array().unwrap();
    assert_eq!(quantiles.len(), 2);
    // Somewhere in the third bin.
    for quantile in quantiles {
        let [low, high] = [0, 1].map(|end| quantile["edges"][end].as_f64().unwrap());
        assert!(low <= 200.0 && 400.0 <= high, "{quantile}");
    }
    let zoom = app
        .get(&format!("{PATH}?question=zoom&confidence=0.9999"))
        .await
        .json();
    assert!(holds(&zoom["number"]["mean"], 1.25), "{zoom}");
    assert!(
        zoom["bias"].as_str().unwrap().contains("0.5 to 2.5"),
        "{zoom}"
    );
    assert!(zoom["number"].get("quantiles").is_none(), "{zoom}");
}

#[tokio::test]
async fn shares_sum_to_one_and_stand_out() {
    let app = asked_of(2000).await;
    let asked =
        format!("{PATH}?question=theme&post=projection,shrinkage&false_discovery_rate=0.01");
    let answer = app.get(&asked).await.json();
    let items = answer["estimates"].as_array().unwrap();
    let share = |item: &Value| {
        item["post_processed"]["projected"]["share"]
            .as_f64()
            .unwrap()
    };
    let sum: f64 = items.iter().map(share).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{answer}");
    assert!(
        items[0]["post_processed"]["shrunken"]["estimate"]
            .as_f64()
            .unwrap()
            > 0.8
    );
    assert!(answer["shrinkage"]["shrunken_error"].is_f64());
    assert_eq!(answer["stand_out"]["items"], serde_json::json!(["dark"]));
    let accept = [("accept", "text/csv")];
    let csv = app.send(Method::GET, &asked, &accept, Body::empty()).await;
    let csv = String::from_utf8(csv.body).unwrap();
    for line in [
        "\ndark,projected-share,",
        "\ndark,shrunken,",
        "\ndark,stands-out,",
    ] {
        assert!(csv.contains(line), "{csv}");
    }
}

#[tokio::test]
async fn what_a_question_cannot_answer_is_refused() {
    let app = asked_of(1).await;
    for (query, detail) in [
        ("", "name one"),
        (
            "question=zoom&quantiles=0.5",
            "quantiles are of a \"number\" with bins",
        ),
        ("question=load&quantiles=1.5", "between 0 and 1"),
        ("question=load&quantiles=half", "expected a number"),
        (
            "question=theme&false_discovery_rate=0.9",
            "false discovery rate",
        ),
    ] {
        let problem = app
            .get(&format!("{PATH}?{query}"))
            .await
            .problem("bad-query", 400);
        assert!(
            problem["detail"].as_str().unwrap().contains(detail),
            "{problem}"
        );
    }
    let conditional = format!("{PATH}?question=theme&post=conditional-mean");
    app.get(&conditional)
        .await
        .problem("impossible-post-processing", 400);
}
