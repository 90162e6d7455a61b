//! Tests of `hushbin audit`.

use std::fs;

use hushbin_tests::process::{Client, Collector, command, create_journal, hushbin};
use serde_json::Value;

#[test]
fn command_prints_what_was_found() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let text = r#"{ "id": "t", "items": 8, "sparsity": 2, "epsilon": 1.5, "value": "real" }"#;
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let common = ["audit", "--task", file, "--trials", "4000", "--seed", "1"];

    let output = hushbin(&[&common[..], &["--json"]].concat());
    assert!(output.status.success());
    assert_eq!(
        hushbin(&[&common[..], &["--json"]].concat()).stdout,
        output.stdout
    );
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["requested_epsilon"], 1.5);
    assert_eq!(found["trials"], 4000);
    assert_eq!(found["confidence"], 0.999);
    assert_eq!(found["enumerated_inputs"], 1 + 16 + 112);
    assert_eq!(found["verdict"], "within-budget");
    let number = |key: &str| found[key].as_f64().unwrap();
    assert!(number("effective_epsilon") <= 1.5);
    assert!(number("exact_epsilon") <= number("effective_epsilon"));
    assert!(number("exact_epsilon") > 1.499);
    assert!((0.5..=1.5).contains(&number("empirical_lower_bound")));

    let output = hushbin(&common);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("No loss above ε = 1.5 was found."), "{text}");
}

#[test]
fn command_refuses_what_it_cannot_do() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let text = r#"{ "id": "t", "items": "open", "sparsity": 2, "epsilon": 8, "value": "sign" }"#;
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let cases = [
        (["--trials", "0"], "trials is 0, expected"),
        (["--trials", "20000"], "fewer cannot detect"),
        (["--confidence", "1"], "confidence is 1, expected 0.5 to"),
    ];
    for (arguments, message) in cases {
        let output = hushbin(&[&["audit", "--task", file][..], &arguments].concat());
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(message), "{text}");
        assert!(output.stdout.is_empty());
    }
}

/// Starts a collector with a signing key, and returns its log in bytes.
fn served_task_log(data: &std::path::Path, key: &str, tasks: &[&str]) -> Vec<u8> {
    let mut program = command();
    program.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--log",
        "error",
        "--data",
    ]);
    program.arg(data).args(["--signing-key", key]);
    for task in tasks {
        program.args(["--task", task]);
    }
    let mut collector = Collector::start(program);
    let address = collector.address();
    let (status, log) = Client::connect(address).unwrap().get("/task-log").unwrap();
    assert_eq!(status, 200);
    log
}

#[test]
fn forks_and_changes_of_a_task_log_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let task = |id: &str, items: u32| {
        let file = path(&format!("{id}-{items}.json"));
        let text = format!(
            r#"{{ "id": "{id}", "items": {items}, "sparsity": 2, "epsilon": 1.5, "value": "sign" }}"#
        );
        fs::write(&file, text).unwrap();
        file
    };
    let [first, second, other] = [task("a", 8), task("b", 8), task("b", 9)];
    let key = path("key.pem");
    assert!(
        hushbin(&["key", "create", "--for", "signing", &key])
            .status
            .success()
    );
    let serve = |data: &str, tasks: &[&str]| {
        let data = directory.path().join(data);
        create_journal(&data);
        served_task_log(&data, &key, tasks)
    };
    let old = serve("one", &[&first]);
    // The list survives a restart, and grows.
    let new = serve("one", &[&first, &second]);
    let shown: Value = serde_json::from_slice(&new).unwrap();
    assert_eq!(shown["entries"].as_array().unwrap().len(), 2);
    let fork = serve("three", &[&first, &other]);
    let mut changed = shown.clone();
    changed["entries"][1]["fingerprint"] = "0".repeat(32).into();
    let mut dropped = shown.clone();
    dropped["entries"].as_array_mut().unwrap().remove(0);
    let mut reordered = shown.clone();
    reordered["entries"].as_array_mut().unwrap().swap(0, 1);
    let mut unsigned = shown.clone();
    unsigned["signature"]["signature"] = "0".repeat(128).into();
    for (name, bytes) in [
        ("old", old),
        ("new", new),
        ("fork", fork),
        ("changed", changed.to_string().into_bytes()),
        ("dropped", dropped.to_string().into_bytes()),
        ("reordered", reordered.to_string().into_bytes()),
        ("unsigned", unsigned.to_string().into_bytes()),
    ] {
        fs::write(path(name), bytes).unwrap();
    }
    let compare = |one: &str, two: &str| {
        let output = hushbin(&["audit", "--task-logs", &path(one), &path(two)]);
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    };
    for (one, two, success, expected) in [
        ("new", "new", true, "The logs are equal, with 2 entries."),
        ("old", "new", true, "by 1 entries"),
        ("new", "old", true, "is older"),
        ("new", "fork", false, "differ from entry "),
        (
            "new",
            "changed",
            false,
            "entry 2 of the task log has a wrong hash",
        ),
        ("new", "dropped", false, "has the number 2, expected 1"),
        ("new", "reordered", false, "has the number 2, expected 1"),
        (
            "new",
            "unsigned",
            false,
            "the signature of the head, entry 2, is wrong",
        ),
    ] {
        let (found, text) = compare(one, two);
        assert!(
            found == success && text.contains(expected),
            "{one} {two}: {text}"
        );
    }
}
