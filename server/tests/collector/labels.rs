//! Tasks with labels: one file, one task for each label, and uploads under any of them.

use std::fs;
use std::time::Duration;

use hushbin::{Task, TaskDraft};
use hushbin_tests::process::{Client, Collector, command, create_journal, hushbin};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::{Value, json};

const LABELLED: &str = r#"{
    "labels": ["control", "2.0_beta"], "id": "settings",
    "items": ["dark-mode", "autoplay", "captions"], "sparsity": 2, "epsilon": 2.0, "value": "sign"
}"#;

/// Returns the task of one label.
fn task_of(label: &str) -> Task {
    let mut text: Value = serde_json::from_str(LABELLED).unwrap();
    text.as_object_mut().unwrap().remove("labels");
    text["id"] = json!(format!("settings:{label}"));
    serde_json::from_value::<TaskDraft>(text)
        .unwrap()
        .resolve_task()
        .unwrap()
}

fn json_of(client: &mut Client, path: &str) -> Value {
    let (status, body) = client.get(path).unwrap();
    assert_eq!(status, 200, "{path}");
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn each_label_has_its_own_estimates_and_pages_may_change_theirs() {
    let directory = tempfile::tempdir().unwrap();
    let (data, file) = (
        directory.path().join("data"),
        directory.path().join("settings.json"),
    );
    fs::write(&file, LABELLED).unwrap();
    let mut collector = Collector::spawn(&data, &[&file], &[]);
    let mut client = Client::connect(collector.address()).unwrap();
    let [control, beta] = ["control", "2.0_beta"].map(task_of);
    for task in [&control, &beta] {
        let shown = json_of(&mut client, &format!("/tasks/{}", task.id()));
        assert_eq!(shown["fingerprint"], task.fingerprint().to_string());
        assert_eq!(shown["task"]["id"], task.id());
    }
    assert_ne!(control.fingerprint(), beta.fingerprint());

    // The fingerprint in the upload decides, under the name, and must agree with a label.
    let mut uploads = [&control, &beta].map(|task| Uploads::new(task, 1));
    for (path, label, reports, status) in [
        ("settings", 0, 3, 201),
        ("settings", 1, 5, 201),
        ("settings:control", 0, 4, 201),
        ("settings:control", 1, 1, 409),
        ("settings:2.0", 1, 1, 404),
        ("setting", 1, 1, 404),
    ] {
        let bytes = uploads[label].bytes(reports);
        let (found, body) = client.post(path, &bytes).unwrap();
        assert_eq!(
            found,
            status,
            "{path} {label}: {}",
            String::from_utf8_lossy(&body)
        );
        if status == 201 {
            // It counts once, whichever path it is sent to.
            assert_eq!(client.post("settings", &bytes).unwrap().0, 200);
        }
    }
    let unlabelled = draft(LABELLED_WITHOUT).resolve_task().unwrap();
    let bytes = Uploads::new(&unlabelled, 1).bytes(1);
    assert_eq!(client.post("settings", &bytes).unwrap().0, 409);
    for (label, reports) in [("control", 7), ("2.0_beta", 5)] {
        let estimates = json_of(&mut client, &format!("/tasks/settings:{label}/estimates"));
        assert_eq!(estimates["reports"], reports);
    }
    assert_eq!(client.get("/tasks/settings/estimates").unwrap().0, 404);
    let log = json_of(&mut client, "/task-log");
    let listed = log["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["task"]);
    assert!(listed.eq([&json!("settings:control"), &json!("settings:2.0_beta")]));
}

const LABELLED_WITHOUT: &str = r#"{
    "id": "settings",
    "items": ["dark-mode", "autoplay", "captions"], "sparsity": 2, "epsilon": 2.0, "value": "sign"
}"#;

/// A task without labels, of which some reports still wait in browsers, gets labels.
#[test]
fn a_task_may_get_labels_and_more_labels() {
    let directory = tempfile::tempdir().unwrap();
    let (data, file) = (
        directory.path().join("data"),
        directory.path().join("settings.json"),
    );
    create_journal(&data);
    let serve = |text: &str| {
        fs::write(&file, text).unwrap();
        let mut program = command();
        program.args(["serve", "--listen", "127.0.0.1:0", "--log", "error"]);
        program.arg("--data").arg(&data).arg("--task").arg(&file);
        Collector::start(program)
    };
    let old = draft(LABELLED_WITHOUT).resolve_task().unwrap();
    let mut uploads = Uploads::new(&old, 1);
    let mut more: Value = serde_json::from_str(LABELLED).unwrap();
    more["labels"].as_array_mut().unwrap().push(json!("C"));
    for (text, label) in [
        (LABELLED_WITHOUT.to_owned(), None),
        (LABELLED.to_owned(), Some("control")),
        (more.to_string(), Some("C")),
    ] {
        let mut collector = serve(&text);
        let mut client = Client::connect(collector.address()).unwrap();
        let sent = client.post("settings", &uploads.bytes(2)).unwrap();
        assert_eq!(sent.0, 201, "{label:?}");
        if let Some(label) = label {
            let bytes = Uploads::new(&task_of(label), 1).bytes(1);
            assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
        }
        collector.stop(Duration::from_secs(300));
    }
}

#[test]
fn labels_that_cannot_be_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("settings.json");
    for (labels, expected) in [
        (json!([]), "number of labels is 0, expected 1 to 64"),
        (json!(["a", "a"]), "two labels are \"a\""),
        (json!(["a b"]), "task id \"settings:a b\" is not a slug"),
        (json!([""]), "task id \"settings:\" is not a slug"),
        (json!(["-a"]), "task id \"settings:-a\" is not a slug"),
        (json!(["a:b"]), "task id \"settings:a:b\" is not a slug"),
        (json!(["a".repeat(33)]), "is not a slug"),
        (
            json!("a"),
            "invalid type: string \"a\", expected a sequence",
        ),
    ] {
        let mut text: Value = serde_json::from_str(LABELLED).unwrap();
        text["labels"] = labels;
        fs::write(&file, text.to_string()).unwrap();
        for command in [&["task", "check"][..], &["task", "types"]] {
            let words = [command, &[file.to_str().unwrap()]].concat();
            let output = hushbin(&words);
            let error = String::from_utf8(output.stderr).unwrap();
            assert!(
                !output.status.success() && error.contains(expected),
                "{error}"
            );
        }
    }
}

/// A page pins the analyser's key for each label, because the pin covers the task.
#[test]
fn keys_are_pinned_for_each_label() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let made = hushbin(&["key", "create", "--for", "sealing", &path("key.pem")]);
    fs::write(path("key.pub"), made.stdout).unwrap();
    let pins = |text: &str| {
        fs::write(path("task.json"), text).unwrap();
        let output = hushbin(&["key", "pin", "--task", &path("task.json"), &path("key.pub")]);
        String::from_utf8(output.stdout).unwrap()
    };
    let each =
        ["control", "2.0_beta"].map(|label| pins(&serde_json::to_string(&task_of(label)).unwrap()));
    assert_eq!(pins(LABELLED), each.concat());
}

/// Commands that read one task name the labels, and those that read all use each.
#[test]
fn commands_know_labels() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let file = path("settings.json");
    fs::write(&file, LABELLED).unwrap();
    let run = |words: &[&str]| {
        let output = hushbin(words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    };
    let complete = path("complete.json");
    let shown = run(&["task", "check", &file, "--out", &complete]);
    let report: Value = serde_json::from_str(&run(&["task", "check", &file, "--json"])).unwrap();
    assert!(report.get("fingerprint").is_none());
    let module = run(&["task", "types", &complete]);
    for (index, label) in ["control", "2.0_beta"].into_iter().enumerate() {
        let fingerprint = task_of(label).fingerprint().to_string();
        assert!(shown.contains(&format!("{label} {fingerprint}")), "{shown}");
        assert_eq!(
            report["labels"][index],
            json!({ "label": label, "fingerprint": fingerprint })
        );
        assert!(
            module.contains(&format!("//   {label} {fingerprint}")),
            "{module}"
        );
    }
    assert!(
        module.contains("labels: [\"control\", \"2.0_beta\"]"),
        "{module}"
    );
    assert_eq!(module, run(&["task", "types", &file]));

    let questions = r#"{ "$schema": "task.json", "id": "beta", "labels": ["a", "b"],
        "questions": [{ "name": "beta", "kind": "flag" }] }"#;
    let (asked, planned) = (path("beta.json"), path("planned.json"));
    fs::write(&asked, questions).unwrap();
    run(&[
        "plan",
        "--task",
        &asked,
        "--people",
        "10000",
        "--epsilon",
        "1",
        "--out",
        &planned,
    ]);
    let planned: Value = serde_json::from_slice(&fs::read(planned).unwrap()).unwrap();
    assert_eq!(planned["labels"], json!(["a", "b"]));
}

/// A list of tasks is lost, and the file with the labels finds the reports of each again.
#[test]
fn lost_tasks_of_all_labels_are_found_again() {
    let directory = tempfile::tempdir().unwrap();
    let (data, file) = (
        directory.path().join("data"),
        directory.path().join("settings.json"),
    );
    fs::write(&file, LABELLED).unwrap();
    let mut collector = Collector::spawn(&data, &[&file], &[]);
    let mut client = Client::connect(collector.address()).unwrap();
    for (label, reports) in [("control", 3), ("2.0_beta", 5)] {
        let bytes = Uploads::new(&task_of(label), 1).bytes(reports);
        assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    }
    collector.stop(Duration::from_secs(300));
    fs::remove_file(data.join("tasks.json")).unwrap();
    let salvaged = directory.path().join("salvaged");
    let mut program = command();
    program
        .args(["journal", "salvage", "--data"])
        .arg(&data)
        .arg(&salvaged);
    let output = program.arg("--lost-task").arg(&file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("files of 2 tasks are intact"), "{text}");

    let mut collector = Collector::spawn(&salvaged, &[&file], &[]);
    let mut client = Client::connect(collector.address()).unwrap();
    for (label, reports) in [("control", 3), ("2.0_beta", 5)] {
        let estimates = json_of(&mut client, &format!("/tasks/settings:{label}/estimates"));
        assert_eq!(estimates["reports"], reports);
    }
    collector.stop(Duration::from_secs(300));

    // Estimates from files are those of one task.
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let words = [
        "journal",
        "export",
        "--task",
        "settings:control",
        "--format",
        "csv",
    ];
    let mut program = command();
    program
        .args(words)
        .arg("--data")
        .arg(&salvaged)
        .args(["--out", &path("reports.csv")]);
    assert!(program.output().unwrap().status.success());
    let reports = path("reports.csv");
    let estimate = ["estimate", &reports, "--format", "csv"];
    let with_task = [&estimate[..], &["--task", file.to_str().unwrap()]].concat();
    let error = String::from_utf8(hushbin(&with_task).stderr).unwrap();
    let expected = "such as a response of GET /tasks/settings:control";
    assert!(error.contains(expected), "{error}");
    assert!(hushbin(&estimate).status.success());
}
