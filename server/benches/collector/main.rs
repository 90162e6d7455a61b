//! Speed of the collector, over real sockets and on a real disk. The benchmark measures the rate of
//! uploads, also with a large journal, and the time to restart after a crash. Rates are compared
//! with those of a bare handler, which only reads the request bodies.
//!
//! `cargo bench -p hushbin-server --bench collector -- [load] [tasks] [grown] [start] [nodes] [sums]
//! [shuffle]`; the default is `load`. `nodes` compares one collector that stores files with several
//! collectors that share a database. `sums` compares messages of shuffled sums with locally private reports.
//! `shuffle` measures a shuffler alone.
//!
//! Clients and collector share the machine, so rates are lower bounds. The CPU time per upload is
//! that of the collector, without the clients.
//!
//! `HUSHBIN_BENCH_SECONDS` sets the time per row, `HUSHBIN_BENCH_DIR` the directory for data,
//! `HUSHBIN_BENCH_BYTES` the size of the grown journal, `HUSHBIN_BENCH_REPORTS` the number of
//! reports at a start, and `HUSHBIN_BENCH_MESSAGES` the number of messages to shuffle.
#![allow(clippy::unwrap_used)]

mod clients;
mod grown;
mod load;
#[cfg(target_os = "linux")]
mod nodes;
mod servers;
#[cfg(target_os = "linux")]
mod shuffle;
mod start;
#[cfg(target_os = "linux")]
mod sums;
mod tasks;

use std::env;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use hushbin::Task;
use hushbin_tests::uploads::draft;

/// Task as large as a published data set in which people rated clothes.
const TASK: &str =
    r#"{ "id": "bench", "items": 1378, "sparsity": 6, "epsilon": 2.0, "value": "real" }"#;

/// Settings of a run of the benchmark.
struct Bench {
    directory: tempfile::TempDir,
    task_file: PathBuf,
    task: Task,
    /// Measuring time for each row of a printed table.
    time: Duration,
    /// True to measure, false to check only that the benchmark works.
    real: bool,
}

impl Bench {
    /// Returns the number in an environment variable. If the variable is missing, returns `real`
    /// when measuring and `trial` otherwise.
    fn environment_number(&self, name: &str, real: u64, trial: u64) -> u64 {
        match env::var(name) {
            Ok(text) => text.parse().unwrap(),
            Err(_) if self.real => real,
            Err(_) => trial,
        }
    }
}

fn main() {
    if env::var_os(servers::BARE).is_some() {
        return servers::run_bare_handler();
    }
    // `cargo test --benches` runs this without `--bench`, only to check that it works.
    let real = env::args().any(|argument| argument == "--bench");
    let names: Vec<String> = env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let parent = env::var_os("HUSHBIN_BENCH_DIR").map_or_else(env::temp_dir, PathBuf::from);
    let directory = tempfile::tempdir_in(parent).unwrap();
    let task_file = directory.path().join("task.json");
    fs::write(&task_file, TASK).unwrap();
    let mut bench = Bench {
        directory,
        task_file,
        task: draft(TASK).resolve_task().unwrap(),
        time: Duration::ZERO,
        real,
    };
    bench.time =
        Duration::from_millis(bench.environment_number("HUSHBIN_BENCH_SECONDS", 3, 0) * 1000)
            .max(Duration::from_millis(50));
    let asked = |name: &str| match names.is_empty() {
        true => name == "load" || !real,
        false => names.iter().any(|own| own == name),
    };
    if asked("load") {
        load::run(&bench);
    }
    if asked("tasks") {
        tasks::run(&bench);
    }
    if asked("grown") {
        grown::run(&bench);
    }
    if asked("start") {
        start::run(&bench);
    }
    #[cfg(target_os = "linux")]
    if asked("nodes") {
        nodes::run(&bench);
    }
    #[cfg(target_os = "linux")]
    if asked("sums") {
        sums::run(&bench);
    }
    #[cfg(target_os = "linux")]
    if asked("shuffle") {
        shuffle::run(&bench);
    }
}
