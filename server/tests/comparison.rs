//! Shuffle accounting beside the bounds that were published before, and the
//! pictures of both.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn hushbin(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hushbin"));
    command.arg("account").args(arguments).output().unwrap()
}

fn answer(arguments: &[&str]) -> Value {
    let output = hushbin(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_task_says_how_large_its_local_epsilon_may_be() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let task = json!({
        "id": "t", "items": 40, "sparsity": 4, "epsilon": 1.0, "value": "real",
        "mechanism": {
            "name": "collision", "rule": "occupied", "hashing": "independent", "buckets": 17,
        },
    });
    fs::write(&file, task.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let batch = ["--n", "1000000", "--delta", "1e-8", "--for-central", "0.01"];
    let of_task = answer(&[&["--task", file], &batch[..]].concat());
    // The same buckets, whatever ε is.
    let named = "--mechanism collision --rule occupied --s 4 --t 17";
    let named: Vec<&str> = named.split(' ').collect();
    let named = answer(&[&named[..], &batch].concat());
    assert_eq!(of_task["epsilon"], named["epsilon"]);
    assert!(of_task["epsilon_central"].as_f64().unwrap() <= 0.01);
    assert!(of_task["epsilon"].as_f64().unwrap() > 1.5);
    let output = hushbin(&["--task", file, "--epsilon", "2", "--n", "10", "--delta", "0.1"]);
    assert!(!output.status.success(), "a task has its own ε");
}
