//! How soon a collector is back after `kill -9`, and how soon it estimates everything.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hushbin_tests::process::{Client, command};
use hushbin_tests::uploads::draft;

use super::Bench;
use super::clients::Load;
use super::servers::start_collector;

pub(crate) fn run(bench: &Bench) {
    let most = bench.number("HUSHBIN_BENCH_REPORTS", 10_000_000, 20_000);
    let items = if bench.real { 1_000_000 } else { 10_000 };
    let huge = format!(
        r#"{{ "id": "bench", "items": {items}, "sparsity": 6, "epsilon": 2.0, "value": "real" }}"#
    );
    println!("items    reports   filled s  start s  estimates s  MB answered  livez ms at most");
    row(bench, super::TASK, 1378, most);
    row(bench, &huge, items, most / 10);
}

fn row(bench: &Bench, json: &str, items: u64, reports: u64) {
    let task = draft(json).resolve().unwrap();
    let data = bench.directory.path().join(format!("start-{items}"));
    let file = bench.directory.path().join(format!("start-{items}.json"));
    fs::write(&file, json).unwrap();
    let token = token(&data);
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
    let sent = load.send(address, &task, Duration::MAX / 4, bodies);
    let filled = begin.elapsed().as_secs_f64();
    collector.kill();

    let begin = Instant::now();
    let mut collector = start_collector(&data, &[&file]);
    let address = collector.address();
    ready(address);
    let started = begin.elapsed().as_secs_f64();
    let done = AtomicBool::new(false);
    let (seconds, answered, waited) = thread::scope(|scope| {
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
        let bytes = estimates(address, &token).unwrap();
        let seconds = begin.elapsed().as_secs_f64();
        done.store(true, Ordering::Relaxed);
        (seconds, bytes, alive.join().unwrap())
    });
    println!(
        "{items:7}  {:8}  {filled:8.1}  {started:7.2}  {seconds:11.2}  {:11.1}  {:16.1}",
        sent.bodies * 16 * 100,
        answered as f64 / 1e6,
        waited.as_secs_f64() * 1e3
    );
    collector.terminate();
    assert!(collector.wait(Duration::from_secs(60)).success());
}

/// Waits until uploads are taken.
fn ready(address: SocketAddr) {
    let mut client = Client::connect(address).unwrap();
    while client.get("/readyz").unwrap().0 != 200 {
        thread::sleep(Duration::from_millis(2));
    }
}

/// Makes an analyst's token.
fn token(data: &Path) -> String {
    let mut create = command();
    create.args(["token", "create", "--role", "analyst", "--name", "bench"]);
    let output = create.arg("--data").arg(data).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Asks for all estimates; the length of the answer.
fn estimates(address: SocketAddr, token: &str) -> io::Result<usize> {
    let mut client = Client::connect(address)?;
    let request = format!(
        "GET /tasks/bench/estimates HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    client.write(request.as_bytes())?;
    let (status, body) = client.read()?;
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    Ok(body.len())
}
