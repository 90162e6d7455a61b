//! Tests of `hushbin audit`.

use std::fs;

use hushbin_tests::process::hushbin;
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
