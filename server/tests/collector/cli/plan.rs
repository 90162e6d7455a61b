//! `hushbin plan`: what it prints is what the library says.

use std::fs;

use hushbin::TaskDraft;
use hushbin_analysis::plan::{Question, plan};
use hushbin_tests::process::hushbin;
use serde_json::{Value, json};

#[test]
fn the_command_says_what_the_library_does() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("task.json");
    let run = |arguments: &[&str]| hushbin(&[&["plan"], arguments].concat());
    let arguments = "--items 300 --entries 5,60,20,10 --value real --objective mean \
        --level user --central-epsilon 0.3 --delta 1e-9 --honest-fraction 0.9 --smallest 0.05 \
        --people-per-day 2500.5 --epsilon 3 --id ratings --json --out";
    let mut arguments: Vec<&str> = arguments.split_whitespace().collect();
    arguments.push(out.to_str().unwrap());
    let ran = run(&arguments);
    assert!(ran.status.success(), "{ran:?}");
    let question = json!({
        "items": 300, "entries": [5, 60, 20, 10], "value": "real", "objective": "mean",
        "level": "user", "central_epsilon": 0.3, "delta": 1e-9, "honest_fraction": 0.9,
        "smallest": 0.05, "people_per_day": 2500.5, "epsilon": 3, "id": "ratings",
    });
    let question: Question = serde_json::from_value(question).unwrap();
    let answer = plan(&question).unwrap();
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(printed, serde_json::to_value(&answer).unwrap());
    let written: TaskDraft = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    assert_eq!(written.resolve().unwrap(), answer.task);

    // In words: the verdict first, and what was found is marked.
    let words = run(&[
        "--items",
        "300",
        "--sparsity",
        "2",
        "--epsilon",
        "1",
        "--people",
        "100",
    ]);
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.starts_with("This is noise"), "{words}");
    assert!(words.contains("bias  <- found"), "{words}");
    assert!(words.contains("\nbound        takes "), "{words}");
    let names = directory.path().join("names");
    fs::write(&names, "dark-mode\nautoplay\n").unwrap();
    let named = [
        ["--names", names.to_str().unwrap()],
        ["--sparsity", "2"],
        ["--epsilon", "1"],
        ["--people", "1000"],
    ];
    let named = run(&[named.as_flattened(), &["--json"]].concat());
    let printed: Value = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!(printed["task"]["items"], json!(["dark-mode", "autoplay"]));

    for (arguments, text) in [
        ("--items 300 --sparsity 2 --epsilon 1", "say two of three"),
        ("--items many --sparsity 2", "expected a number of items"),
        (
            "--items 3 --sparsity 4 --epsilon 1 --people 9",
            "sparsity is 4, expected 1 to 3",
        ),
        ("--names nowhere --sparsity 4", "nowhere: No such file"),
    ] {
        let failed = run(&arguments.split_whitespace().collect::<Vec<_>>());
        assert!(!failed.status.success());
        let error = String::from_utf8(failed.stderr).unwrap();
        assert!(error.contains(text), "{error}");
    }
}
