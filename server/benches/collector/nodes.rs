//! Upload rates of one collector that stores files, compared with one, two and three collectors
//! that share a database. The database has a synchronous standby or none. Collectors, databases and
//! clients share one machine and disk.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use hushbin_tests::postgres::{Pair, Server};
use hushbin_tests::process::Collector;

use super::Bench;
use super::clients::{Load, LoadResult};
use super::load::median;
use super::servers::start_collector_at;

/// Number of measurements of each configuration. The configurations take turns.
const ROUNDS: u64 = 3;

/// Database settings that guarantee that committed data is on disk.
const DURABLE: [&str; 2] = ["fsync=on", "synchronous_commit=on"];

/// Collectors that share a journal, with the database servers that they use.
struct Nodes {
    name: String,
    collectors: Vec<Collector>,
    addresses: Vec<SocketAddr>,
    /// Database server, and its standby if there is one.
    servers: Vec<Server>,
}

impl Nodes {
    fn start(
        bench: &Bench,
        name: &str,
        count: usize,
        (option, place): (&str, &OsStr),
        servers: Vec<Server>,
    ) -> Self {
        let start = |_| start_collector_at(option, place, &[&bench.task_file]);
        let mut collectors: Vec<Collector> = (0..count).map(start).collect();
        let addresses = collectors.iter_mut().map(Collector::address).collect();
        Self {
            name: name.to_owned(),
            collectors,
            addresses,
            servers,
        }
    }

    fn cpu_time(&self) -> Duration {
        let nodes = self.collectors.iter().map(|node| node.usage().cpu);
        nodes.chain(self.servers.iter().map(Server::cpu)).sum()
    }

    /// Sends the load to all collectors at once. Returns the result for each collector, and the CPU
    /// time per upload in microseconds.
    fn measure(&self, bench: &Bench, load: Load) -> (Vec<LoadResult>, f64) {
        let before = self.cpu_time();
        let nodes = self.addresses.len() as u64;
        let sent: Vec<LoadResult> = thread::scope(|scope| {
            let send = |(own, &address): (usize, &SocketAddr)| {
                let load = Load {
                    connections: load.connections / nodes,
                    seed: load.seed * 8 + own as u64,
                    ..load
                };
                scope.spawn(move || {
                    load.send(
                        address,
                        std::slice::from_ref(&bench.task),
                        bench.time,
                        u64::MAX,
                    )
                })
            };
            let sending: Vec<_> = self.addresses.iter().enumerate().map(send).collect();
            sending.into_iter().map(|own| own.join().unwrap()).collect()
        });
        let bodies: u64 = sent.iter().map(|own| own.bodies).sum();
        let uploads = bodies as f64 * load.uploads as f64;
        let cpu = (self.cpu_time() - before).as_secs_f64() * 1e6 / uploads;
        (sent, cpu)
    }
}

pub(crate) fn run(bench: &Bench) {
    println!(
        "connections  uploads/body  journal                  nodes  uploads/s  of files  p50 ms   \
         p99 ms  CPU µs/upload"
    );
    for (connections, uploads) in [(63, 1), (999, 1), (63, 64)] {
        compare_journals(bench, connections, uploads);
    }
}

fn compare_journals(bench: &Bench, connections: u64, uploads: usize) {
    let data = bench
        .directory
        .path()
        .join(format!("nodes-{connections}-{uploads}"));
    let mut all = vec![Nodes::start(
        bench,
        "files",
        1,
        ("--data", data.as_os_str()),
        Vec::new(),
    )];
    for waits in [false, true] {
        for count in 1..=3 {
            let (name, servers) = match waits {
                false => ("database", vec![Server::start(&DURABLE)]),
                true => {
                    let Pair { primary, standby } = Pair::start(&DURABLE);
                    ("database and its standby", vec![primary, standby])
                }
            };
            let address = servers[0].database();
            let place = ("--database", OsStr::new(&address));
            all.push(Nodes::start(bench, name, count, place, servers));
        }
    }
    let mut rounds: Vec<Vec<(Vec<LoadResult>, f64)>> = all.iter().map(|_| Vec::new()).collect();
    for seed in 1..=ROUNDS {
        let load = Load {
            connections,
            uploads,
            reports: 1,
            seed,
        };
        for (nodes, own) in all.iter().zip(&mut rounds) {
            own.push(nodes.measure(bench, load));
        }
    }
    let rate = |round: &(Vec<LoadResult>, f64)| {
        round
            .0
            .iter()
            .map(LoadResult::bodies_per_second)
            .sum::<f64>()
            * uploads as f64
    };
    for (nodes, own) in all.iter().zip(&rounds) {
        let pairs = own.iter().zip(&rounds[0]);
        let of_files = median(pairs.map(|(own, files)| rate(own) / rate(files)));
        let latency = |share: f64| {
            let of = |round: &(Vec<LoadResult>, f64)| {
                let nodes = round.0.iter().map(|own| own.latency_quantile(share));
                nodes.fold(0.0, f64::max)
            };
            median(own.iter().map(of))
        };
        println!(
            "{connections:11}  {uploads:12}  {:23}  {:5}  {:9.0}  {of_files:8.2}  {:6.2}  {:7.2}  {:13.1}",
            nodes.name,
            nodes.collectors.len(),
            median(own.iter().map(rate)),
            latency(0.5),
            latency(0.99),
            median(own.iter().map(|(_, cpu)| *cpu)),
        );
    }
}
