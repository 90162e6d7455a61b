//! An attacker reads everything, as often as they like, between any two reports. Even knowing all
//! reports but one, they cannot learn that one.
//!
//! Two collectors receive the same uploads, except for one. After every upload, both receive every
//! request that is open to anyone but an admin. If all responses are equal byte for byte, no reader
//! can distinguish the two.

use std::time::Duration;

use hushbin::{Task, Upload};
use hushbin_server::http::RequestLimits;
use hushbin_server::store::{BatchSettings, Store, StoreOptions, TaskSettings, TaskSetup};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::Value;

use crate::support::{App, COUNTED, OPEN, SETTINGS};

/// Questions of several kinds; a report answers one of them.
const SURVEY: &str = r#"{
    "id": "survey", "epsilon": 3.0, "questions": [
        { "name": "theme", "kind": "choice", "options": ["light", "dark", "system"] },
        { "name": "beta", "kind": "flag" },
        { "name": "features", "kind": "set", "options": ["search", "export", "share"], "sparsity": 2 }
    ]
}"#;

const TEXT: &str = r#"{
    "id": "text", "epsilon": 4.0,
    "questions": [{ "name": "query", "kind": "text", "length": 4 }]
}"#;

const TASKS: [&str; 5] = [SETTINGS, COUNTED, OPEN, SURVEY, TEXT];

/// Reports per batch.
const MOST: usize = 7;

/// Number of uploads: two batches and a part of a third.
const SENT: usize = 2 * MOST + 3;

/// Query strings of estimates. All are tried for every task; an error response is a response, too.
const QUERIES: [&str; 12] = [
    "",
    "?batches=1",
    "?batches=2",
    "?batches=1-2",
    "?batches=3",
    "?items=dark-mode,autoplay&confidence=0.5",
    "?question=theme&post_processing=projection",
    "?question=beta",
    "?question=features&items=search&batches=2",
    "?quantiles=0.1,0.5&false_discovery_rate=0.2",
    "?question=query&alphabet=ab&confidence=0.5",
    "?delta=1e-9&honest_fraction=0.5",
];

/// Paths that anyone or an analyst may read, from the table of the interface.
fn paths() -> impl Iterator<Item = &'static str> {
    let table = include_str!("../../src/http/mod.rs").lines();
    table.filter_map(|line| {
        let (path, rest) = line.strip_prefix("//! | `GET ")?.split_once("` | ")?;
        assert!(rest.starts_with("anyone |") || rest.starts_with("analysts |"));
        Some(path)
    })
}

/// A collector of one task, whose batches close at [`MOST`] reports.
struct World {
    app: App,
    task: Task,
    _directory: tempfile::TempDir,
}

impl World {
    fn new(json: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let settings = TaskSettings {
            batch: BatchSettings {
                least: 3,
                most: MOST as u64,
                hours: 0,
                min_minutes: 0,
            },
            ..TaskSettings::default()
        };
        let collected = TaskSetup {
            draft: draft(json).into(),
            settings: Some(settings),
        };
        let store = Store::open(directory.path(), &[collected], StoreOptions::default()).unwrap();
        let task = store.tasks()[0].task().report_task().unwrap().clone();
        Self {
            app: App::over(store, RequestLimits::default()),
            task,
            _directory: directory,
        }
    }

    /// Sends an upload, and waits until the batch that it closed is released.
    async fn send(&self, upload: &Upload) {
        let id = self.task.id();
        let bytes = upload.encode(&self.task.fingerprint());
        let answer = self.app.post(id, bytes).await;
        assert_eq!(answer.status, 201);
        let batches = format!("/tasks/{id}/batches");
        loop {
            let list = self.app.get(&batches).await.json();
            let mut batches = list["batches"].as_array().unwrap().iter();
            let is_settled = |batch: &Value| match batch["state"].as_str().unwrap() {
                "open" => batch["reports"].as_u64().unwrap() < MOST as u64,
                state => state == "released",
            };
            if batches.all(is_settled) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Reads everything that is readable.
    async fn everything(&self) -> Vec<Answer> {
        let mut answers = Vec::new();
        for path in paths() {
            let path = path.replace("{id}", self.task.id());
            for query in QUERIES {
                for accept in ["application/json", "text/csv"] {
                    answers.push(self.ask(format!("{path}{query}"), accept).await);
                }
                if !path.starts_with("/tasks/") {
                    break;
                }
            }
        }
        answers
    }

    async fn ask(&self, path: String, accept: &str) -> Answer {
        let headers = [("accept", accept)];
        let method = axum::http::Method::GET;
        let body = axum::body::Body::empty();
        let answer = self.app.send(method, &path, &headers, body).await;
        Answer {
            path,
            status: answer.status.into(),
            text: String::from_utf8_lossy(&answer.body).into_owned(),
        }
    }
}

/// A response, and the path that was asked for.
#[derive(PartialEq)]
struct Answer {
    path: String,
    status: u16,
    text: String,
}

impl Answer {
    /// Whether the responses differ in more than their times.
    fn differs(&self, other: &Self) -> bool {
        // Most responses are equal with their times, and need not be parsed.
        self != other
            && (self.status != other.status || self.without_times() != other.without_times())
    }

    fn without_times(&self) -> String {
        match self.path.as_str() {
            "/metrics" => without_seconds(&self.text),
            // The hashes cover the times of entries.
            "/task-log" => without_fields(&self.text, &["time", "hash"]),
            // Times of opening and closing batches depend on the clock.
            _ => without_fields(&self.text, &["opened", "closed"]),
        }
    }
}

/// Removes durations from metrics and sorts them, as the order depends on a hash.
fn without_seconds(text: &str) -> String {
    let mut lines: Vec<_> = text
        .lines()
        .filter(|line| !line.contains("_seconds"))
        .collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// Removes the fields with these names from JSON, at any depth.
fn without_fields(text: &str, names: &[&str]) -> String {
    fn remove(value: &mut Value, names: &[&str]) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !names.contains(&name.as_str()));
                fields.values_mut().for_each(|own| remove(own, names));
            }
            Value::Array(values) => values.iter_mut().for_each(|own| remove(own, names)),
            _ => {}
        }
    }
    match serde_json::from_str::<Value>(text) {
        Ok(mut value) => {
            remove(&mut value, names);
            value.to_string()
        }
        Err(_) => text.to_owned(),
    }
}

/// Returns the number of responses that differ between two collectors, after each upload.
async fn differences(json: &str, one: &[Upload], other: &[Upload]) -> Vec<usize> {
    let worlds = [World::new(json), World::new(json)];
    let mut counts = Vec::new();
    for (one, other) in one.iter().zip(other) {
        worlds[0].send(one).await;
        worlds[1].send(other).await;
        let answers = worlds[0].everything().await.into_iter();
        let others = worlds[1].everything().await;
        let differ = answers.zip(others).filter(|(a, b)| a.differs(b));
        counts.push(differ.count());
    }
    counts
}

fn uploads(json: &str, seed: u64) -> Vec<Upload> {
    let task = World::new(json).task;
    let mut uploads = Uploads::new(&task, seed);
    (0..SENT).map(|_| uploads.make(1)).collect()
}

#[tokio::test]
async fn before_its_batch_is_released_no_answer_depends_on_a_report() {
    for json in TASKS {
        let one = uploads(json, 1);
        let mut told = 0;
        for target in [0, MOST - 1, MOST, SENT - 1] {
            let mut other = one.clone();
            other[target].reports = uploads(json, 2)[target].reports.clone();
            assert_ne!(one[target].reports, other[target].reports);
            let differing = differences(json, &one, &other).await;
            let released = (target / MOST + 1) * MOST - 1;
            let (before, after) = differing.split_at(released.min(SENT));
            assert!(before.iter().all(|differ| *differ == 0), "{json}: {target}");
            told += after.iter().sum::<usize>();
        }
        // The sum over a batch does depend on the report, so a difference would be seen.
        assert!(told > 0, "{json}");
    }
}

#[tokio::test]
async fn of_a_released_batch_no_answer_depends_on_who_sent_what() {
    for json in TASKS {
        let one = uploads(json, 3);
        let mut other = one.clone();
        // Each report comes from another person of its batch.
        for batch in other.chunks_mut(MOST) {
            let mut reports: Vec<_> = batch.iter().map(|own| own.reports.clone()).collect();
            reports.rotate_left(1);
            for (own, reports) in batch.iter_mut().zip(reports) {
                own.reports = reports;
            }
        }
        assert_ne!(one, other);
        assert_eq!(differences(json, &one, &other).await, [0; SENT], "{json}");
    }
}
