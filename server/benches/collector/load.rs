//! Rates, latencies and costs of uploads. They are compared with a bare handler, which only reads
//! the uploads, in the same run.

use std::slice;
use std::time::Duration;

use hushbin::Task;
use hushbin_tests::process::{Collector, Usage};

use super::Bench;
use super::clients::{Load, LoadResult};
use super::servers::{start_bare_handler, start_collector};

/// Number of measurements of each of the two servers, which take turns.
const ROUNDS: u64 = 3;

/// Measurement of one server in one round: the load that was sent, and the resources used.
pub(crate) struct RoundMeasurement {
    pub(crate) sent: LoadResult,
    used: Usage,
}

impl RoundMeasurement {
    /// Processor time of the server per body, in microseconds.
    pub(crate) fn cpu_microseconds(&self) -> f64 {
        self.used.cpu.as_secs_f64() * 1e6 / self.sent.bodies as f64
    }
}

pub(crate) fn measure(
    server: &Collector,
    load: Load,
    bench: &Bench,
    address: std::net::SocketAddr,
) -> RoundMeasurement {
    measure_tasks(server, load, bench, address, slice::from_ref(&bench.task))
}

/// Measures a server with bodies for several tasks.
pub(crate) fn measure_tasks(
    server: &Collector,
    load: Load,
    bench: &Bench,
    address: std::net::SocketAddr,
    tasks: &[Task],
) -> RoundMeasurement {
    let before = server.usage();
    let sent = load.send(address, tasks, bench.time, u64::MAX);
    RoundMeasurement {
        sent,
        used: server.usage() - before,
    }
}

/// Returns the median of the numbers.
pub(crate) fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = figures.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

pub(crate) fn run(bench: &Bench) {
    println!(
        "connections  reports/upload  server     uploads/s  of bare  p50 ms   p99 ms  CPU µs/upload  \
         memory MB  written/sent"
    );
    for connections in [64, 1000] {
        for reports in [1, 10] {
            compare_with_bare(bench, connections, reports);
        }
    }
}

fn compare_with_bare(bench: &Bench, connections: u64, reports: usize) {
    let data = bench
        .directory
        .path()
        .join(format!("{connections}-{reports}"));
    let mut servers = [
        start_bare_handler(),
        start_collector(&data, &[&bench.task_file]),
    ];
    let addresses = servers.each_mut().map(Collector::address);
    let mut rounds: [Vec<RoundMeasurement>; 2] = Default::default();
    for seed in 0..ROUNDS {
        let load = Load {
            connections,
            uploads: 1,
            reports,
            seed,
        };
        for (own, server) in servers.iter().enumerate() {
            rounds[own].push(measure(server, load, bench, addresses[own]));
        }
    }
    let ratio = |round: usize| {
        rounds[1][round].sent.bodies_per_second() / rounds[0][round].sent.bodies_per_second()
    };
    let of_bare = median((0..rounds[0].len()).map(ratio));
    for (own, name) in ["bare", "collector"].into_iter().enumerate() {
        let all = &rounds[own];
        let of = |figure: &dyn Fn(&RoundMeasurement) -> f64| median(all.iter().map(figure));
        println!(
            "{connections:11}  {reports:14}  {name:9}  {:9.0}  {:7.2}  {:6.2}  {:7.2}  {:13.1}  \
             {:9.1}  {:12.2}",
            of(&|round| round.sent.bodies_per_second()),
            if own == 0 { 1.0 } else { of_bare },
            of(&|round| round.sent.latency_quantile(0.5)),
            of(&|round| round.sent.latency_quantile(0.99)),
            of(&RoundMeasurement::cpu_microseconds),
            servers[own].memory() as f64 / 1e6,
            of(&|round| round.used.written as f64 / round.sent.bytes as f64),
        );
    }
    let [_, mut collector] = servers;
    collector.stop(Duration::from_secs(60));
}
