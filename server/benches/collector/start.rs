//! Time until a collector accepts uploads after `kill -9`, and time until it has computed all
//! estimates. Both are measured before and after the collector has counted its reports.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hushbin_tests::process::{Client, Collector, command};
use hushbin_tests::uploads::draft;
use serde_json::Value;

use super::Bench;
use super::clients::Load;
use super::servers::start_collector;

pub(crate) fn run(bench: &Bench) {
    let most = bench.environment_number("HUSHBIN_BENCH_REPORTS", 10_000_000, 20_000);
    let items = if bench.real { 1_000_000 } else { 10_000 };
    let huge = format!(
        r#"{{ "id": "bench", "items": {items}, "sparsity": 6, "epsilon": 2.0, "value": "real" }}"#
    );
    println!("                   before they are counted                counted");
    println!(
        "items    reports   filled s  start s  counted s  livez ms  start s  estimates s  MB answered  livez ms"
    );
    measure_row(bench, super::TASK, 1378, most);
    measure_row(bench, &huge, items, most / 10);
}

fn measure_row(bench: &Bench, json: &str, items: u64, reports: u64) {
    let task = draft(json).resolve_task().unwrap();
    let data = bench.directory.path().join(format!("start-{items}"));
    let file = bench.directory.path().join(format!("start-{items}.json"));
    fs::write(&file, json).unwrap();
    let token = create_token(&data);
    let mut collector = start_collector(&data, &[&file]);
    let address = collector.address();
    let begin = Instant::now();
    let load = Load {
        connections: 8,
        uploads: 16,
        reports: 100,
        seed: 0,
    };
    let bodies = reports / (16 * 100);
    let sent = load.send(
        address,
        std::slice::from_ref(&task),
        Duration::MAX / 4,
        bodies,
    );
    let reports = sent.bodies * 16 * 100;
    let filled = begin.elapsed().as_secs_f64();
    collector.kill();

    let (collector, address, uncounted) = restart_collector(&data, &file);
    let (counted, alive) = run_while_polling(address, || {
        send_request(address, &token, "POST", "batches", 202);
        while released_reports(address, &token) < reports {
            thread::sleep(Duration::from_millis(20));
        }
    });
    collector.kill();
    print!(
        "{items:7}  {reports:8}  {filled:8.1}  {uncounted:7.2}  {counted:9.2}  {:8.1}",
        alive.as_secs_f64() * 1e3
    );

    let (mut collector, address, started) = restart_collector(&data, &file);
    let mut answered = 0;
    let (seconds, alive) = run_while_polling(address, || {
        answered = send_request(address, &token, "GET", "estimates", 200).len();
    });
    println!(
        "  {started:7.2}  {seconds:11.2}  {:11.1}  {:8.1}",
        answered as f64 / 1e6,
        alive.as_secs_f64() * 1e3
    );
    collector.stop(Duration::from_secs(60));
}

/// Starts a collector on existing data, and waits until it is ready. Returns the collector, its
/// address, and the time in seconds until it was ready.
fn restart_collector(data: &Path, file: &Path) -> (Collector, SocketAddr, f64) {
    let begin = Instant::now();
    let mut collector = start_collector(data, &[file]);
    let address = collector.address();
    let mut client = Client::connect(address).unwrap();
    while client.get("/readyz").unwrap().0 != 200 {
        thread::sleep(Duration::from_millis(2));
    }
    (collector, address, begin.elapsed().as_secs_f64())
}

/// Runs `work` while polling `/livez`. Returns the duration of the work in seconds, and the longest
/// response time of `/livez`.
fn run_while_polling(address: SocketAddr, work: impl FnOnce()) -> (f64, Duration) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let alive = scope.spawn(|| {
            let mut client = Client::connect(address).unwrap();
            let mut most = Duration::ZERO;
            while !done.load(Ordering::Relaxed) {
                let begin = Instant::now();
                assert_eq!(client.get("/livez").unwrap().0, 200);
                most = most.max(begin.elapsed());
                thread::sleep(Duration::from_millis(1));
            }
            most
        });
        let begin = Instant::now();
        work();
        let seconds = begin.elapsed().as_secs_f64();
        done.store(true, Ordering::Relaxed);
        (seconds, alive.join().unwrap())
    })
}

/// Creates an admin's token for the journal in the directory `data`.
pub(crate) fn create_token(data: &Path) -> String {
    let mut create = command();
    create.args(["token", "create", "--role", "admin", "--name", "bench"]);
    let output = create.arg("--data").arg(data).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Sends a request about the task, checks that the status is `expected`, and returns the body of
/// the response.
pub(crate) fn send_request(
    address: SocketAddr,
    token: &str,
    method: &str,
    what: &str,
    expected: u16,
) -> Vec<u8> {
    let mut client = Client::connect(address).unwrap();
    client.patience(Duration::from_secs(600));
    let request = format!(
        "{method} /tasks/bench/{what} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-length: 0\r\n\r\n"
    );
    client.write(request.as_bytes()).unwrap();
    let (status, body) = client.read().unwrap();
    assert_eq!(status, expected, "{}", String::from_utf8_lossy(&body));
    body
}

/// Returns the number of reports in released batches.
fn released_reports(address: SocketAddr, token: &str) -> u64 {
    let body = send_request(address, token, "GET", "batches", 200);
    let list: Value = serde_json::from_slice(&body).unwrap();
    let batches = list["batches"].as_array().unwrap().iter();
    let released = batches.filter(|batch| batch["state"] == "released");
    released
        .map(|batch| batch["reports"].as_u64().unwrap())
        .sum()
}
