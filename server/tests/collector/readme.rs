//! The commands that the README shows for planning, for accounting and for a first release run.

use std::fs;
use std::path::Path;
use std::process::Command;

use hushbin_analysis::sums;
use hushbin_tests::process::{self, Client, Collector};
use hushbin_tests::uploads::{Uploads, draft};

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

#[test]
fn the_task_of_sums_that_is_shown_is_one() {
    let (_, rest) = README
        .split_once("\n### Sums through a shuffler\n")
        .unwrap();
    let json = rest.split("```json\n").nth(1).unwrap();
    let shown = serde_json::from_str(json.split("```").next().unwrap()).unwrap();
    assert!(sums::resolve(&shown).is_ok());
}

/// The lines of commands in a section.
fn commands(section: &str) -> Vec<&'static str> {
    let (_, rest) = README.split_once(&format!("\n### {section}\n")).unwrap();
    let own = rest.split("\n### ").next().unwrap();
    let blocks = own.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("\n```").next().unwrap().lines());
    lines.collect()
}

/// A command for a shell that finds `hushbin`.
fn shell(line: &str, directory: &Path) -> Command {
    let program = process::command().get_program().to_owned();
    let found = Path::new(&program).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(directory);
    shell.env("PATH", format!("{}:{path}", found.display()));
    shell
}

#[cfg(unix)]
#[test]
fn the_first_release_comes_as_shown() {
    let directory = tempfile::tempdir().unwrap();
    let json = README.split("```json\n").nth(1).unwrap();
    let json = json.split("```").next().unwrap();
    fs::write(directory.path().join("settings.json"), json).unwrap();
    let [create, serve, close] = commands("The first release")[..] else {
        panic!("there are three commands");
    };
    let created = shell(create, directory.path()).status().unwrap();
    assert!(created.success());
    let serve = serve.replace(":8080", ":0");
    let mut collector = Collector::start(shell(&format!("exec {serve}"), directory.path()));
    let mut client = Client::connect(collector.address()).unwrap();

    let task = draft(json).resolve().unwrap();
    let upload = Uploads::new(&task, 1).bytes(1);
    assert_eq!(client.post("settings", &upload).unwrap().0, 201);

    let asked = close
        .strip_prefix(
            "curl -X POST -H \"Authorization: Bearer $(cat token)\" http://127.0.0.1:8080",
        )
        .unwrap();
    let token = fs::read_to_string(directory.path().join("token")).unwrap();
    let mut ask = |method: &str, path: &str| {
        let token = token.trim_end();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: collector\r\nauthorization: Bearer {token}\r\n\
             content-length: 0\r\n\r\n"
        );
        client.write(head.as_bytes()).unwrap();
        client.read().unwrap()
    };
    assert_eq!(ask("POST", asked).0, 202);
    let body = loop {
        match ask("GET", "/tasks/settings/estimates") {
            (200, body) => break body,
            (409, _) => std::thread::sleep(std::time::Duration::from_millis(10)),
            other => panic!("{other:?}"),
        }
    };
    let estimates: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(estimates["reports"], 1);
}
