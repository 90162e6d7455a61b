//! A collector of an earlier version is upgraded in place, and downgraded again.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Totals, estimates_for_query};
use hushbin_tests::process::Client;
use hushbin_tests::uploads::Uploads;
use serde_json::json;

use super::*;
use crate::nodes::{AtEnd, Sender, until};
use crate::shuffle::free;

/// Estimates from exactly these uploads.
pub(super) fn expected<'a>(task: &Task, uploads: impl IntoIterator<Item = &'a Upload>) -> Value {
    let mut totals = Totals::new(task);
    for upload in uploads {
        upload
            .reports
            .iter()
            .for_each(|report| totals.add_report(report));
    }
    let query = EstimateQuery::new(task, &EstimateOptions::default()).unwrap();
    serde_json::to_value(estimates_for_query(task, &totals, &query)).unwrap()
}

/// Releases the reports of a task.
pub(super) fn release(address: SocketAddr, token: &str, task: &str) {
    let request = format!("POST /tasks/{task}/batches");
    let (status, said) = ask(address, token, &request, "");
    assert_eq!(status, 202, "{said}");
    until(|| {
        let (_, said) = ask(address, token, &format!("GET /tasks/{task}/batches"), "");
        let batches = said["batches"].as_array().unwrap().clone();
        !batches.iter().any(|batch| batch["state"] == "closed")
    });
}

/// Options that close batches only on request, never by time.
pub(super) const BY_HAND: [&str; 6] = [
    "--batch-least",
    "1",
    "--batch-most",
    "1000000",
    "--batch-hours",
    "0",
];

/// Returns whether a task asks one question with listed items.
fn of_one_list(task: &Task) -> bool {
    task.only_question()
        .is_some_and(|own| own.items().item_count().is_some())
}

#[track_caller]
fn send(address: SocketAddr, task: &Task, bytes: &[u8], expected: (u16, &Value)) {
    let mut client = Client::connect(address).unwrap();
    let head = format!(
        "POST /tasks/{}/reports HTTP/1.1\r\nhost: test\r\norigin: https://example.org\r\n\
         content-length: {}\r\n\r\n",
        task.id(),
        bytes.len()
    );
    client.write(&[head.as_bytes(), bytes].concat()).unwrap();
    let (status, said) = client.read().unwrap();
    let said: Value = serde_json::from_slice(&said).unwrap();
    assert_eq!((status, &said), expected, "{}", task.id());
}

/// Checks with an independent reader that a directory holds exactly these uploads. `gone` are
/// uploads whose reports were deleted.
fn holds(data: &Path, task: &Task, uploads: &[&Upload], gone: &[&Upload]) {
    let journal = frozen::read(data);
    let own = journal.iter().find(|own| own.id == task.id()).unwrap();
    assert_eq!(own.fingerprint, task.fingerprint().0);
    assert_eq!(own.parameters, json!(task));
    let mut ids: Vec<_> = uploads.iter().map(|upload| upload.id.0).collect();
    ids.sort_unstable();
    assert_eq!(own.ids, ids, "each is known, once");
    let encoded = |upload: &&Upload| {
        let reports = upload.reports.iter();
        let encode = |report: &hushbin::Report| {
            let mut bytes = Vec::new();
            report.encode(&mut bytes);
            bytes
        };
        reports.map(encode).collect::<Vec<_>>()
    };
    let kept = |upload: &&&Upload| !gone.iter().any(|own| own.id == upload.id);
    let mut expected: Vec<_> = uploads.iter().filter(kept).flat_map(encoded).collect();
    let mut found = Vec::new();
    let mut totals = Totals::new(task);
    for batch in own.batches.values() {
        let first = found.len();
        for body in &batch.bodies {
            let mut bytes = vec![1];
            bytes.extend(task.fingerprint().0);
            bytes.extend([0; 16]);
            bytes.extend(body);
            let upload = Upload::decode(&bytes, task).unwrap();
            if batch.totals.is_none() {
                upload.reports.iter().for_each(|own| totals.add_report(own));
            }
            found.extend(encoded(&&upload));
        }
        let kept = (found.len() - first) as u64;
        assert!(kept == batch.reports || kept == 0 && batch.totals.is_some());
        if let Some(bytes) = &batch.totals {
            let part = Totals::decode(task, bytes).unwrap();
            assert_eq!(part.report_count(), batch.reports);
            totals.merge(&part);
        }
    }
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    // Totals still include deleted reports.
    let mut all = Totals::new(task);
    let reports = uploads.iter().flat_map(|upload| &upload.reports);
    reports.for_each(|report| all.add_report(report));
    assert_eq!(totals.encode(), all.encode());
}

/// Uploads of the task whose first batch was deleted.
fn gone<'a>(task: &Task, uploads: &'a [Upload]) -> Vec<&'a Upload> {
    match task.id() {
        "settings" => uploads[..2].iter().collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_reader_of_its_own_finds_what_was_written() {
    for fixture in all() {
        let ids: Vec<String> = frozen::read(&fixture.path("collector"))
            .into_iter()
            .map(|own| own.id)
            .collect();
        let tasks = fixture.tasks();
        assert!(ids.iter().eq(tasks.iter().map(Task::id)));
        for task in tasks {
            let uploads = fixture.uploads(&task);
            let gone = gone(&task, &uploads);
            let uploads: Vec<_> = uploads.iter().collect();
            holds(&fixture.path("collector"), &task, &uploads, &gone);
        }
    }
}

/// Estimates equal those of the fixture's own version. Uploads it accepted are recognised as
/// duplicates. New uploads are counted with them, across restarts. All data stays in that version's
/// format, so that a downgrade works.
#[test]
fn a_collector_of_every_version_is_upgraded_in_place() {
    for fixture in all() {
        let copy = fixture.copy("collector");
        let place = ["--data", text(copy.path())];
        let token = fixture.token();
        let (mut collector, mut address) = serve(command(), place, &[]);
        until(|| {
            let (_, said) = ask(address, &token, "GET /tasks/settings/batches", "");
            said["batches"][5]["state"] == "released"
        });
        fixture.answers("answers.json", address);
        let mut all = BTreeMap::new();
        for task in fixture.tasks() {
            let uploads = fixture.uploads(&task);
            let count = uploads.len();
            let known =
                json!({ "uploads": count, "accepted_reports": 0, "duplicate_uploads": count });
            send(address, &task, &fixture.upload_bytes(&task), (200, &known));
            let mut more = Uploads::new(&task, 99);
            let more: Vec<Upload> = (1..4).map(|reports| more.make(reports)).collect();
            for upload in &more {
                let taken = upload.reports.len();
                let taken =
                    json!({ "uploads": 1, "accepted_reports": taken, "duplicate_uploads": 0 });
                let bytes = upload.encode(&task.fingerprint());
                send(address, &task, &bytes, (201, &taken));
            }
            all.insert(task.id().to_owned(), (task, [uploads, more].concat()));
        }
        // The collector ends in every possible way, and starts again with its original task files.
        drop(collector);
        let drafts: Vec<PathBuf> = all
            .keys()
            .map(|id| fixture.path(&format!("drafts/{id}.json")))
            .collect();
        let mut more: Vec<&str> = BY_HAND.into();
        for draft in &drafts {
            more.extend(["--task", text(draft)]);
        }
        (collector, address) = serve(command(), place, &more);
        for (task, uploads) in all.values() {
            release(address, &token, task.id());
            if of_one_list(task) {
                let estimates = format!("GET /tasks/{}/estimates", task.id());
                let (_, found) = ask(address, &token, &estimates, "");
                assert_eq!(found, expected(task, uploads), "{}", task.id());
            }
        }
        collector.stop(Duration::from_secs(60));
        succeeds(&["journal", "check", "--data", text(copy.path())]);
        for (task, uploads) in all.values() {
            let gone = gone(task, uploads);
            let uploads: Vec<_> = uploads.iter().collect();
            holds(copy.path(), task, &uploads, &gone);
        }
        // A backup for the downgrade has the same contents.
        let kept = tempfile::tempdir().unwrap();
        let to = kept.path().join("backup");
        let words = ["journal", "backup", "--data", text(copy.path()), text(&to)];
        succeeds(&words);
        for (task, uploads) in all.values() {
            let gone = gone(task, uploads);
            let uploads: Vec<_> = uploads.iter().collect();
            holds(&to, task, &uploads, &gone);
        }
    }
}

/// Upgrade and downgrade under load: nothing is lost and nothing is counted twice.
#[test]
fn a_collector_goes_on_and_back_under_load() {
    for fixture in all() {
        let copy = fixture.copy("collector");
        let place = ["--data", text(copy.path())];
        let (task, token) = (fixture.task("settings"), fixture.token());
        let listen = free().to_string();
        let address = listen.parse().unwrap();
        let more = ["--listen", &listen];
        let reports = || {
            let (_, said) = ask(address, &token, "GET /tasks/settings/batches", "");
            let batches = said["batches"].as_array().unwrap().clone();
            let each = batches.iter().map(|own| own["reports"].as_u64().unwrap());
            each.sum::<u64>()
        };
        let stop = AtomicBool::new(false);
        let mut sender = Sender::new(&task, 5);
        let mut running = None;
        thread::scope(|scope| {
            let _ended = AtEnd(&stop);
            scope.spawn(|| sender.run(&task, &[address], &stop));
            for (round, program) in [before(), command(), before(), command(), before()]
                .into_iter()
                .enumerate()
            {
                let (mut collector, _) = serve(program, place, &more);
                let known = reports();
                until(|| reports() > known + 30);
                release(address, &token, "settings");
                let known = reports();
                until(|| reports() > known + 30);
                if round == 4 {
                    running = Some(collector);
                } else if round % 2 == 0 {
                    collector.stop(Duration::from_secs(60));
                } else {
                    collector.kill();
                }
            }
        });
        while sender.open.is_some() {
            sender.send(&task, &mut Client::connect(address).unwrap());
        }
        let before = fixture.uploads(&task);
        let all: Vec<&Upload> = before.iter().chain(&sender.acknowledged).collect();
        // Uploads that were resent because their answer was lost are duplicates, too.
        for upload in &all {
            let known = json!({ "uploads": 1, "accepted_reports": 0, "duplicate_uploads": 1 });
            let bytes = upload.encode(&task.fingerprint());
            send(address, &task, &bytes, (200, &known));
        }
        release(address, &token, "settings");
        let (_, found) = ask(address, &token, "GET /tasks/settings/estimates", "");
        assert_eq!(found, expected(&task, all.iter().copied()));
        let mut collector = running.unwrap();
        collector.stop(Duration::from_secs(60));
        holds(copy.path(), &task, &all, &gone(&task, &before));
    }
}
