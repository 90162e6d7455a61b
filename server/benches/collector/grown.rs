//! Upload rates with a large journal, compared with an empty journal in the same run, and growth of
//! the collector's memory with the journal.

use std::fs;
use std::io;
use std::path::Path;
use std::slice;
use std::time::{Duration, Instant};

use super::Bench;
use super::clients::Load;
use super::load::{measure, median};
use super::servers::start_collector;

const ROUNDS: u64 = 5;

pub(crate) fn run(bench: &Bench) {
    let directory = bench.directory.path();
    let [old, empty] = ["old", "empty"].map(|name| directory.join(name));
    let target = bench.environment_number("HUSHBIN_BENCH_BYTES", 1 << 30, 1 << 20);
    let tasks = [bench.task_file.as_path()];
    let mut grown = start_collector(&old, &tasks);
    let address = grown.address();
    let begin = Instant::now();
    println!("journal MB  uploads   seconds  memory MB");
    let (mut seed, mut uploads) = (100, 0);
    let mut shown = 0;
    loop {
        let bytes = directory_size(&old);
        if bytes >= shown {
            println!(
                "{:10.0}  {uploads:8}  {:8.0}  {:9.1}",
                bytes as f64 / 1e6,
                begin.elapsed().as_secs_f64(),
                grown.memory() as f64 / 1e6
            );
            shown = bytes + target / 10;
        }
        if bytes >= target {
            break;
        }
        seed += 1;
        let load = Load {
            connections: 8,
            uploads: 64,
            reports: 10,
            seed,
        };
        uploads += 64
            * load
                .send(
                    address,
                    slice::from_ref(&bench.task),
                    Duration::from_secs(5),
                    2000,
                )
                .bodies;
    }
    let mut fresh = start_collector(&empty, &tasks);
    let addresses = [fresh.address(), address];
    let servers = [fresh, grown];
    let mut rates: [Vec<f64>; 2] = Default::default();
    for round in 0..ROUNDS {
        let load = Load {
            connections: 64,
            uploads: 1,
            reports: 1,
            seed: round,
        };
        for (own, server) in servers.iter().enumerate() {
            rates[own].push(
                measure(server, load, bench, addresses[own])
                    .sent
                    .bodies_per_second(),
            );
        }
    }
    let ratio = median((0..rates[0].len()).map(|round| rates[1][round] / rates[0][round]));
    let [empty, old] = rates.map(|own| median(own.into_iter()));
    println!("uploads/s: empty {empty:.0}, grown {old:.0}, {ratio:.2} of it");
    let [_, mut grown] = servers;
    grown.stop(Duration::from_secs(60));
}

/// Returns the total size in bytes of all files below a directory.
fn directory_size(directory: &Path) -> u64 {
    let of = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        // A file may be deleted meanwhile.
        match entry.metadata() {
            Ok(own) if own.is_dir() => directory_size(&entry.path()),
            Ok(own) => own.len(),
            Err(_) => 0,
        }
    };
    fs::read_dir(directory).unwrap().map(of).sum()
}
