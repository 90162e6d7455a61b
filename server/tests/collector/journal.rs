//! `hushbin journal`: damage is named, and a copy is as good as the original.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use hushbin_tests::process::{self, Client, Collector};
use hushbin_tests::uploads::{Uploads, draft};
use tempfile::TempDir;

use crate::support::SETTINGS;

fn journal(words: &[&str], data: &Path) -> Output {
    let mut command = process::command();
    command.arg("journal").args(words).arg("--data").arg(data);
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(all).unwrap()
}

/// Files with this extension below a directory.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A collector of the task "settings", with its data below the directory.
fn collecting() -> (TempDir, Collector) {
    let directory = tempfile::tempdir().unwrap();
    let (task, data) = (
        directory.path().join("t.json"),
        directory.path().join("data"),
    );
    fs::write(&task, SETTINGS).unwrap();
    let collector = Collector::spawn(&data, &[&task], &[]);
    (directory, collector)
}

#[test]
fn a_journal_begins_only_when_asked_and_only_once() {
    let directory = tempfile::tempdir().unwrap();
    let task = directory.path().join("t.json");
    fs::write(&task, SETTINGS).unwrap();
    let [volume, deep] = ["volume", "volume/a/b"].map(|name| directory.path().join(name));
    let created = journal(&["create"], &deep);
    let parent = deep.parent().unwrap().display().to_string();
    assert!(!created.status.success() && said(&created).contains(&parent));
    // An empty directory may be the mount point of a volume.
    for there in [false, true] {
        if there {
            fs::create_dir(&volume).unwrap();
        }
        for more in [&[][..], &["--check-config"], &["--read-only"]] {
            let mut serve = process::command();
            serve
                .args(["serve", "--listen", "127.0.0.1:0", "--task"])
                .arg(&task)
                .args(more)
                .arg("--data")
                .arg(&volume);
            let refused = serve.output().unwrap();
            assert!(!refused.status.success(), "{more:?}");
            let path = volume.display();
            let expected = format!(
                "hushbin: no journal in {path}: if a volume should be mounted there, mount it; to \
                 begin a new journal, run hushbin journal create --data {path}\n"
            );
            assert!(said(&refused).ends_with(&expected), "{}", said(&refused));
        }
        assert_eq!(volume.exists(), there);
        assert!(!there || fs::read_dir(&volume).unwrap().next().is_none());
    }
    assert!(journal(&["create"], &volume).status.success());
    let again = journal(&["create"], &volume);
    assert!(!again.status.success() && said(&again).contains("already holds a journal"));
    assert!(journal(&["check"], &volume).status.success());
    // If the list of tasks is lost, a new journal would hide the reports.
    fs::create_dir_all(volume.join("tasks/00000001")).unwrap();
    fs::remove_file(volume.join("tasks.json")).unwrap();
    let again = journal(&["create"], &volume);
    assert!(!again.status.success() && said(&again).contains("already holds a journal"));
    let checked = said(&journal(&["check"], &volume));
    assert!(checked.contains("tasks.json: it is missing"), "{checked}");
}

#[test]
fn a_running_collector_is_checked_and_copied() {
    let (directory, mut collector) = collecting();
    let data = directory.path().join("data");
    let mut client = Client::connect(collector.address()).unwrap();
    let mut uploads = Uploads::new(&draft(SETTINGS).resolve_task().unwrap(), 1);
    let estimates = "/tasks/settings/estimates";
    for reports in [5, 7, 3] {
        client.post("settings", &uploads.bytes(reports)).unwrap();
        // Reading releases the reports, as the collector runs with `--development`.
        client.get(estimates).unwrap();
    }
    let last = uploads.bytes(2);
    client.post("settings", &last).unwrap();

    let checked = journal(&["check"], &data);
    assert!(checked.status.success(), "{}", said(&checked));
    assert!(
        said(&checked).contains("with 17 reports"),
        "{}",
        said(&checked)
    );
    let copy = directory.path().join("copy");
    let to = copy.to_str().unwrap();
    let copied = journal(&["backup", to], &data);
    assert!(copied.status.success(), "{}", said(&copied));
    assert!(
        said(&copied).contains("with 17 reports"),
        "{}",
        said(&copied)
    );
    // An existing copy is not overwritten.
    let again = journal(&["backup", to], &data);
    assert!(
        !again.status.success() && said(&again).contains(to),
        "{}",
        said(&again)
    );

    let missing = directory.path().join("volume");
    let nowhere = journal(&["backup", missing.join("copy").to_str().unwrap()], &data);
    let expected = format!("{}: the directory does not exist", missing.display());
    assert!(
        !nowhere.status.success() && said(&nowhere).contains(&expected),
        "{}",
        said(&nowhere)
    );

    let before = client.get(estimates).unwrap();
    drop(collector);
    let mut collector = Collector::spawn(&copy, &[], &[]);
    let mut client = Client::connect(collector.address()).unwrap();
    assert_eq!(
        client.post("settings", &last).unwrap().0,
        200,
        "it was copied"
    );
    assert_eq!(client.get(estimates).unwrap(), before);
}

#[test]
fn what_is_wrong_is_named_and_not_served() {
    let (directory, mut collector) = collecting();
    let data = directory.path().join("data");
    let mut client = Client::connect(collector.address()).unwrap();
    let mut uploads = Uploads::new(&draft(SETTINGS).resolve_task().unwrap(), 1);
    client.post("settings", &uploads.bytes(5)).unwrap();
    client.get("/tasks/settings/estimates").unwrap();
    client.post("settings", &uploads.bytes(5)).unwrap();
    drop(collector);
    for extension in ["log", "batch", "ids", "json"] {
        let path = &files(&data, extension)[0];
        let before = fs::read(path).unwrap();
        let mut bytes = before.clone();
        bytes[before.len() / 2] ^= 1;
        fs::write(path, bytes).unwrap();
        let checked = journal(&["check"], &data);
        assert_eq!(checked.status.code(), Some(1), "{}", said(&checked));
        let name = path.to_str().unwrap();
        assert!(said(&checked).contains(name), "{name}: {}", said(&checked));
        fs::write(path, before).unwrap();
    }
    assert!(journal(&["check"], &data).status.success());
    let tasks = data.join("tasks.json");
    let before = fs::read(&tasks).unwrap();
    fs::remove_file(&tasks).unwrap();
    let checked = journal(&["check"], &data);
    assert!(
        said(&checked).contains("tasks.json: it is missing"),
        "{}",
        said(&checked)
    );
    fs::write(&tasks, before).unwrap();
    let path = files(&data, "ids").remove(0);
    fs::remove_file(&path).unwrap();
    assert!(said(&journal(&["check"], &data)).contains("ids of released batches are missing"));
    let mut serve = process::command();
    serve
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(&data);
    let refused = serve.output().unwrap();
    assert!(!refused.status.success());
    assert!(
        said(&refused).contains("ids of released batches are missing"),
        "{}",
        said(&refused)
    );
}

/// A new task log hides from clients that remember the old one which tasks it has listed.
#[test]
fn a_lost_task_log_does_not_begin_again_in_silence() {
    let (directory, mut collector) = collecting();
    collector.address();
    drop(collector);
    let data = directory.path().join("data");
    let log = data.join("task-log.json");
    let before = fs::read(&log).unwrap();
    let serve = |broken: bool| {
        let mut serve = process::command();
        serve.args(["serve", "--listen", "127.0.0.1:0", "--data"]);
        let lines = directory.path().join("lines");
        let file = fs::File::create(&lines).unwrap();
        let mut collector = Collector::start({
            serve.arg(&data).stderr(file);
            serve
        });
        let mut client = Client::connect(collector.address()).unwrap();
        // The probe checks the files.
        assert_eq!(client.get("/readyz").unwrap().0, 200);
        let metrics = String::from_utf8(client.get("/metrics").unwrap().1).unwrap();
        let metric = "hushbin_files_broken{file=\"task-log.json\"} ";
        let expected = format!("{metric}{}\n", u8::from(broken));
        assert!(metrics.contains(&expected), "{metrics}");
        let lines = fs::read_to_string(&lines).unwrap();
        let named =
            lines.contains("put back a copy") && lines.contains("hushbin audit --task-logs");
        assert_eq!(named, broken, "{lines}");
    };
    serve(false);
    fs::remove_file(&log).unwrap();
    serve(true);
    assert!(log.exists());
    fs::write(&log, &before).unwrap();
    serve(false);
    assert_eq!(fs::read(&log).unwrap(), before);
}
