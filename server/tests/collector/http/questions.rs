//! Estimates of named questions.

use crate::support::App;
use axum::body::Body;
use axum::http::{Method, StatusCode};
use hushbin::{Entry, Randomizer, Upload, UploadId};
use hushbin_analysis::estimate::Estimator;
use hushbin_tests::uploads::Uploads;
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

/// People with equal answers: dark, 250 ms, 1.25.
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
        let [low, high] = [0, 1].map(|end| quantile["interval"][end].as_f64().unwrap());
        assert!(low <= 200.0 && 400.0 <= high, "{quantile}");
    }
    let zoom = app
        .get(&format!("{PATH}?question=zoom&confidence=0.9999"))
        .await
        .json();
    assert!(holds(&zoom["number"]["mean"], 1.25), "{zoom}");
    assert!(
        zoom["bias_statement"]
            .as_str()
            .unwrap()
            .contains("0.5 to 2.5"),
        "{zoom}"
    );
    assert!(zoom["number"].get("quantiles").is_none(), "{zoom}");
}

/// A number in many bins is estimated from a pattern, also for the task in use.
#[tokio::test]
async fn numbers_in_many_bins_are_answered_by_a_pattern() {
    const DELAYS: &str = r#"{
        "id": "delays", "epsilon": 2.0, "questions": [
            { "name": "delay", "kind": "number", "unit": "ms", "min": 0, "max": 640, "bins": 64,
              "want": "quantiles" }
        ]
    }"#;
    let app = App::with(&[DELAYS]);
    let task = app.task("delays");
    let in_use = app.get("/tasks/delays").await.json();
    assert_eq!(
        in_use["task"]["questions"][0]["mechanism"]["outputs"],
        serde_json::json!(80)
    );
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut randomizer = Randomizer::new(&task);
    let reports = (0..3000).map(|person| {
        let value = 100.0 + 200.0 * f64::from(person % 2);
        let entry = Entry { item: 0, value };
        randomizer.randomize(&[entry], &mut rng).unwrap().report
    });
    let upload = Upload {
        id: UploadId([7; 16]),
        reports: reports.collect(),
    };
    app.post("delays", upload.encode(&task.fingerprint())).await;
    let asked = "/tasks/delays/estimates?quantiles=0.25,0.75&confidence=0.9999";
    let answer = app.get(asked).await.json();
    assert_eq!(answer["reports"], 3000);
    assert_eq!(answer["estimates"].as_array().unwrap().len(), 64);
    for below in answer["number"]["distribution"].as_array().unwrap() {
        let edge = below["below"].as_f64().unwrap();
        let truth = f64::from(u8::from(edge > 100.0)) + f64::from(u8::from(edge > 300.0));
        assert!(holds(below, truth / 2.0), "{below}");
    }
    for (quantile, truth) in answer["number"]["quantiles"]
        .as_array()
        .unwrap()
        .iter()
        .zip([100.0, 300.0])
    {
        let [low, high] = [0, 1].map(|end| quantile["interval"][end].as_f64().unwrap());
        assert!(low <= truth && truth <= high, "{quantile}");
    }
    let csv = app
        .send(Method::GET, asked, &[("accept", "text/csv")], Body::empty())
        .await;
    let text = String::from_utf8(csv.body.to_vec()).unwrap();
    assert_eq!(text.lines().count(), 1 + 64 + 63 + 2, "{text}");
}

#[tokio::test]
async fn shares_sum_to_one_and_stand_out() {
    let app = asked_of(2000).await;
    let asked = format!(
        "{PATH}?question=theme&post_processing=projection,shrinkage&false_discovery_rate=0.01"
    );
    let answer = app.get(&asked).await.json();
    let items = answer["estimates"].as_array().unwrap();
    let share = |item: &Value| {
        item["post_processed"]["projected"]["share"]
            .as_f64()
            .unwrap()
    };
    let sum: f64 = items.iter().map(share).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{answer}");
    // Three options are too few for shrinkage.
    let refused = answer["shrinkage"]["refused"].as_str().unwrap();
    assert!(refused.contains("fewer than 20 items"), "{answer}");
    assert!(items[0]["post_processed"].get("shrunken").is_none());
    assert_eq!(answer["stand_out"]["items"], serde_json::json!(["dark"]));
    let accept = [("accept", "text/csv")];
    let csv = app.send(Method::GET, &asked, &accept, Body::empty()).await;
    let csv = String::from_utf8(csv.body).unwrap();
    for line in [
        "\ndark,projected-share,",
        ",shrinkage-refused,",
        "\ndark,stands-out,",
    ] {
        assert!(csv.contains(line), "{csv}");
    }
}

#[tokio::test]
async fn what_a_question_cannot_answer_is_refused() {
    let app = asked_of(1).await;
    for (query, detail) in [
        ("", "expected the name of one"),
        (
            "question=zoom&quantiles=0.5",
            "has no quantiles, expected a \"number\" with bins",
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
    let conditional = format!("{PATH}?question=theme&post_processing=conditional-mean");
    app.get(&conditional)
        .await
        .problem("impossible-post-processing", 400);
}

const CROSSED: &str = r#"{
    "id": "crossed", "epsilon": 5.0, "questions": [
        { "name": "loads", "kind": "cross", "of": [
            { "name": "plan", "kind": "choice", "options": ["free", "pro", "team"] },
            { "name": "load", "kind": "number", "min": 0, "max": 1000, "levels": 3, "unit": "ms" }
        ] },
        { "name": "themes", "kind": "cross", "of": [
            { "name": "beta", "kind": "flag" },
            { "name": "theme", "kind": "choice", "options": ["dark", "light"] }
        ] }
    ]
}"#;

/// One in four people has "pro" and 800 ms, is in the beta and takes "dark". The rest have "free"
/// and 300 ms, and take "light". No person has "team".
async fn crossed() -> App {
    let app = App::with(&[CROSSED]);
    let task = app.task("crossed");
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let mut randomizer = Randomizer::new(&task);
    let report = |person: usize| {
        let (item, load, theme) = match person % 4 {
            0 => (1, 800.0, 0.0),
            _ => (0, 300.0, 1.0),
        };
        let [load, theme] = [load, theme].map(|value| [Entry { item, value }]);
        let made = randomizer.randomize_answers(&[&load, &theme], &mut rng);
        made.unwrap().report
    };
    let upload = Upload {
        id: UploadId([8; 16]),
        reports: (0..4000).map(report).collect(),
    };
    let answer = app
        .post("crossed", upload.encode(&task.fingerprint()))
        .await;
    assert_eq!(answer.status, StatusCode::CREATED);
    app
}

#[tokio::test]
async fn crosses_are_answered_by_cells_margins_and_rows() {
    let app = crossed().await;
    let path = "/tasks/crossed/estimates?confidence=0.9999";
    let answer = app.get(&format!("{path}&question=loads")).await.json();
    // Levels are not answers of people, so they are returned only by name.
    assert_eq!(answer["estimates"], serde_json::json!([]));
    assert!(
        answer["cross"]["columns"].get("shares").is_none(),
        "{answer}"
    );
    let one = "items=plan%3A%20pro%2C%20load%3A%20500";
    let named = app.get(&format!("{path}&question=loads&{one}")).await;
    let named = named.json();
    let cell = serde_json::json!({ "plan": "pro", "load": 500.0 });
    assert_eq!(named["estimates"][0]["item"], cell);
    // 800 ms are two fifths of the way from 1000 to 500.
    assert!(
        holds(&named["estimates"][0]["share"], 0.25 * 0.4),
        "{named}"
    );
    let cross = &answer["cross"];
    assert_eq!(cross["columns"]["unit"], "ms");
    assert_eq!(cross["rows"]["name"], "plan");
    let rows = cross["rows"]["shares"].as_array().unwrap();
    for (row, (name, truth)) in rows
        .iter()
        .zip([("free", 0.75), ("pro", 0.25), ("team", 0.0)])
    {
        assert_eq!(row["item"], name);
        assert!(holds(&row["share"], truth), "{row}");
    }
    let means = cross["conditional_means"].as_array().unwrap();
    for (own, truth) in means.iter().zip([300.0, 800.0]) {
        assert!(holds(own, truth) && own["whole_range"] == false, "{own}");
        let [low, high] = [0, 1].map(|end| own["interval"][end].as_f64().unwrap());
        assert!(high - low < 300.0, "{own}");
    }
    // This row has no people.
    assert_eq!(means[2]["row"], "team");
    assert_eq!(means[2]["estimate"], Value::Null);
    assert_eq!(means[2]["whole_range"], true);
    assert_eq!(means[2]["interval"], serde_json::json!([0.0, 1000.0]));
    assert!(cross.get("conditional_shares").is_none(), "{cross}");
    assert!(
        answer["bias_statement"]
            .as_str()
            .unwrap()
            .contains("0 to 1000 ms")
    );

    let answer = app.get(&format!("{path}&question=themes")).await.json();
    let shares = answer["cross"]["conditional_shares"].as_array().unwrap();
    let truths = [
        ("no", "dark", 0.0),
        ("no", "light", 1.0),
        ("yes", "dark", 1.0),
    ];
    for (own, (row, column, truth)) in shares.iter().zip(truths) {
        assert_eq!((&own["row"], &own["column"]), (&row.into(), &column.into()));
        assert!(holds(own, truth), "{own}");
    }
    let one = "items=beta%3A%20yes%2C%20theme%3A%20dark";
    let answer = app
        .get(&format!("{path}&question=themes&{one}"))
        .await
        .json();
    assert_eq!(
        answer["estimates"].as_array().map(Vec::len),
        Some(1),
        "{answer}"
    );
}

const TOGETHER: &str = r#"{
    "id": "together", "epsilon": 4.0, "questions": [
        { "name": "settings", "kind": "together", "of": [
            { "name": "beta", "kind": "flag" },
            { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] }
        ] }
    ]
}"#;

/// One in four people is in the beta, and half of all people, those included, take "light".
#[tokio::test]
async fn what_is_asked_together_is_answered_by_part() {
    let app = App::with(&[TOGETHER]);
    let task = app.task("together");
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let mut randomizer = Randomizer::new(&task);
    let report = |person: usize| {
        let (beta, theme) = (
            f64::from(u8::from(person.is_multiple_of(4))),
            person.is_multiple_of(2).into(),
        );
        let answer = [beta, theme].into_iter().zip(0..);
        let answer: Vec<Entry> = answer.map(|(value, item)| Entry { item, value }).collect();
        randomizer.randomize(&answer, &mut rng).unwrap().report
    };
    let upload = Upload {
        id: UploadId([8; 16]),
        reports: (0..4000).map(report).collect(),
    };
    let sent = upload.encode(&task.fingerprint());
    assert_eq!(app.post("together", sent).await.status, StatusCode::CREATED);

    let path = "/tasks/together/estimates?confidence=0.9999";
    let answer = app.get(path).await.json();
    let estimates = answer["estimates"].as_array().unwrap();
    let truths = [
        ("beta", "no", 0.75),
        ("beta", "yes", 0.25),
        ("theme", "dark", 0.5),
        ("theme", "light", 0.5),
        ("theme", "system", 0.0),
    ];
    assert_eq!(estimates.len(), truths.len());
    for (own, (part, option, truth)) in estimates.iter().zip(truths) {
        assert_eq!(own["item"], serde_json::json!({ part: option }));
        assert!(holds(&own["share"], truth), "{own}");
        let [low, high] = [0, 1].map(|end| own["share"]["interval"][end].as_f64().unwrap());
        assert!(high - low < 0.2, "{own}");
    }
    let one = "&items=theme%3A%20light&post_processing=shrinkage";
    let one = app.get(&format!("{path}{one}")).await.json();
    assert_eq!(
        one["estimates"][0]["share"]["estimate"],
        estimates[3]["share"]["estimate"]
    );
    let listed = app
        .get(&format!("{path}&false_discovery_rate=0.01"))
        .await
        .json();
    let stand_out = listed["stand_out"]["items"].as_array().unwrap();
    assert!(
        !stand_out.contains(&serde_json::json!({ "theme": "system" })),
        "{listed}"
    );
    assert_eq!(stand_out.len(), 4, "{listed}");
    let accept = [("accept", "text/csv")];
    let csv = app.send(Method::GET, path, &accept, Body::empty()).await;
    let csv = String::from_utf8(csv.body).unwrap();
    for line in ["\nbeta: yes,share,", "\ntheme: system,share,"] {
        assert!(csv.contains(line), "{csv}");
    }
}

#[tokio::test]
async fn crosses_are_answered_as_csv() {
    let app = crossed().await;
    let accept = [("accept", "text/csv")];
    for (question, lines) in [
        (
            "loads",
            &[
                "\nplan: pro,share,",
                "\nplan: pro,conditional-mean,",
                "\nplan: team,conditional-mean,,,0.0,1000.0,0.0,1000.0",
            ][..],
        ),
        (
            "themes",
            &[
                "\n\"beta: yes, theme: dark\",share,",
                "\nbeta: yes,share,",
                "\ntheme: light,share,",
                "\n\"beta: no, theme: dark\",conditional-share,",
                "\n\"beta: yes, theme: light\",conditional-share,",
            ],
        ),
    ] {
        let path = format!("/tasks/crossed/estimates?question={question}");
        let csv = app.send(Method::GET, &path, &accept, Body::empty()).await;
        let csv = String::from_utf8(csv.body).unwrap();
        for line in lines {
            assert!(csv.contains(line), "{line:?} is not in {csv}");
        }
        assert!(!csv.contains("load: "), "{csv}");
    }
}

#[tokio::test]
async fn influence_is_told_and_forgery_flagged() {
    let app = App::new();
    let path = "/tasks/settings/influence";
    let task = app.task("settings");
    let mut uploads = Uploads::new(&task, 5);
    for _ in 0..4 {
        app.post("settings", uploads.bytes(500)).await;
    }
    let honest = app.get(path).await.json();
    assert_eq!(honest["reports"], 2000);
    assert_eq!(honest["made_up_fraction"], 0.01);
    let estimator = Estimator::for_task(task.clone());
    let influence = serde_json::to_value(estimator.forged_report_influence()).unwrap();
    assert_eq!(honest["influence"], influence);
    let means = &influence[0];
    assert_eq!(means["estimand"], "mean");
    // The influence exceeds the share 0.01, because each report counts for more than its value.
    assert!(means["up"].as_f64().unwrap() > 0.02, "{means}");
    let flagged = |answer: &Value| -> Vec<String> {
        let tests = answer["crowd"].as_array().unwrap().iter();
        let tests = tests.filter(|test| test["flagged"] == true);
        tests
            .map(|test| test["test"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(flagged(&honest), [""; 0], "{honest}");
    // The same report is sent under different ids.
    let mut forged = uploads.make(1);
    for number in 0..200_u128 {
        forged.id = UploadId(number.to_le_bytes());
        app.post("settings", forged.encode(&task.fingerprint()))
            .await;
    }
    let found = app.get(path).await.json();
    assert_eq!(flagged(&found), ["seeds", "places", "limits"], "{found}");
    app.get("/tasks/settings/influence?batches=99")
        .await
        .problem("unknown-batch", 404);
    app.get("/tasks/settings/influence?question=a")
        .await
        .problem("bad-query", 400);
}
