//! kill -9 during uploads, again and again: nothing acknowledged is lost, and
//! nothing counts twice.
//!
//! Uploaders send fresh uploads, one or several in a body, resend those whose
//! answer they never saw, in other company, and now and then resend one that was
//! acknowledged. An upload carries one to seven
//! reports that no other carries, so a loss and a double count cannot cancel:
//! the collector's estimates are compared with those of exactly the uploads
//! acknowledged, and depend on the buckets hit by every single report.
//!
//! What a kill leaves unsynced the operating system still writes, so this shows
//! atomicity and bookkeeping; that a commit is synced before it is acknowledged
//! rests on SQLite's `synchronous = FULL`.
//!
//! `HUSHBIN_CRASH_ROUNDS` sets the number of kills.
use std::env;
use std::fs;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use crate::support::SETTINGS;
use hushbin::{Task, Upload};
use hushbin_analysis::estimate::{Options, Query, Totals, estimates};
use hushbin_tests::process::{Client, Collector};
use hushbin_tests::uploads::{Uploads, draft};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::Value;

const UPLOADERS: u64 = 6;

/// One client with a memory that outlives the collector's.
struct Uploader {
    task: Task,
    uploads: Uploads,
    rng: ChaCha20Rng,
    acknowledged: Vec<Upload>,
    /// Sent at least once, answer never seen.
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

    /// Uploads until the collector goes away.
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

    /// Sends all in one body; of how many the collector says that it had them.
    fn post(&self, client: &mut Client, uploads: &[Upload]) -> Option<usize> {
        let encode = |upload: &Upload| upload.encode(&self.task.fingerprint());
        let body: Vec<u8> = uploads.iter().flat_map(encode).collect();
        let (status, answer) = client.post("settings", &body).ok()?;
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let number = |name: &str| answer[name].as_u64().unwrap() as usize;
        assert_eq!(number("uploads"), uploads.len(), "{answer}");
        let duplicates = number("duplicates");
        let new = if duplicates < uploads.len() { 201 } else { 200 };
        assert_eq!(status, new, "{answer}");
        Some(duplicates)
    }

    fn send_fresh(&mut self, client: &mut Client) -> Option<()> {
        let several = 1 + self.rng.next_u32() as usize % 3;
        let kept = self.open.len();
        for _ in 0..several {
            let reports = 1 + self.rng.next_u32() as usize % 7;
            // Open before it is sent: the kill may come at any moment from here on.
            self.open.push(self.uploads.make(reports));
        }
        let duplicates = self.post(client, &self.open[kept..])?;
        assert_eq!(duplicates, 0, "fresh uploads");
        self.acknowledged.extend(self.open.drain(kept..));
        Some(())
    }

    /// Up to four at once, which need not have been sent together before.
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

#[test]
fn nothing_acknowledged_is_lost_and_nothing_counts_twice() {
    let rounds: u64 = env::var("HUSHBIN_CRASH_ROUNDS").map_or(25, |text| text.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let task_file = directory.path().join("task.json");
    fs::write(&task_file, SETTINGS).unwrap();
    let data = directory.path().join("data");
    let task = draft(SETTINGS).resolve().unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(2026);
    let mut uploaders: Vec<_> = (0..UPLOADERS)
        .map(|seed| Uploader::new(&task, seed))
        .collect();

    for round in 0..rounds {
        let mut collector = Collector::spawn(&data, &[&task_file], &[]);
        if round % 5 == 4 {
            // Now and then the kill comes while it starts.
            thread::sleep(Duration::from_micros(u64::from(rng.next_u32() % 20_000)));
            collector.kill();
            continue;
        }
        let address = collector.address();
        let delay = Duration::from_micros(u64::from(rng.next_u32() % 80_000));
        thread::scope(|scope| {
            for uploader in &mut uploaders {
                scope.spawn(move || uploader.run(address));
            }
            thread::sleep(delay);
            collector.kill();
        });
    }
    // First of the collector that takes the last uploads, whose totals are running
    // ones, then of another one, whose totals come from the journal alone.
    let mut collector = Collector::spawn(&data, &[], &[]);
    let mut client = Client::connect(collector.address()).unwrap();
    for uploader in &mut uploaders {
        while !uploader.open.is_empty() {
            uploader.resend_open(&mut client).unwrap();
        }
        for _ in 0..20 {
            uploader.resend_acknowledged(&mut client).unwrap();
        }
    }
    check(&mut client, &task, &uploaders);
    collector.terminate();
    assert!(collector.wait(Duration::from_secs(300)).success());
    let mut collector = Collector::spawn(&data, &[], &[]);
    let mut client = Client::connect(collector.address()).unwrap();
    check(&mut client, &task, &uploaders);
    report(&uploaders);
}

/// Compares the collector's estimates with those of what was acknowledged.
fn check(client: &mut Client, task: &Task, uploaders: &[Uploader]) {
    let mut totals = Totals::new(task);
    for upload in uploaders.iter().flat_map(|uploader| &uploader.acknowledged) {
        upload.reports.iter().for_each(|report| totals.fold(report));
    }
    let question = Query::new(task, &Options::default()).unwrap();
    let expected = serde_json::to_value(estimates(task, &totals, &question)).unwrap();
    let (status, body) = client.get("/tasks/settings/estimates").unwrap();
    assert_eq!(status, 200);
    let found: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(found["reports"], totals.reports());
    assert_eq!(found, expected);
}

/// Says how hard the test was.
fn report(uploaders: &[Uploader]) {
    let sum = |of: fn(&Uploader) -> u64| uploaders.iter().map(of).sum::<u64>();
    let uploads = sum(|u| u.acknowledged.len() as u64);
    let [resent, stored] = [sum(|u| u.resent), sum(|u| u.found_stored)];
    println!(
        "{uploads} uploads acknowledged; {resent} resent after a kill, {stored} of them were stored"
    );
    assert!(uploads > 0);
}
