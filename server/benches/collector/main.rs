//! How fast the collector takes uploads, over real sockets onto a real disk, beside a bare
//! handler that reads the same bodies; how fast it stays when its journal has grown; and how
//! soon it is back after a crash.
//!
//! `cargo bench -p hushbin-server --bench collector -- [load] [grown] [start] [nodes] [sums]`; without
//! names, `load`. `nodes` is one collector over files beside several over a database, `sums` messages of
//! sums through a shuffler beside private reports. Clients and collector share the machine: rates are lower bounds, the CPU of an upload
//! is the collector's own. `HUSHBIN_BENCH_SECONDS` sets the time per row, `HUSHBIN_BENCH_DIR` the
//! disk, `HUSHBIN_BENCH_BYTES` how far a journal is grown, `HUSHBIN_BENCH_REPORTS` how many
//! reports there are at a start.
#![allow(clippy::unwrap_used)]

mod clients;
mod grown;
mod load;
#[cfg(target_os = "linux")]
mod nodes;
mod servers;
mod start;
#[cfg(target_os = "linux")]
mod sums;

use std::env;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use hushbin::Task;
use hushbin_tests::uploads::draft;

/// As large as a data set of clothes that people rated.
const TASK: &str =
    r#"{ "id": "bench", "items": 1378, "sparsity": 6, "epsilon": 2.0, "value": "real" }"#;

/// What is asked of a run.
struct Bench {
    directory: tempfile::TempDir,
    task_file: PathBuf,
    task: Task,
    /// Time of a row.
    time: Duration,
    /// Whether figures are wanted, or only that it works.
    real: bool,
}

impl Bench {
    /// A number of the environment, or one of these.
    fn number(&self, name: &str, real: u64, trial: u64) -> u64 {
        match env::var(name) {
            Ok(text) => text.parse().unwrap(),
            Err(_) if self.real => real,
            Err(_) => trial,
        }
    }
}

fn main() {
    if env::var_os(servers::BARE).is_some() {
        return servers::bare();
    }
    // `cargo test --benches` runs this without `--bench`: then it only has to work.
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
        task: draft(TASK).resolve().unwrap(),
        time: Duration::ZERO,
        real,
    };
    bench.time = Duration::from_millis(bench.number("HUSHBIN_BENCH_SECONDS", 3, 0) * 1000)
        .max(Duration::from_millis(50));
    let asked = |name: &str| match names.is_empty() {
        true => name == "load" || !real,
        false => names.iter().any(|own| own == name),
    };
    if asked("load") {
        load::run(&bench);
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
}
