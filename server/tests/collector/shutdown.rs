//! Start and stop of the real binary.
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::SETTINGS;
use hushbin_tests::process::{self, Client, Collector, head};
use hushbin_tests::uploads::{Uploads, draft};

/// Timeout of every wait.
const NEVER: Duration = Duration::from_secs(300);

fn task_file(directory: &Path, json: &str) -> PathBuf {
    let path = directory.join("task.json");
    fs::write(&path, json).unwrap();
    path
}

/// Starts a collector that must refuse to start, and returns its message.
fn refusal(arguments: &[&str]) -> String {
    let output = process::command()
        .args(["serve", "--listen", "127.0.0.1:0", "--log", "error"])
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "it must not say that it is ready");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn sigterm_finishes_what_is_under_way() {
    let directory = tempfile::tempdir().unwrap();
    let task = task_file(directory.path(), SETTINGS);
    let data = directory.path().join("data");
    let mut uploads = Uploads::new(&draft(SETTINGS).resolve_task().unwrap(), 1);
    let mut collector = Collector::spawn(&data, &[&task], &[]);
    let address = collector.address();

    let mut idle = Client::connect(address).unwrap();
    assert_eq!(idle.post("settings", &uploads.bytes(2)).unwrap().0, 201);
    let late = uploads.bytes(3);
    let (before, after) = late.split_at(20);
    let mut slow = Client::connect(address).unwrap();
    slow.write(&head("settings", late.len())).unwrap();
    slow.write(before).unwrap();
    // Connections are accepted in order, so an answer on a later one shows that the head above was
    // read.
    let mut probe = Client::connect(address).unwrap();
    assert_eq!(probe.get("/readyz").unwrap().0, 200);

    collector.terminate();
    // New connections are refused as soon as the listener is closed.
    let begin = Instant::now();
    while TcpStream::connect(address).is_ok() {
        assert!(begin.elapsed() < NEVER, "still accepting");
        std::thread::sleep(Duration::from_millis(5));
    }
    // The unfinished upload is still accepted and acknowledged.
    slow.write(after).unwrap();
    assert_eq!(slow.read().unwrap().0, 201);
    assert_eq!(collector.wait(NEVER).code(), Some(0));
    // The next run needs no task file, and has counted both uploads.
    let mut collector = Collector::spawn(&data, &[], &[]);
    let mut client = Client::connect(collector.address()).unwrap();
    assert_eq!(client.post("settings", &late).unwrap().0, 200);
    let (status, body) = client.get("/tasks/settings/estimates").unwrap();
    assert_eq!(status, 200);
    let estimates: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(estimates["reports"], 5);
    collector.stop(NEVER);
}

#[test]
fn a_request_that_never_ends_does_not_keep_the_collector() {
    let directory = tempfile::tempdir().unwrap();
    let task = task_file(directory.path(), SETTINGS);
    let data = directory.path().join("data");
    let mut collector = Collector::spawn(&data, &[&task], &["--drain-timeout", "1"]);
    let address = collector.address();
    let mut stuck = Client::connect(address).unwrap();
    stuck.write(&head("settings", 100)).unwrap();
    let mut halfway = Client::connect(address).unwrap();
    halfway.write(b"GET /livez HT").unwrap();
    let mut probe = Client::connect(address).unwrap();
    assert_eq!(probe.get("/livez").unwrap().0, 200);
    collector.stop(NEVER);
    // These connections are cut off, without a timeout response.
    assert!(stuck.read().is_err());
    assert!(halfway.read().is_err());
}

#[test]
fn a_second_process_is_kept_out() {
    let directory = tempfile::tempdir().unwrap();
    let task = task_file(directory.path(), SETTINGS);
    let data = directory.path().join("data");
    let mut collector = Collector::spawn(&data, &[&task], &[]);
    collector.address();
    let said = refusal(&["--data", data.to_str().unwrap()]);
    assert!(said.contains("in use by another hushbin process"), "{said}");
    collector.kill();
    let mut next = Collector::spawn(&data, &[], &[]);
    next.address();
}

#[test]
fn start_up_errors_name_what_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let task = task_file(directory.path(), SETTINGS);
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    process::create_journal(Path::new(data));
    assert!(refusal(&["--data", data]).contains("no task"));

    let mut collector = Collector::spawn(Path::new(data), &[&task], &[]);
    collector.address();
    collector.stop(NEVER);
    let changed = task_file(directory.path(), &SETTINGS.replace("2.0", "1.5"));
    let changed = changed.to_str().unwrap();
    let said = refusal(&["--data", data, "--task", changed]);
    assert!(
        said.contains("can never change once it is stored"),
        "{said}"
    );
    assert!(said.contains("epsilon is 1.5, expected 2"), "{said}");

    let invalid = task_file(
        directory.path(),
        &SETTINGS.replace("\"sparsity\": 2", "\"sparsity\": 9"),
    );
    let fresh = directory.path().join("fresh");
    process::create_journal(&fresh);
    let said = refusal(&[
        "--data",
        fresh.to_str().unwrap(),
        "--task",
        invalid.to_str().unwrap(),
    ]);
    assert!(said.contains("sparsity is 9, expected 1 to 5"), "{said}");

    let broken = task_file(directory.path(), "{ \"id\": 3 }");
    let said = refusal(&["--data", data, "--task", broken.to_str().unwrap()]);
    assert!(
        said.contains("task.json") && said.contains("line 1"),
        "{said}"
    );
    let said = refusal(&["--data", data, "--max-connections", "0"]);
    assert!(
        said.contains("--max-connections is 0, expected 1 to"),
        "{said}"
    );
}
