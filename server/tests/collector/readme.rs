//! The commands that the README shows for planning and accounting run.

use std::fs;

use hushbin_tests::process;

const README: &str = include_str!("../../../README.md");

#[test]
fn the_commands_shown_succeed() {
    let directory = tempfile::tempdir().unwrap();
    let task = r#"{ "id": "shown", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#;
    fs::write(directory.path().join("task.json"), task).unwrap();
    let mut run = 0;
    for line in README.lines() {
        if !(line.starts_with("hushbin plan ") || line.starts_with("hushbin account ")) {
            continue;
        }
        let words = line
            .split_whitespace()
            .take_while(|word| *word != "#")
            .skip(1);
        let output = process::command()
            .args(words)
            .current_dir(directory.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        run += 1;
    }
    assert!(run >= 7, "{run}");
}
