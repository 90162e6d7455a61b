//! `hushbin journal salvage`: after any damage the rest of the journal is served as before, and the
//! loss is reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use hushbin_server::store::{FilesEngine, StorageEngine, UploadRecord};
use hushbin_tests::process::{self, Client, Collector};
use hushbin_tests::uploads::{Uploads, draft};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::SETTINGS;

/// Number of released batches.
const RELEASED: u64 = 5;

/// A journal of five released batches and an open one of six commits.
struct Journal {
    directory: TempDir,
    /// Uploads of the released batches, then of the open one, each with its number of reports.
    uploads: Vec<(Vec<u8>, u64)>,
    /// Estimates of each released batch.
    estimates: Vec<Vec<u8>>,
}

fn estimates(client: &mut Client) -> Vec<Vec<u8>> {
    let of = |batch| {
        let (status, body) = client
            .get(&format!("/tasks/settings/estimates?batches={batch}"))
            .unwrap();
        assert_eq!(status, 200);
        body
    };
    (1..=RELEASED).map(of).collect()
}

impl Journal {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (task, data) = (
            directory.path().join("t.json"),
            directory.path().join("data"),
        );
        fs::write(&task, SETTINGS).unwrap();
        let mut journal = Self {
            directory,
            uploads: Vec::new(),
            estimates: Vec::new(),
        };
        let mut collector = Collector::spawn(&data, &[&task], &[]);
        let mut client = Client::connect(collector.address()).unwrap();
        let mut uploads = Uploads::new(&draft(SETTINGS).resolve_task().unwrap(), 1);
        let mut post = |client: &mut Client, reports: usize| {
            let bytes = uploads.bytes(reports);
            assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
            journal.uploads.push((bytes, reports as u64));
        };
        for batch in 0..RELEASED as usize {
            post(&mut client, 60 + batch);
            client.get("/tasks/settings/privacy").unwrap();
        }
        journal.estimates = estimates(&mut client);
        for reports in 1..=6 {
            post(&mut client, reports);
        }
        drop(collector);
        journal
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn to(&self) -> PathBuf {
        self.directory.path().join("to")
    }

    fn task(&self) -> PathBuf {
        self.directory.path().join("t.json")
    }

    fn salvage(&self, more: &[&str]) -> Output {
        let mut command = process::command();
        command.args(["journal", "salvage"]).args(more);
        command.arg("--data").arg(self.data()).arg(self.to());
        command.output().unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.data().join("tasks/00000001").join(name)
    }
}

fn check(data: &Path) -> Output {
    let mut command = process::command();
    command
        .args(["journal", "check", "--data"])
        .arg(data)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(all).unwrap()
}

fn batches(client: &mut Client) -> Vec<(String, u64)> {
    let (status, body) = client.get("/tasks/settings/batches").unwrap();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    let answer: Value = serde_json::from_slice(&body).unwrap();
    let batch = |batch: &Value| {
        let state = batch["state"].as_str().unwrap().to_owned();
        (state, batch["reports"].as_u64().unwrap())
    };
    answer["batches"]
        .as_array()
        .unwrap()
        .iter()
        .map(batch)
        .collect()
}

/// Non-empty files of a journal, each with its bytes.
fn files(data: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut directories = vec![data.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => directories.push(path),
                false => found.push((path.clone(), fs::read(&path).unwrap())),
            }
        }
    }
    found.retain(|(path, bytes)| !bytes.is_empty() && !path.ends_with("probe"));
    found.sort();
    found
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Offsets of the commits of a log, and its end.
fn commits(path: &Path) -> Vec<usize> {
    let bytes = fs::read(path).unwrap();
    let begins = |at: &usize| bytes[*at..].starts_with(b"hush\x01\0\0\0");
    let mut found: Vec<usize> = (0..bytes.len()).filter(begins).collect();
    found.push(bytes.len());
    found
}

#[test]
fn whichever_file_is_damaged_the_others_are_served_as_before() {
    let journal = Journal::new();
    let task = journal.task();
    let given = ["--lost-task", task.to_str().unwrap()];
    let all = files(&journal.data());
    // The list and its log, five batches, ids of four batches and of one, and a log.
    assert_eq!(all.len(), 10, "{all:?}");
    for (path, bytes) in &all {
        let name = path.to_str().unwrap();
        let length = bytes.len();
        for at in [9, 90.min(length - 2), length / 2, length - 1, length] {
            match at == length {
                true => fs::remove_file(path).unwrap(),
                false => flip(path, at),
            }
            let (output, collector, mut client) = salvaged(&journal, &given);
            let mark = name.ends_with(".log") && at == length - 1;
            let whole = output.contains("0 are damaged");
            // A mark has no effect if its frame verifies.
            assert_eq!(whole, mark, "{name} {at}: {output}");
            assert!(mark || output.contains(name), "{name} {at}: {output}");
            let found = estimates(&mut client);
            for (batch, (found, before)) in (1..).zip(found.iter().zip(&journal.estimates)) {
                let lost = output.contains(&format!("all of batch {batch} is lost"));
                let own = name.ends_with(&format!("{batch:08}.batch"));
                assert!(!lost || own, "{name} {at}: {output}");
                assert_eq!(found == before, !lost, "{name} {at}: {output}");
            }
            drop(collector);
            fs::remove_dir_all(journal.to()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
    assert_eq!(files(&journal.data()), all, "nothing of it is changed");
}

/// Salvages, and starts a collector on the result. Returns the output and a client.
fn salvaged(journal: &Journal, more: &[&str]) -> (String, Collector, Client) {
    let output = journal.salvage(more);
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    let checked = check(&journal.to());
    assert!(checked.status.success(), "{said}");
    let mut collector = Collector::spawn(&journal.to(), &[&journal.task()], &[]);
    let client = Client::connect(collector.address()).unwrap();
    (said, collector, client)
}

#[test]
fn however_much_is_damaged_what_is_kept_is_whole() {
    let journal = Journal::new();
    let task = journal.task();
    let given = ["--lost-task", task.to_str().unwrap()];
    let all = files(&journal.data());
    let totals = |data: &Path| {
        let files = FilesEngine::open(data).unwrap();
        let (task, reader) = (files.tasks().unwrap()[0].key, files.reader());
        let of = |batch| reader.totals(task, batch).unwrap();
        (1..=RELEASED).map(of).collect::<Vec<_>>()
    };
    let before = totals(&journal.data());
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    for round in 0..60 {
        for _ in 0..=round % 8 {
            let (path, bytes) = &all[rng.next_u32() as usize % all.len()];
            let at = rng.next_u32() as usize % bytes.len();
            match rng.next_u32() % 8 {
                0 => fs::write(path, &bytes[..at]).unwrap(),
                1 => fs::write(path, [bytes, &bytes[at..]].concat()).unwrap(),
                _ => {
                    // The file may be shorter by now.
                    let mut now = fs::read(path).unwrap();
                    now.get_mut(at).into_iter().for_each(|byte| *byte ^= 1);
                    fs::write(path, now).unwrap();
                }
            }
        }
        let output = journal.salvage(&given);
        let output = (output.status.success(), said(&output));
        assert!(output.0, "{round}: {}", output.1);
        assert!(output.1.contains(" 1 tasks"), "{round}: {}", output.1);
        let kept = totals(&journal.to());
        for (batch, (kept, before)) in (1..).zip(kept.iter().zip(&before)) {
            let lost = output.1.contains(&format!("all of batch {batch} is lost"));
            assert_eq!(kept == before, !lost, "{round}: {batch}: {}", output.1);
        }
        fs::remove_dir_all(journal.to()).unwrap();
        for (path, bytes) in &all {
            fs::write(path, bytes).unwrap();
        }
    }
}

#[test]
fn of_a_log_all_commits_are_kept_that_verify() {
    let journal = Journal::new();
    let log = journal.file("00000006.log");
    let before = fs::read(&log).unwrap();
    let commits = commits(&log);
    assert_eq!(commits.len(), 7);
    let open = &journal.uploads[RELEASED as usize..];
    // Offset of the flipped byte, lost uploads, and expected output.
    let said = |uploads: u64, reports| format!("{uploads} uploads with {reports} reports are lost");
    for (at, lost, expected) in [
        (commits[2] + 40, vec![2], said(1, 3)),
        (commits[5] + 40, vec![5], said(1, 6)),
        // The head of a frame is damaged, so the contents are unknown.
        (
            commits[2] + 9,
            vec![2],
            "an unknown number of uploads is lost".to_owned(),
        ),
        // The frame's checksum is damaged, but the mark has it, and the next frame continues from
        // the stored one.
        (commits[3] - 16, vec![], "no upload is lost".to_owned()),
        (
            0,
            vec![0, 1, 2, 3, 4, 5],
            "an unknown number of uploads is lost".to_owned(),
        ),
    ] {
        flip(&log, at);
        let (output, collector, mut client) = salvaged(&journal, &[]);
        assert!(output.contains(log.to_str().unwrap()), "{at}: {output}");
        assert!(output.contains(&expected), "{at}: {output}");
        let reports: u64 = (0..)
            .zip(open)
            .filter(|(index, _)| !lost.contains(index))
            .map(|(_, (_, reports))| reports)
            .sum();
        let open_batch = ("open".to_owned(), reports);
        assert_eq!(batches(&mut client).last(), Some(&open_batch), "{at}");
        for (index, (upload, _)) in (0..).zip(open) {
            let (status, _) = client.post("settings", upload).unwrap();
            let expected = if lost.contains(&index) { 201 } else { 200 };
            assert_eq!(status, expected, "{at}: {index}");
        }
        drop(collector);
        fs::remove_dir_all(journal.to()).unwrap();
        fs::write(&log, &before).unwrap();
    }
}

#[test]
fn totals_and_reports_of_a_batch_stand_in_for_each_other() {
    let journal = Journal::new();
    let path = journal.file("00000002.batch");
    let before = fs::read(&path).unwrap();
    flip(&path, 100);
    let (output, collector, _) = salvaged(&journal, &[]);
    assert!(output.contains("its totals have changed"), "{output}");
    assert!(output.contains("nothing is lost"), "{output}");
    drop(collector);
    let again = journal.to().join("tasks/00000001/00000002.batch");
    assert!(fs::read(again).unwrap() == before);
    fs::remove_dir_all(journal.to()).unwrap();

    fs::write(&path, &before).unwrap();
    flip(&path, before.len() - 20);
    let (output, collector, mut client) = salvaged(&journal, &[]);
    let expected = "the 61 reports of batch 2 are lost, its totals are kept";
    assert!(output.contains(expected), "{output}");
    assert_eq!(estimates(&mut client), journal.estimates);
    drop(collector);
}

/// An erased report is in the totals only. If these are damaged, the other reports are kept.
#[test]
fn damaged_totals_are_counted_again_without_erased_reports() {
    let journal = Journal::new();
    let on_data = |words: &[&str]| {
        let mut command = process::command();
        let output = command.args(words).arg("--data").arg(journal.data());
        said(&output.output().unwrap())
    };
    let export = ["journal", "export", "--task", "settings", "--format", "csv"];
    let rows = on_data(&export);
    let report = rows.lines().nth(1).unwrap().rsplit(',').next().unwrap();
    let erased = on_data(&["journal", "erase", "--task", "settings", report]);
    assert!(erased.contains("deleted from batch 1"), "{erased}");
    flip(&journal.file("00000001.batch"), 100);
    let (output, collector, mut client) = salvaged(&journal, &[]);
    let expected = "the totals of batch 1 are counted again from its reports, without 1 reports";
    assert!(output.contains(expected), "{output}");
    let found = estimates(&mut client);
    assert_eq!(found[1..], journal.estimates[1..]);
    let first: Value = serde_json::from_slice(&found[0]).unwrap();
    assert_eq!(first["reports"], 59);
    drop(collector);
}

#[test]
fn where_ids_are_lost_uploads_are_counted_again_and_that_is_said() {
    let journal = Journal::new();
    fs::remove_file(journal.file("00000005-00000005.ids")).unwrap();
    let (output, _collector, mut client) = salvaged(&journal, &[]);
    assert!(
        output.contains("upload ids of batches 5 to 5 are lost"),
        "{output}"
    );
    assert!(output.contains("will be counted twice"), "{output}");
    let sent = |client: &mut Client, upload: usize| {
        client
            .post("settings", &journal.uploads[upload].0)
            .unwrap()
            .0
    };
    assert_eq!(sent(&mut client, 3), 200);
    assert_eq!(sent(&mut client, 4), 201);
}

#[test]
fn a_closed_batch_that_lost_reports_is_open_again_with_what_came_after() {
    let journal = Journal::new();
    let mut files = FilesEngine::open(&journal.data()).unwrap();
    let task = files.tasks().unwrap()[0].key;
    let open = files.batches(task).last().unwrap().number;
    files.close_batch(task, open, 1).unwrap();
    let mut uploads = Uploads::new(&draft(SETTINGS).resolve_task().unwrap(), 2);
    let upload = uploads.bytes(9);
    let record = UploadRecord {
        id: upload[17..33].try_into().unwrap(),
        report_count: 9,
        body: upload[33..].to_vec(),
    };
    files.append_uploads(task, &[record]).unwrap();
    drop(files);
    let log = journal.file("00000006.log");
    let commits = commits(&log);
    flip(&log, commits[0] + 40);
    flip(&log, commits[3] + 9);
    let (output, _collector, mut client) = salvaged(&journal, &[]);
    // The closing commit states how many there were.
    assert!(
        output.contains("2 uploads with 5 reports are lost"),
        "{output}"
    );
    let found = batches(&mut client);
    assert_eq!(found.len(), 6);
    assert_eq!(found[5], ("open".to_owned(), 21 - 5 + 9));
    assert_eq!(client.post("settings", &upload).unwrap().0, 200);
}

#[test]
fn tasks_are_known_by_the_fingerprint_that_their_files_have() {
    let journal = Journal::new();
    let list = journal.data().join("tasks.json");
    let before = fs::read(&list).unwrap();
    // Only the checksum is damaged: the list still names the task.
    flip(&list, before.len() - 5);
    let (output, collector, mut client) = salvaged(&journal, &[]);
    assert!(
        output.contains("tasks.json") && output.contains("default"),
        "{output}"
    );
    assert_eq!(estimates(&mut client), journal.estimates);
    drop(collector);
    fs::remove_dir_all(journal.to()).unwrap();

    fs::remove_file(&list).unwrap();
    let task = draft(SETTINGS).resolve_task().unwrap();
    let output = journal.salvage(&[]);
    let fingerprint = task.fingerprint().to_string();
    assert!(said(&output).contains(&fingerprint), "{}", said(&output));
    assert!(said(&output).contains("--lost-task"), "{}", said(&output));
    assert!(said(&output).contains("0 tasks"), "{}", said(&output));
}

#[test]
fn a_list_that_is_older_than_a_task_loses_nothing_silently() {
    let journal = Journal::new();
    let empty = journal.directory.path().join("empty");
    process::create_journal(&empty);
    fs::copy(empty.join("tasks.json"), journal.data().join("tasks.json")).unwrap();
    let expected = "no task of the list has these files";
    let checked = said(&check(&journal.data()));
    assert!(checked.contains(expected), "{checked}");
    let data = journal.data();
    let started = process::hushbin(&["serve", "--development", "--data", data.to_str().unwrap()]);
    assert!(said(&started).contains(expected), "{}", said(&started));

    let output = journal.salvage(&[]);
    let fingerprint = draft(SETTINGS).resolve_task().unwrap().fingerprint();
    let fingerprint = fingerprint.to_string();
    assert!(said(&output).contains(&fingerprint), "{}", said(&output));
    fs::remove_dir_all(journal.to()).unwrap();
    let task = journal.task();
    let (output, _collector, mut client) =
        salvaged(&journal, &["--lost-task", task.to_str().unwrap()]);
    assert!(output.contains("of 1 tasks are intact"), "{output}");
    assert_eq!(estimates(&mut client), journal.estimates);
}

#[test]
fn a_journal_in_use_and_a_directory_that_is_there_are_left_alone() {
    let journal = Journal::new();
    fs::create_dir(journal.to()).unwrap();
    let output = journal.salvage(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains(journal.to().to_str().unwrap()));
    fs::remove_dir(journal.to()).unwrap();
    let mut collector = Collector::spawn(&journal.data(), &[&journal.task()], &[]);
    collector.address();
    let output = journal.salvage(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("in use"), "{}", said(&output));
    assert!(!journal.to().exists());
}
