//! Names that a spreadsheet would run as formulas, or that would change how other text is shown.

use std::fs;

use hushbin_tests::process::{Client, Collector, command, create_journal, hushbin};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::Value;

/// Question names: `=1+1`, `'quoted` and `right` with right-to-left override.
const HOSTILE: &str = r#"{
    "id": "hostile", "epsilon": 4.0, "questions": [
        { "name": "=1+1", "kind": "choice",
          "options": ["@SUM(A1)", "-2+3", "-5", "\u202egpj.exe", "'plain"] },
        { "name": "'quoted", "kind": "flag" },
        { "name": "right\u202e\u2066", "kind": "flag" }
    ]
}"#;

/// Returns the text that a cell stands for.
fn undone(cell: &str) -> &str {
    cell.strip_prefix('\'').unwrap_or(cell)
}

/// Rows of a CSV file after its header.
fn rows(bytes: &[u8]) -> Vec<csv::StringRecord> {
    let mut reader = csv::Reader::from_reader(bytes);
    reader.records().map(Result::unwrap).collect()
}

#[test]
fn names_in_csv_are_no_formulas_and_can_be_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let (data, task) = (
        directory.path().join("data"),
        directory.path().join("hostile.json"),
    );
    fs::write(&task, HOSTILE).unwrap();
    let mut collector = Collector::spawn(&data, &[&task], &[]);
    let mut client = Client::connect(collector.address()).unwrap();
    let made = draft(HOSTILE).resolve_task().unwrap();
    let upload = Uploads::new(&made, 1).make(200);
    let sent = client.post("hostile", &upload.encode(&made.fingerprint()));
    assert_eq!(sent.unwrap().0, 201);
    let mut csv = |question: &str| {
        let head = format!(
            "GET /tasks/hostile/estimates?question={question} HTTP/1.1\r\n\
             host: test\r\naccept: text/csv\r\n\r\n"
        );
        client.write(head.as_bytes()).unwrap();
        let (status, body) = client.read().unwrap();
        assert_eq!(status, 200);
        body
    };
    let served = csv("%3D1%2B1");
    let cells: Vec<_> = rows(&served).iter().map(|row| row[0].to_owned()).collect();
    let options = ["'@SUM(A1)", "'-2+3", "-5", "\u{202e}gpj.exe", "''plain"];
    assert_eq!(cells, options);
    let names = cells.iter().map(|cell| undone(cell));
    let expected = ["@SUM(A1)", "-2+3", "-5", "\u{202e}gpj.exe", "'plain"];
    assert!(names.eq(expected));
    collector.stop(std::time::Duration::from_secs(300));

    let export = |format: &str| {
        let file = directory.path().join(format!("reports.{format}"));
        let words = ["journal", "export", "--task", "hostile", "--format", format];
        let mut command = command();
        command.args(words).arg("--data").arg(&data);
        let exported = command.arg("--out").arg(&file).output().unwrap();
        let said = String::from_utf8_lossy(&exported.stderr);
        assert!(exported.status.success(), "{said}");
        file
    };
    for format in ["csv", "json"] {
        let file = export(format);
        let file = file.to_str().unwrap();
        for (question, expected) in [("=1+1", Some(&served)), ("'quoted", None)] {
            let words = ["estimate", file, "--question", question, "--format", "csv"];
            let said = hushbin(&words);
            let error = String::from_utf8_lossy(&said.stderr);
            assert!(said.status.success(), "{format}: {error}");
            assert!(expected.is_none_or(|served| *served == said.stdout));
        }
    }
    let exported = rows(&fs::read(directory.path().join("reports.csv")).unwrap());
    let questions = ["'=1+1", "''quoted", "right\u{202e}\u{2066}"];
    assert_eq!(exported.len(), 200);
    for row in &exported {
        assert!(questions.contains(&&row[1]), "{row:?}");
    }
}

#[test]
fn text_on_terminals_shows_controls_of_names() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hostile.json");
    fs::write(&file, HOSTILE).unwrap();
    let file = file.to_str().unwrap();
    let data = directory.path().join("data.jsonl");
    let answers = r#"{ "=1+1": "\u202egpj.exe", "'quoted": true, "right\u202e\u2066": true }"#;
    fs::write(&data, format!("{answers}\n").repeat(300)).unwrap();
    let data = data.to_str().unwrap();
    for words in [
        &["task", "check", file][..],
        &["task", "check", "--verbose", file],
        &["simulate", "--task", file, "--answers", data, "--seed", "1"],
        &["simulate", "--task", file, "--answers", data, "--verbose"],
    ] {
        let said = hushbin(words);
        let error = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{words:?}: {error}");
        let text = String::from_utf8(said.stdout).unwrap();
        assert!(!text.contains(['\u{202e}', '\u{2066}']), "{text}");
        assert!(text.contains("rightU+202EU+2066"), "{text}");
    }
    // A module for programs has escapes of TypeScript, which stand for the same names.
    let module = String::from_utf8(hushbin(&["task", "types", file]).stdout).unwrap();
    assert!(module.contains(r#"name: "right\u202e\u2066""#), "{module}");
    // In JSON the names are as they are.
    let said = hushbin(&["task", "check", "--json", file]);
    let json: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(
        json["task"]["questions"][2]["name"],
        "right\u{202e}\u{2066}"
    );
    // Errors name files.
    let said = hushbin(&["task", "check", "no\u{202e}where\u{1b}[2J.json"]);
    let error = String::from_utf8(said.stderr).unwrap();
    assert!(error.contains("noU+202EwhereU+001B[2J.json"), "{error}");
}

#[test]
fn lists_of_tokens_show_controls_of_names() {
    let directory = tempfile::tempdir().unwrap();
    create_journal(directory.path());
    let data = directory.path().to_str().unwrap();
    let created = hushbin(&[
        "token",
        "create",
        "--data",
        data,
        "--role",
        "analyst",
        "--name",
        "a\u{202e}\u{1b}b",
    ]);
    assert!(created.status.success());
    for words in [
        &["token", "list", "--data", data][..],
        &["token", "revoke", "--data", data, "a\u{202e}\u{1b}b"],
    ] {
        let text = String::from_utf8(hushbin(words).stdout).unwrap();
        assert!(text.contains("aU+202EU+001Bb"), "{text}");
    }
}
