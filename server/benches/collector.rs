//! How fast the collector takes uploads, over real sockets onto a real disk, and
//! how fast it starts again: `cargo bench -p hushbin-server --bench collector`.
//!
//! Clients and collector share the machine, so the figures are a lower bound.
//! `HUSHBIN_BENCH_SECONDS` sets the time per row; `HUSHBIN_BENCH_DIR` the disk.
#![allow(clippy::unwrap_used)]

use std::env;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hushbin::Task;
use hushbin_tests::process::{Client, Collector};
use hushbin_tests::uploads::{Uploads, draft};

/// As large as a data set of clothes that people rated.
const TASK: &str =
    r#"{ "id": "bench", "items": 1378, "sparsity": 6, "epsilon": 2.0, "value": "real" }"#;

fn main() {
    // `cargo test --benches` runs this without `--bench`: then it only has to work.
    let real = env::args().any(|argument| argument == "--bench");
    let time = match env::var("HUSHBIN_BENCH_SECONDS") {
        Ok(seconds) => Duration::from_secs(seconds.parse().unwrap()),
        Err(_) if real => Duration::from_secs(3),
        Err(_) => Duration::from_millis(50),
    };
    let parent = env::var_os("HUSHBIN_BENCH_DIR").map_or_else(env::temp_dir, PathBuf::from);
    let directory = tempfile::tempdir_in(parent).unwrap();
    let task_file = directory.path().join("task.json");
    fs::write(&task_file, TASK).unwrap();
    let task = draft(TASK).resolve().unwrap();

    println!("connections  reports/upload  uploads/s  reports/s  p50 ms  p99 ms");
    for (connections, reports) in [(1, 1), (16, 1), (128, 1), (512, 1), (16, 100), (128, 100)] {
        let data = directory.path().join(format!("{connections}-{reports}"));
        row(&data, &task_file, &task, connections, reports, time);
    }
    println!("reports/upload  uploads  journal MB  start s  reports/s");
    for (connections, reports) in [(512, 1), (128, 100)] {
        let data = directory.path().join(format!("{connections}-{reports}"));
        restart(&data, reports);
    }
}

fn row(data: &Path, file: &Path, task: &Task, connections: u64, reports: usize, time: Duration) {
    let mut collector = Collector::spawn(data, &[file], &[]);
    let address = collector.address();
    let stop = AtomicBool::new(false);
    let begin = Instant::now();
    let mut latencies: Vec<Duration> = thread::scope(|scope| {
        let uploaders: Vec<_> = (0..connections)
            .map(|seed| {
                let stop = &stop;
                scope.spawn(move || upload(address, task, seed, reports, stop))
            })
            .collect();
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        uploaders
            .into_iter()
            .flat_map(|uploader| uploader.join().unwrap())
            .collect()
    });
    let seconds = begin.elapsed().as_secs_f64();
    latencies.sort_unstable();
    let at = |share: f64| {
        let index = (latencies.len() as f64 * share) as usize;
        latencies[index.min(latencies.len() - 1)].as_secs_f64() * 1e3
    };
    let rate = latencies.len() as f64 / seconds;
    println!(
        "{connections:11}  {reports:14}  {rate:9.0}  {:9.0}  {:6.2}  {:6.2}",
        rate * reports as f64,
        at(0.5),
        at(0.99)
    );
    collector.terminate();
    assert!(collector.wait(Duration::from_secs(30)).success());
}

/// Sends one upload after the other, each as soon as the last is acknowledged.
fn upload(
    address: SocketAddr,
    task: &Task,
    seed: u64,
    reports: usize,
    stop: &AtomicBool,
) -> Vec<Duration> {
    let mut uploads = Uploads::new(task, seed);
    // Randomising is the browsers' work: reports are made once, ids are fresh.
    let mut upload = uploads.make(reports);
    let mut client = Client::connect(address).unwrap();
    let mut latencies = Vec::new();
    let mut number = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        upload.id.0[..8].copy_from_slice(&mix(number ^ (seed << 40)).to_le_bytes());
        let bytes = upload.encode(&task.fingerprint());
        let begin = Instant::now();
        let (status, body) = client.post("bench", &bytes).unwrap();
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
        latencies.push(begin.elapsed());
    }
    latencies
}

/// Spreads ids over the journal as random ones are: splitmix64's finaliser.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Bytes of the files below a directory.
fn size(directory: &Path) -> u64 {
    let of = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => size(&entry.path()),
            false => entry.metadata().unwrap().len(),
        }
    };
    fs::read_dir(directory).unwrap().map(of).sum()
}

/// Times a start on what a row has left behind.
fn restart(data: &Path, reports: usize) {
    let bytes = size(data);
    let begin = Instant::now();
    let mut collector = Collector::spawn(data, &[], &[]);
    let address = collector.address();
    let seconds = begin.elapsed().as_secs_f64();
    let (_, body) = Client::connect(address)
        .unwrap()
        .get("/tasks/bench/estimates?items=0")
        .unwrap();
    let estimates: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let total = estimates["reports"].as_u64().unwrap();
    println!(
        "{reports:14}  {:7}  {:10.1}  {seconds:7.2}  {:9.0}",
        total / reports as u64,
        bytes as f64 / 1e6,
        total as f64 / seconds
    );
}
