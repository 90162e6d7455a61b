//! Frequent texts, requested over HTTP and by the command.

use std::fs;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use hushbin::task::QuestionKind;
use hushbin::{Entry, Randomizer, Task, Upload, UploadId};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

use crate::support::App;
use hushbin_tests::process::{answer, hushbin};

const QUERIES: &str = r#"{
    "id": "queries", "epsilon": 5.0, "questions": [
        { "name": "signed-in", "kind": "flag", "weight": 1 },
        { "name": "query", "kind": "text", "prefixes": [1, 3, 3], "weight": 8 },
        { "name": "long", "kind": "text", "prefixes": [5], "weight": 1 }
    ]
}"#;

/// Texts of ten people; "aaa" is not among them.
const CROWD: [(&str, usize); 4] = [("ab", 3), ("cabbage", 4), ("c", 2), ("née", 1)];

fn entries(task: &Task, question: usize, text: &str) -> Vec<Entry> {
    let QuestionKind::Text(prefixes) = task.questions()[question].kind() else {
        unreachable!()
    };
    let keys = prefixes.prefix_hashes(text).into_iter();
    keys.map(|item| Entry { item, value: 1.0 }).collect()
}

/// A collector with the reports of 8000 people.
async fn asked() -> App {
    let app = App::with(&[QUERIES]);
    let task = app.task("queries");
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let mut randomizer = Randomizer::new(&task);
    let yes = [Entry {
        item: 1,
        value: 1.0,
    }];
    for part in 0..4 {
        let mut reports = Vec::new();
        for (text, tenths) in CROWD {
            let [query, long] = [1, 2].map(|question| entries(&task, question, text));
            for _ in 0..200 * tenths {
                let answers: [&[Entry]; 3] = [&yes, &query, &long];
                reports.push(
                    randomizer
                        .randomize_answers(&answers, &mut rng)
                        .unwrap()
                        .report,
                );
            }
        }
        let upload = Upload {
            id: UploadId([part; 16]),
            reports,
        };
        let answer = app
            .post("queries", upload.encode(&task.fingerprint()))
            .await;
        assert_eq!(answer.status, StatusCode::CREATED);
    }
    app
}

const PATH: &str = "/tasks/queries/heavy-hitters?question=query";

#[tokio::test]
async fn texts_are_found_with_intervals() {
    let app = asked().await;
    let answer = app
        .get(&format!("{PATH}&alphabet=abc&confidence=0.999"))
        .await;
    let found = answer.json();
    assert_eq!(
        (&found["question"], &found["confidence"]),
        (&json!("query"), &json!(0.999))
    );
    let reports = found["reports"].as_u64().unwrap();
    assert!((6100..6700).contains(&reports), "{reports}");
    let texts = found["texts"].as_array().unwrap();
    let mut names: Vec<&str> = texts
        .iter()
        .map(|text| text["text"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["ab", "c", "cab"]);
    for text in texts {
        let name = text["text"].as_str().unwrap();
        assert_eq!(text["is_prefix"], name == "cab");
        let truth = match name {
            "ab" => 0.3,
            "c" => 0.2,
            _ => 0.4,
        };
        let [low, high] = [0, 1].map(|end| text["simultaneous_interval"][end].as_f64().unwrap());
        assert!(low <= truth && truth <= high, "{text}");
    }
    // There are 1 + 2·3 candidates at first, then 3 + 2·9 per continued prefix.
    assert_eq!(found["steps"][0]["candidates"], 7);
    assert_eq!(found["dead_ends"], json!([]));

    let csv = [("accept", "text/csv")];
    let path = format!("{PATH}&alphabet=abc");
    let answer = app.send(Method::GET, &path, &csv, Body::empty()).await;
    let body = String::from_utf8(answer.body.clone()).unwrap();
    let lines: Vec<&str> = body.lines().collect();
    assert_eq!(lines.len(), 4, "{body}");
    assert!(lines[0].starts_with("text,is_prefix,dead_end,sample_size,estimate,standard_error,"));
    assert!(lines[1].starts_with("cab,true,false,"), "{body}");
}

/// The command estimates from exported reports, with the same bytes as the collector.
#[tokio::test]
async fn the_command_finds_the_same() {
    let app = asked().await;
    let served = app.get(&format!("{PATH}&alphabet=abc")).await;
    let directory = app.directory.as_ref().unwrap().path();
    let data = directory.to_str().unwrap();
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("reports.csv");
    let file = file.to_str().unwrap();
    let export = ["journal", "export", "--data", data, "--format", "csv"];
    let error = |options: &[&str]| String::from_utf8(hushbin(options).stderr).unwrap();
    let unknown = error(&[&export[..], &["--task", "other"]].concat());
    assert!(
        unknown.contains("no task \"other\"; its tasks: \"queries\""),
        "{unknown}"
    );
    let exported = hushbin(&[&export[..], &["--task", "queries", "--out", file]].concat());
    assert!(exported.status.success(), "{exported:?}");

    let estimate = ["estimate", file, "--format", "json"];
    let query = [&estimate[..], &["--question", "query"]].concat();
    let found = hushbin(&[&query[..], &["--alphabet", "abc"]].concat());
    assert_eq!(
        String::from_utf8(found.stdout).unwrap(),
        String::from_utf8(served.body).unwrap()
    );
    assert!(error(&estimate).contains("has several questions"));
    let items = error(&[&query[..], &["--items", "ab"]].concat());
    assert!(items.contains("--items is not for"), "{items}");

    let folded = hushbin(&["estimate", file, "--format", "totals"]);
    let line = out.path().join("line");
    fs::write(&line, folded.stdout).unwrap();
    let described = format!("{file}.task.json");
    let line = ["estimate", line.to_str().unwrap(), "--task", &described];
    let asked = ["--format", "json", "--question", "query"];
    let totals = error(&[&line[..], &asked].concat());
    assert!(totals.contains("estimate from reports"), "{totals}");

    let empty = tempfile::tempdir().unwrap();
    let nowhere = [
        "journal", "export", "--task", "t", "--format", "csv", "--data",
    ];
    let nowhere = error(&[&nowhere[..], &[empty.path().to_str().unwrap()]].concat());
    assert!(nowhere.contains("journal"), "{nowhere}");
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn what_cannot_be_searched_is_a_problem() {
    let app = asked().await;
    let path = "/tasks/queries/heavy-hitters";
    for (query, expected) in [
        ("", "several questions"),
        ("?question=signed-in", "does not ask for a text"),
        ("?question=other", "no question"),
        ("?question=query&question=long", "twice"),
        ("?question=query&alphabet=", "alphabet"),
        ("?question=query&alphabet=aba", "alphabet"),
        ("?question=query&confidence=1", "confidence"),
        ("?question=query&confidence=much", "a number"),
        ("?question=query&items=a", "unknown parameter"),
    ] {
        let problem = app
            .get(&format!("{path}{query}"))
            .await
            .problem("bad-query", 400);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(expected), "{query}: {detail}");
    }
    let problem = app
        .get(&format!("{path}?question=long"))
        .await
        .problem("search-too-long", 400);
    assert!(problem["detail"].as_str().unwrap().contains("candidates"));
    app.get("/tasks/none/heavy-hitters")
        .await
        .problem("unknown-task", 404);
    let listed = app.get("/tasks/queries/estimates?question=query").await;
    let detail = listed.problem("bad-query", 400)["detail"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(detail.contains("heavy hitters"), "{detail}");
}

/// A simulation states the share that is found, and finds it.
#[test]
fn simulations_search() {
    let directory = tempfile::tempdir().unwrap();
    let [task, data] = ["task.json", "data.csv"].map(|name| directory.path().join(name));
    fs::write(&task, QUERIES.replace("[5]", "[2]")).unwrap();
    let mut lines = String::from("query,signed-in,long\n");
    for person in 0..6000 {
        let (text, _) = CROWD[[0, 0, 0, 1, 1, 1, 1, 2, 2, 3][person % 10]];
        lines += &format!("{text},true,{text}\n");
    }
    fs::write(&data, lines).unwrap();
    let [task, data] = [task, data].map(|path| path.to_str().unwrap().to_owned());
    let common = [
        "simulate",
        "--task",
        &task,
        "--answers",
        &data,
        "--seed",
        "1",
        "--alphabet",
        "abcnée",
    ];
    let found = answer(&[&common[..], &["--runs", "3", "--json"]].concat());
    assert_eq!(found["questions"].as_array().unwrap().len(), 1);
    let of = |index: usize, name: &str| found["texts"][index][name].as_f64().unwrap();
    let stated = of(0, "stated_share");
    assert!((0.02..0.1).contains(&stated), "{stated}");
    assert_eq!(
        (of(0, "above"), of(0, "above_found"), of(0, "invented")),
        (4.0, 4.0, 0.0)
    );
    assert_eq!(of(0, "all_covered"), 1.0);
    let texts = found["texts"][0]["texts"].as_array().unwrap();
    let truth = |text: &Value| text["truth"].as_f64().unwrap();
    assert_eq!(
        texts.iter().map(truth).collect::<Vec<_>>(),
        [0.4, 0.3, 0.2, 0.1]
    );
    let words = hushbin(&[&common[..], &["--verbose"]].concat()).stdout;
    let words = String::from_utf8(words).unwrap();
    assert!(words.contains("\n\"cab\" and longer"), "{words}");
}
