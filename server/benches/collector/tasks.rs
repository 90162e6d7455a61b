//! Upload rates of a collector with many tasks, and with dashboards that poll. They are compared
//! with one task, and with the bare handler, in the same run.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hushbin::Task;
use hushbin_tests::process::{Client, Collector};
use hushbin_tests::uploads::draft;

use super::clients::Load;
use super::load::{RoundMeasurement, measure_tasks, median};
use super::servers::{start_bare_handler, start_collector};
use super::start::{create_token, send_request};
use super::{Bench, TASK};

const ROUNDS: u64 = 3;
const CONNECTIONS: u64 = 64;
const DASHBOARDS: u64 = 50;
/// Time between two requests of a dashboard, a tenth of that of the built-in dashboard.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A server, the tasks that it is measured with, and the results.
struct Row {
    name: String,
    server: Collector,
    address: SocketAddr,
    tasks: Vec<Task>,
    /// Token with which dashboards poll, if they do.
    token: Option<String>,
    rounds: Vec<RoundMeasurement>,
}

pub(crate) fn run(bench: &Bench) {
    let most = bench.environment_number("HUSHBIN_BENCH_TASKS", 1000, 5);
    let mut bare = start_bare_handler();
    let mut rows = vec![Row {
        name: "bare".to_owned(),
        address: bare.address(),
        server: bare,
        tasks: bench_tasks(1),
        token: None,
        rounds: Vec::new(),
    }];
    for count in [1, 10.min(most), most] {
        rows.push(start_row(bench, &format!("{count} tasks"), count));
    }
    let mut polled = start_row(bench, &format!("{DASHBOARDS} dashboards"), 1);
    polled.token = Some(release_batch(bench, &polled));
    rows.push(polled);
    for seed in 1..=ROUNDS {
        for row in &mut rows {
            let measured = measure_row(bench, row, seed);
            row.rounds.push(measured);
        }
    }
    println!("server           uploads/s  of bare  p50 ms   p99 ms  CPU µs/upload");
    let rates = |row: &Row| -> Vec<f64> {
        let rounds = row.rounds.iter();
        rounds.map(|round| round.sent.bodies_per_second()).collect()
    };
    let bare = rates(&rows[0]);
    for row in &rows {
        let of = |figure: &dyn Fn(&RoundMeasurement) -> f64| median(row.rounds.iter().map(figure));
        let own = rates(row);
        println!(
            "{:15}  {:9.0}  {:7.2}  {:6.2}  {:7.2}  {:13.1}",
            row.name,
            median(own.iter().copied()),
            median(own.iter().zip(&bare).map(|(own, bare)| own / bare)),
            of(&|round| round.sent.latency_quantile(0.5)),
            of(&|round| round.sent.latency_quantile(0.99)),
            of(&RoundMeasurement::cpu_microseconds),
        );
    }
}

/// Returns tasks that differ only in their ids.
fn bench_tasks(count: u64) -> Vec<Task> {
    let ids = (0..count).map(|number| match number {
        0 => "bench".to_owned(),
        _ => format!("bench-{number}"),
    });
    ids.map(|id| {
        draft(&TASK.replacen("bench", &id, 1))
            .resolve_task()
            .unwrap()
    })
    .collect()
}

/// Starts a collector with `count` tasks, and prints how long a start and a restart take.
fn start_row(bench: &Bench, name: &str, count: u64) -> Row {
    let directory = bench.directory.path().join(name.replace(' ', "-"));
    fs::create_dir(&directory).unwrap();
    let tasks = bench_tasks(count);
    for task in &tasks {
        let file = directory.join(format!("{}.json", task.id()));
        fs::write(file, TASK.replacen("bench", task.id(), 1)).unwrap();
    }
    let data = bench.directory.path().join(format!("{name} data"));
    let start = |tasks: &[&Path]| {
        let begin = Instant::now();
        let mut server = start_collector(&data, tasks);
        let address = server.address();
        (server, address, begin.elapsed().as_secs_f64())
    };
    let (mut server, _, first) = start(&[&directory]);
    server.stop(Duration::from_secs(60));
    let (server, address, again) = start(&[]);
    println!("{name}: first start {first:.2} s, restart {again:.2} s");
    Row {
        name: name.to_owned(),
        server,
        address,
        tasks,
        token: None,
        rounds: Vec::new(),
    }
}

/// Fills and releases a batch. Returns the token with which its estimates can be read.
fn release_batch(bench: &Bench, row: &Row) -> String {
    let data = bench.directory.path().join(format!("{} data", row.name));
    let token = create_token(&data);
    let load = Load {
        connections: 8,
        uploads: 8,
        reports: 10,
        seed: 900,
    };
    load.send(row.address, &row.tasks, Duration::from_secs(60), 20);
    send_request(row.address, &token, "POST", "batches", 202);
    let released = || {
        let batches = send_request(row.address, &token, "GET", "batches", 200);
        String::from_utf8(batches).unwrap().contains("\"released\"")
    };
    while !released() {
        thread::sleep(Duration::from_millis(10));
    }
    token
}

/// Measures a row, while its dashboards poll.
fn measure_row(bench: &Bench, row: &Row, seed: u64) -> RoundMeasurement {
    let load = Load {
        connections: CONNECTIONS,
        uploads: 1,
        reports: 1,
        seed,
    };
    let (done, polls) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let dashboards = row
            .token
            .iter()
            .flat_map(|token| (0..DASHBOARDS).map(move |_| token));
        for (number, token) in (0_u32..).zip(dashboards) {
            let (done, polls) = (&done, &polls);
            scope.spawn(move || {
                // Dashboards are opened at different times.
                thread::sleep(POLL_INTERVAL * number / DASHBOARDS as u32);
                let mut client = Client::connect(row.address).unwrap();
                let request = format!(
                    "GET /tasks/bench/estimates HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {token}\r\n\r\n"
                );
                while !done.load(Ordering::Relaxed) {
                    client.write(request.as_bytes()).unwrap();
                    assert_eq!(client.read().unwrap().0, 200);
                    polls.fetch_add(1, Ordering::Relaxed);
                    let next = Instant::now() + POLL_INTERVAL;
                    while Instant::now() < next && !done.load(Ordering::Relaxed) {
                        thread::sleep(Duration::from_millis(10));
                    }
                }
            });
        }
        let measured = measure_tasks(&row.server, load, bench, row.address, &row.tasks);
        done.store(true, Ordering::Relaxed);
        measured
    })
}
