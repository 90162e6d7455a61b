//! Cost of computing the central privacy of one shuffled batch. The benchmark measures the time and
//! peak memory of the whole command, and the time of one call. The call is compared with a naive
//! version, which computes binomial tails from scratch for every number of informative reports. Run
//! it with `cargo bench -p hushbin-server --bench accounting`.
//!
//! `HUSHBIN_BENCH_RUNS` sets the number of runs of the command.

#![allow(clippy::unwrap_used)]

use std::env;
use std::fs;
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
use hushbin_server::cli::Cli;
use statrs::distribution::{Binomial, Discrete, DiscreteCDF};

const S: u32 = 4;
const T: u32 = 17;
const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-10;
/// Environment variable that turns this program into a child process. The process computes the
/// central privacy of a batch with this number of reports, and prints its peak memory.
const CHILD: &str = "HUSHBIN_BENCH_CHILD";
/// Number of bisection steps of the naive search for ε, which give six decimal places.
const HALVINGS: u32 = 20;

fn main() {
    if let Ok(n) = env::var(CHILD) {
        Cli::parse_from(account_command(n.parse().unwrap()))
            .run(&mut std::io::stdout())
            .unwrap();
        eprint!("{}", peak_kilobytes().unwrap_or_default());
        return;
    }
    // `cargo test --benches` runs this without `--bench`, only to check that it works.
    let real = env::args().any(|argument| argument == "--bench");
    let runs = match env::var("HUSHBIN_BENCH_RUNS") {
        Ok(runs) => runs.parse::<usize>().unwrap().max(1),
        Err(_) if real => 200,
        Err(_) => 2,
    };
    println!("Collision, rule occupied, s = {S}, t = {T}, ε = {EPSILON}, δ = {DELTA:e}");
    println!("whole command, {runs} runs");
    println!(
        "{:>11}  {:>7}  {:>9}  {:>7}",
        "n", "min ms", "median ms", "peak MB"
    );
    for n in [1_000_000, 100_000_000] {
        let mut times: Vec<Duration> = (0..runs).map(|_| time_command(n)).collect();
        times.sort_unstable();
        let (min, median) = (milliseconds(times[0]), milliseconds(times[runs / 2]));
        let peak = peak_megabytes(n).map_or("unknown".into(), |peak| format!("{peak:.2}"));
        println!("{n:>11}  {min:>7.2}  {median:>9.2}  {peak:>7}");
    }

    println!("one call");
    println!(
        "{:>11}  {:>8}  {:>9}  {:>6}",
        "n", "ours ms", "naive ms", "ratio"
    );
    let sizes = if real {
        [1_000_000, 100_000_000]
    } else {
        [1000, 10_000]
    };
    for n in sizes {
        let (ours, naive) = time_calls(n, runs);
        let ratio = naive / ours;
        println!("{n:>11}  {ours:>8.3}  {naive:>9.1}  {ratio:>6.0}");
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn account_command(n: u64) -> Vec<String> {
    let task = format!(
        r#"{{ "id": "bench", "items": 400, "sparsity": {S}, "epsilon": {EPSILON:?}, "value": "sign",
             "mechanism": {{ "name": "collision", "rule": "occupied", "hashing": "balanced",
                            "buckets": {T} }} }}"#
    );
    let path = env::temp_dir().join("hushbin-bench-accounting.json");
    fs::write(&path, task).unwrap();
    let path = path.display();
    let words = format!("hushbin account --task {path} --reports {n} --delta {DELTA}");
    words.split_whitespace().map(str::to_owned).collect()
}

/// Returns the time that the command takes for a batch of `n` reports, as a separate process.
fn time_command(n: u64) -> Duration {
    let mut process = Command::new(env!("CARGO_BIN_EXE_hushbin"));
    process.args(&account_command(n)[1..]).stdout(Stdio::null());
    let begin = Instant::now();
    assert!(process.status().unwrap().success());
    begin.elapsed()
}

/// Returns the peak memory of the command in MiB, from a separate process for `n` reports.
fn peak_megabytes(n: u64) -> Option<f64> {
    let mut child = Command::new(env::current_exe().unwrap());
    let output = child.env(CHILD, n.to_string()).output().unwrap();
    assert!(output.status.success());
    let kilobytes: f64 = String::from_utf8(output.stderr).unwrap().parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Returns the peak memory of this process as Linux reports it, in KiB.
fn peak_kilobytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Returns the minimum times of the call and of the naive version, in milliseconds. Each is
/// repeated for at most about one second.
fn time_calls(n: u64, runs: usize) -> (f64, f64) {
    let collision =
        Collision::new(FavouredBucketRule::Occupied, HashFamily::Independent, T).unwrap();
    let mixture = ReportMixture::for_collision(&collision, S, EPSILON).unwrap();
    let quickest = |most: usize, call: &dyn Fn() -> f64| {
        let (begin, mut best, mut answer) = (Instant::now(), Duration::MAX, f64::NAN);
        for _ in 0..most {
            let turn = Instant::now();
            answer = black_box(call());
            best = best.min(turn.elapsed());
            if begin.elapsed() > Duration::from_secs(1) {
                break;
            }
        }
        (milliseconds(best), answer)
    };
    let (ours, found) = quickest(runs, &|| {
        let found = compute_batch_privacy(black_box(&mixture), n, 1.0, DELTA).unwrap();
        found.reduction_epsilon.unwrap()
    });
    let (naive, close) = quickest(3, &|| naive_central_epsilon(black_box(&mixture), n));
    // Both must give the same result.
    let resolution = EPSILON * 0.5_f64.powi(HALVINGS as i32);
    assert!(
        (found - close).abs() < 1.01 * resolution,
        "{found}, {close}"
    );
    (ours, naive)
}

/// Computes the central ε of a batch of `n` reports by bisection between 0 and the local ε.
fn naive_central_epsilon(mixture: &ReportMixture, n: u64) -> f64 {
    let (mut low, mut high) = (0.0, mixture.epsilon());
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if naive_delta(mixture, n, middle) <= DELTA {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Computes δ from its definition, at the central ε `central`. The sum is over every total number
/// of informative reports within ten standard deviations of the mean. For each total, three
/// binomial tails begin where P − exp(ε)·Q changes its sign. P and Q are the distributions under
/// two inputs.
fn naive_delta(mixture: &ReportMixture, n: u64, central: f64) -> f64 {
    let (e, k) = (mixture.epsilon().exp(), central.exp());
    let (alpha, rest) = (mixture.alpha(), mixture.uninformative_probability());
    let clones = Binomial::new(2.0 * alpha, n - 1).unwrap();
    let mean = 2.0 * alpha * n as f64;
    let reach = 10.0 * (mean * (1.0 - 2.0 * alpha)).sqrt() + 10.0;
    let (first, last) = (
        (mean - reach).max(1.0) as u64,
        ((mean + reach) as u64).min(n - 1),
    );
    let mut delta = 0.0;
    for total in first..=last {
        let t = total as f64;
        let (fewer, same) = (alpha * clones.pmf(total - 1), rest * clones.pmf(total));
        // P − k·Q at a, over C(T, a)/2^T, is linear in a. Its value at 0 and its slope follow.
        let at_zero = 2.0 * fewer * (1.0 - k * e) + same * (1.0 - k);
        let slope = 2.0 * fewer / t * (e - 1.0) * (1.0 + k);
        let from = (-at_zero / slope).ceil().max(1.0) as u64;
        if from > total {
            continue;
        }
        let short = Binomial::new(0.5, total - 1).unwrap();
        // P(X ≥ from) and P(X ≥ from − 1).
        let tail = |x: u64| x.checked_sub(1).map_or(1.0, |below| short.sf(below));
        let (one, other) = (tail(from - 1), tail(from));
        let neither = Binomial::new(0.5, total).unwrap().sf(from - 1);
        let p = fewer * (e * one + other) + same * neither;
        let q = fewer * (one + e * other) + same * neither;
        delta += (p - k * q).max(0.0);
    }
    delta
}
