//! kill -9 during uploads, closings and releases, many times. Nothing acknowledged is lost, nothing
//! counts twice, and a release always returns the same bytes.
//!
//! Uploaders send fresh uploads, one or several per body. They resend uploads without an answer in
//! other combinations, and sometimes resend acknowledged ones. An upload carries one to seven
//! unique reports, so a loss and a double count cannot cancel. The collector's estimates are
//! compared with those of exactly the acknowledged uploads, and depend on the bucket of every
//! report. Meanwhile batches are closed, by their count and by an admin, and an analyst reads all
//! releases.
//!
//! After a kill the operating system still writes unsynced data. So this test shows atomicity and
//! bookkeeping. Tests of the journal's files simulate a power failure and show that data is synced
//! before it is acknowledged.
//!
//! `HUSHBIN_CRASH_ROUNDS` sets the number of kills.
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::access::create_token;
use crate::support::SETTINGS;
use hushbin::{Task, Upload};
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Totals, estimates_for_query};
use hushbin_server::store::{JournalLocation, Store, StoreOptions};
use hushbin_tests::process::{self, Client, Collector};
use hushbin_tests::uploads::{Uploads, draft};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::Value;

const UPLOADERS: u64 = 6;

/// A client whose memory outlives the collector.
struct Uploader {
    task: Task,
    uploads: Uploads,
    rng: ChaCha20Rng,
    acknowledged: Vec<Upload>,
    /// Uploads sent at least once, without an answer so far.
    open: Vec<Upload>,
    resent: u64,
    found_stored: u64,
}

impl Uploader {
    fn new(task: &Task, seed: u64) -> Self {
        Self {
            task: task.clone(),
            uploads: Uploads::new(task, seed),
            rng: ChaCha20Rng::seed_from_u64(!seed),
            acknowledged: Vec::new(),
            open: Vec::new(),
            resent: 0,
            found_stored: 0,
        }
    }

    /// Uploads until the collector is killed.
    fn run(&mut self, address: SocketAddr) {
        let Ok(mut client) = Client::connect(address) else {
            return;
        };
        loop {
            let sent = match self.rng.next_u32() % 8 {
                0 => self.resend_acknowledged(&mut client),
                1..4 if !self.open.is_empty() => self.resend_open(&mut client),
                _ => self.send_fresh(&mut client),
            };
            if sent.is_none() {
                return;
            }
        }
    }

    /// Sends all uploads in one body. Returns the number of duplicates that the collector counted.
    fn post(&self, client: &mut Client, uploads: &[Upload]) -> Option<usize> {
        let encode = |upload: &Upload| upload.encode(&self.task.fingerprint());
        let body: Vec<u8> = uploads.iter().flat_map(encode).collect();
        let (status, answer) = client.post("settings", &body).ok()?;
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let number = |name: &str| answer[name].as_u64().unwrap() as usize;
        assert_eq!(number("uploads"), uploads.len(), "{answer}");
        let duplicates = number("duplicate_uploads");
        let new = if duplicates < uploads.len() { 201 } else { 200 };
        assert_eq!(status, new, "{answer}");
        Some(duplicates)
    }

    fn send_fresh(&mut self, client: &mut Client) -> Option<()> {
        let several = 1 + self.rng.next_u32() as usize % 3;
        let kept = self.open.len();
        for _ in 0..several {
            let reports = 1 + self.rng.next_u32() as usize % 7;
            // The kill may come at any moment from here on, so the upload is open before it is
            // sent.
            self.open.push(self.uploads.make(reports));
        }
        let duplicates = self.post(client, &self.open[kept..])?;
        assert_eq!(duplicates, 0, "fresh uploads");
        self.acknowledged.extend(self.open.drain(kept..));
        Some(())
    }

    /// Resends up to four open uploads at once, in combinations that may be new.
    fn resend_open(&mut self, client: &mut Client) -> Option<()> {
        let begin = self.rng.next_u32() as usize % self.open.len();
        let some = begin..self.open.len().min(begin + 4);
        let found = self.post(client, &self.open[some.clone()])?;
        self.resent += some.len() as u64;
        self.found_stored += found as u64;
        self.acknowledged.extend(self.open.drain(some));
        Some(())
    }

    fn resend_acknowledged(&mut self, client: &mut Client) -> Option<()> {
        if self.acknowledged.is_empty() {
            return Some(());
        }
        let index = self.rng.next_u32() as usize % self.acknowledged.len();
        let found = self.post(client, &self.acknowledged[index..=index])?;
        assert_eq!(found, 1, "an acknowledged upload was lost");
        Some(())
    }
}

/// An analyst who closes batches and reads releases. Its memory outlives the collector.
struct Analyst {
    token: String,
    rng: ChaCha20Rng,
    /// Responses that never change, by their request.
    answers: BTreeMap<String, Vec<u8>>,
    /// Released batches as they are listed.
    released: Vec<Value>,
    closed_by_command: u64,
    compared: u64,
}

impl Analyst {
    fn ask(&self, client: &mut Client, line: &str) -> io::Result<(u16, Vec<u8>)> {
        let head = format!(
            "{line} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {}\r\ncontent-length: 0\r\n\r\n",
            self.token
        );
        client.write(head.as_bytes())?;
        client.read()
    }

    /// Closes and reads until the collector is killed.
    fn run(&mut self, address: SocketAddr) -> io::Result<()> {
        let mut client = Client::connect(address)?;
        loop {
            let (status, answer) = self.ask(&mut client, "POST /tasks/settings/batches")?;
            match status {
                202 => self.closed_by_command += 1,
                status => assert_eq!(status, 409, "{}", String::from_utf8_lossy(&answer)),
            }
            self.read_some(&mut client)?;
            let pause = u64::from(self.rng.next_u32() % 4000);
            thread::sleep(Duration::from_micros(pause));
        }
    }

    /// Lists the batches and checks that released ones are unchanged. Returns the number of reports
    /// in all of them.
    fn list(&mut self, client: &mut Client) -> io::Result<u64> {
        let (status, body) = self.ask(client, "GET /tasks/settings/batches")?;
        assert_eq!(status, 200);
        let body: Value = serde_json::from_slice(&body).unwrap();
        let all = body["batches"].as_array().unwrap();
        let released = |batch: &&Value| batch["state"] == "released";
        let released: Vec<_> = all.iter().take_while(released).cloned().collect();
        assert_eq!(released[..self.released.len()], self.released);
        self.released = released;
        let reports = |batch: &Value| batch["reports"].as_u64().unwrap();
        Ok(all.iter().map(reports).sum())
    }

    /// Checks that a response is the same as before.
    fn compare(&mut self, client: &mut Client, path: &str, key: &str) -> io::Result<()> {
        let line = format!("GET /tasks/settings/{path}");
        let (status, body) = self.ask(client, &line)?;
        assert_eq!(status, 200, "{line}: {}", String::from_utf8_lossy(&body));
        match self.answers.get(key) {
            Some(before) => {
                let texts = [before, &body].map(|bytes| String::from_utf8_lossy(bytes));
                assert!(*before == body, "{line} was {}, is {}", texts[0], texts[1]);
                self.compared += 1;
            }
            None => {
                self.answers.insert(key.to_owned(), body);
            }
        }
        Ok(())
    }

    fn compare_batches(&mut self, client: &mut Client, batches: &str) -> io::Result<()> {
        for kind in ["estimates", "influence"] {
            let path = format!("{kind}?batches={batches}");
            self.compare(client, &path, &path)?;
        }
        Ok(())
    }

    /// Reads some releases: the newest, all together, and an older one.
    fn read_some(&mut self, client: &mut Client) -> io::Result<()> {
        self.list(client)?;
        let last = self.released.len();
        if last == 0 {
            return Ok(());
        }
        let older = 1 + self.rng.next_u32() as usize % last;
        for batches in [last.to_string(), format!("1-{last}"), older.to_string()] {
            self.compare_batches(client, &batches)?;
        }
        Ok(())
    }

    /// Reads everything that was ever read once more, and the privacy of all of it. The collector
    /// must not release anything meanwhile.
    fn read_all(&mut self, client: &mut Client) {
        let questions: Vec<_> = self.answers.keys().cloned().collect();
        for question in questions
            .iter()
            .filter(|question| !question.starts_with("privacy"))
        {
            self.compare(client, question, question).unwrap();
        }
        let key = format!("privacy of {}", self.released.len());
        self.compare(client, "privacy", &key).unwrap();
    }
}

/// Names the operation that a kill interrupted, from the remaining files.
fn fell_into(data: &Path) -> &'static str {
    let Ok(entries) = fs::read_dir(data.join("tasks/00000001")) else {
        return "making the task";
    };
    let names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let of = |suffix: &'static str| {
        let numbers = names
            .iter()
            .filter_map(move |name| name.strip_suffix(suffix));
        numbers.filter_map(|name| name.rsplit('-').next()?.parse::<u64>().ok())
    };
    let released = of(".batch").count() as u64;
    let unreleased = of(".log").filter(|log| *log > released).count();
    if names.iter().any(|name| name.ends_with(".unfinished")) {
        "writing a file of a closing or a release"
    } else if of(".ids").any(|last| last > released) {
        "a release: its ids are there, it is not"
    } else if of(".log").any(|log| log <= released) {
        "a release: it is there, so is its log"
    } else if unreleased > 1 {
        "closing, or counting what is closed"
    } else {
        "uploads alone"
    }
}

/// Returns all files with their bytes.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    all
}

/// Checks that the files left by a kill can be read without changing them.
fn reads_only(data: &Path, analyst: &Analyst) {
    let before = files(data);
    let store = Store::open_read_only(
        &JournalLocation::Directory(data.to_owned()),
        &[],
        StoreOptions::DEFAULT,
    )
    .unwrap();
    let task = store.task("settings").unwrap();
    assert!(task.released_batches().len() >= analyst.released.len());
    drop(store);
    assert!(files(data) == before, "something was written");
}

fn serve(data: &Path, task: &Path) -> Collector {
    process::create_journal(data);
    let mut command = process::command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "error"]);
    command.args([
        "--batch-least",
        "5",
        "--batch-most",
        "60",
        "--batch-hours",
        "0",
    ]);
    command.arg("--data").arg(data).arg("--task").arg(task);
    Collector::start(command)
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_counts_twice() {
    let rounds: u64 = env::var("HUSHBIN_CRASH_ROUNDS").map_or(25, |text| text.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let task_file = directory.path().join("task.json");
    fs::write(&task_file, SETTINGS).unwrap();
    let data = directory.path().join("data");
    let task = draft(SETTINGS).resolve_task().unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(2026);
    let mut uploaders: Vec<_> = (0..UPLOADERS)
        .map(|seed| Uploader::new(&task, seed))
        .collect();
    serve(&data, &task_file).address();
    let mut analyst = Analyst {
        token: create_token(&data, "admin"),
        rng: ChaCha20Rng::seed_from_u64(2027),
        answers: BTreeMap::new(),
        released: Vec::new(),
        closed_by_command: 0,
        compared: 0,
    };
    let mut fell: BTreeMap<&str, u64> = BTreeMap::new();

    for round in 0..rounds {
        let mut collector = serve(&data, &task_file);
        if round % 5 == 4 {
            // Sometimes the kill comes during the start.
            thread::sleep(Duration::from_micros(u64::from(rng.next_u32() % 20_000)));
            collector.kill();
            *fell.entry("a start").or_default() += 1;
            reads_only(&data, &analyst);
            continue;
        }
        let address = collector.address();
        let mut client = Client::connect(address).unwrap();
        let there = analyst.list(&mut client).unwrap();
        let (least, most) = bounds(&uploaders);
        assert!((least..=most).contains(&there), "{least} {there} {most}");
        analyst.read_some(&mut client).unwrap();
        let delay = Duration::from_micros(u64::from(rng.next_u32() % 80_000));
        thread::scope(|scope| {
            for uploader in &mut uploaders {
                scope.spawn(move || uploader.run(address));
            }
            // The analyst ends when the collector does.
            scope.spawn(|| analyst.run(address).unwrap_err());
            thread::sleep(delay);
            collector.kill();
        });
        *fell.entry(fell_into(&data)).or_default() += 1;
    }
    let mut collector = serve(&data, &task_file);
    let mut client = Client::connect(collector.address()).unwrap();
    for uploader in &mut uploaders {
        while !uploader.open.is_empty() {
            uploader.resend_open(&mut client).unwrap();
        }
        for _ in 0..20 {
            uploader.resend_acknowledged(&mut client).unwrap();
        }
    }
    let (acknowledged, _) = bounds(&uploaders);
    assert_eq!(analyst.list(&mut client).unwrap(), acknowledged);
    // The last batch may need some more reports before it closes.
    uploaders[0].send_fresh(&mut client).unwrap();
    while analyst
        .ask(&mut client, "POST /tasks/settings/batches")
        .unwrap()
        .0
        != 202
    {
        uploaders[0].send_fresh(&mut client).unwrap();
    }
    let (acknowledged, _) = bounds(&uploaders);
    let released = |analyst: &Analyst| {
        let reports = analyst
            .released
            .iter()
            .map(|batch| batch["reports"].as_u64());
        reports.map(Option::unwrap).sum::<u64>()
    };
    while released(&analyst) < acknowledged {
        assert_eq!(analyst.list(&mut client).unwrap(), acknowledged);
        thread::sleep(Duration::from_millis(1));
    }
    analyst.read_all(&mut client);
    check(&analyst, &mut client, &task, &uploaders);
    collector.stop(Duration::from_secs(300));
    let mut collector = serve(&data, &task_file);
    let mut client = Client::connect(collector.address()).unwrap();
    analyst.read_all(&mut client);
    check(&analyst, &mut client, &task, &uploaders);
    report(&uploaders, &analyst);
    println!("kills fell into {fell:#?}");
}

/// Number of acknowledged reports, and number of sent ones.
fn bounds(uploaders: &[Uploader]) -> (u64, u64) {
    let reports = |uploads: &[Upload]| {
        let reports = uploads.iter().map(|upload| upload.reports.len() as u64);
        reports.sum::<u64>()
    };
    let acknowledged = uploaders.iter().map(|own| reports(&own.acknowledged)).sum();
    let open: u64 = uploaders.iter().map(|own| reports(&own.open)).sum();
    (acknowledged, acknowledged + open)
}

/// Compares the collector's estimates with those of the acknowledged uploads.
fn check(analyst: &Analyst, client: &mut Client, task: &Task, uploaders: &[Uploader]) {
    let mut totals = Totals::new(task);
    for upload in uploaders.iter().flat_map(|uploader| &uploader.acknowledged) {
        upload
            .reports
            .iter()
            .for_each(|report| totals.add_report(report));
    }
    let question = EstimateQuery::new(task, &EstimateOptions::default()).unwrap();
    let expected = serde_json::to_value(estimates_for_query(task, &totals, &question)).unwrap();
    let (status, body) = analyst
        .ask(client, "GET /tasks/settings/estimates")
        .unwrap();
    assert_eq!(status, 200);
    let found: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(found["reports"], totals.report_count());
    assert_eq!(found, expected);
}

/// Prints the amount of work.
fn report(uploaders: &[Uploader], analyst: &Analyst) {
    let sum = |of: fn(&Uploader) -> u64| uploaders.iter().map(of).sum::<u64>();
    let uploads = sum(|u| u.acknowledged.len() as u64);
    let [resent, stored] = [sum(|u| u.resent), sum(|u| u.found_stored)];
    println!(
        "{uploads} uploads acknowledged; {resent} resent after a kill, {stored} of them were stored"
    );
    println!(
        "{} batches released, {} of them closed by command; {} answers compared",
        analyst.released.len(),
        analyst.closed_by_command,
        analyst.compared
    );
    assert!(uploads > 0 && analyst.compared > 0);
}
