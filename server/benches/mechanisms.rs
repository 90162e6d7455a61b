//! Cost of each mechanism on one core: choosing parameters, randomising one person, and decoding
//! one report. Decoding is compared with a naive version that hashes every item for every report.
//! Mechanisms with several hash functions are compared with mechanisms with one, for a few tasks
//! and for a grid of tasks. Run it with `cargo bench -p hushbin-server --bench mechanisms`.
//!
//! Measurements take turns, each turn is short, and the quickest turn counts. Other work on the
//! machine only slows turns down, and it is unlikely to slow down all turns.

#![allow(clippy::unwrap_used)]

use std::env;
use std::hint::black_box;
use std::time::Instant;

use hushbin::hash::{HashKeys, hashed_closed_element_sign, independent_bucket};
use hushbin::mechanism::hash_bin::RandomisedResponse;
use hushbin::{Entry, Mechanism, Randomizer, Report, Task, TaskDraft};
use hushbin_analysis::estimate::Totals;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

/// Small, realistic and large tasks, each as number of items d, sparsity s, and local ε.
const TASKS: [(u32, u32, f64); 3] = [(256, 1, 1.0), (1378, 6, 2.0), (4096, 64, 1.0)];

/// Tasks for which several hash functions are chosen, each as mechanism, number of items d,
/// sparsity s, and local ε.
const SEVERAL: [(&str, u32, u32, f64); 5] = [
    ("coco", 256, 2, 1.0),
    ("coco", 256, 8, 1.0),
    ("coco", 1024, 8, 2.0),
    ("coco", 1024, 16, 2.0),
    ("collision", 256, 4, 1.0),
];

/// Returns the mechanisms to measure, each with the name of its row in the table. CoCo with one
/// pair is a separate row, since decoding its reports needs only the signs of items.
fn mechanisms() -> [(&'static str, Value); 6] {
    let one_pair = json!({ "name": "coco", "favoured": 1, "buckets": 2 });
    let hash_bin = |level, noise: Option<&str>| {
        let mut draft = json!({ "name": "hash-bin", "level": level });
        if let Some(noise) = noise {
            draft["noise"] = noise.into();
        }
        draft
    };
    [
        ("collision", json!("collision")),
        ("coco", json!("coco")),
        ("coco, one pair", one_pair),
        ("hash-bin, user", hash_bin("user", Some("two-point"))),
        ("  user, Laplace", hash_bin("user", Some("laplace"))),
        ("  event", hash_bin("event", None)),
    ]
}

/// Adds one report to the two counts of each item, by hashing each item separately.
fn fold_naively(mechanism: &Mechanism, report: &Report, counts: &mut [[u64; 2]]) {
    match (mechanism, report) {
        (Mechanism::Collision(collision), Report::Collision(report)) => {
            let function = report.bucket / collision.buckets_per_hash();
            let keys = HashKeys::for_hash_function(report.seed, function);
            let own = report.bucket % collision.buckets_per_hash();
            for (element, count) in (0..).zip(counts.as_flattened_mut()) {
                let bucket = independent_bucket(&keys, element, collision.buckets_per_hash());
                *count += u64::from(bucket == own);
            }
        }
        (Mechanism::Coco(coco), Report::Coco(report)) => {
            let pair = report.bucket / 2;
            let keys = HashKeys::for_hash_function(report.seed, pair / coco.pairs_per_function());
            let minus = report.bucket % 2 == 1;
            for (item, count) in (0..).zip(counts) {
                let hit = coco.pairs_per_function() == 1
                    || independent_bucket(&keys, u64::from(item), coco.pairs_per_function())
                        == pair % coco.pairs_per_function();
                if hit {
                    count[usize::from((hashed_closed_element_sign(&keys, item) < 0) != minus)] += 1;
                }
            }
        }
        (Mechanism::HashBin(hash_bin), Report::HashBin(report)) => {
            let keys = HashKeys::new(report.seed);
            let bins = match &report.response {
                RandomisedResponse::Sign(true) => &[1],
                RandomisedResponse::Sign(false) => &[-1],
                RandomisedResponse::Bins(bins) => &bins[..],
            };
            for (item, count) in (0..).zip(counts) {
                let bin = independent_bucket(&keys, u64::from(item), hash_bin.bin_count());
                let signed =
                    bins[bin as usize] * i64::from(hashed_closed_element_sign(&keys, item));
                // Two's complement modulo 2⁶⁴.
                count[0] = count[0].wrapping_add(signed as u64);
            }
        }
        _ => unreachable!("reports are made by the mechanism"),
    }
}

/// Amount of work in a measurement.
struct Effort {
    turns: usize,
    /// Number of reports that are decoded in a turn. `naive` is that number for the naive version.
    reports: usize,
    naive: usize,
}

fn main() {
    // `cargo test --benches` runs this without `--bench`, only to check that it works.
    let effort = if env::args().any(|argument| argument == "--bench") {
        Effort {
            turns: 300,
            reports: 2048,
            naive: 128,
        }
    } else {
        Effort {
            turns: 1,
            reports: 16,
            naive: 1,
        }
    };
    println!("mechanism        d     s   ε    choose   randomise     decode  naive twin   ratio");
    for (items, sparsity, epsilon) in TASKS {
        for (name, mechanism) in mechanisms() {
            let draft = task_draft(items, sparsity, epsilon, &mechanism);
            let [choose, randomize, decode, naive] = measure_task(&draft, &effort);
            println!(
                "{name:15}  {items:4}  {sparsity:2}  {epsilon:2}  {:5.1} ms  {randomize:7.0} ns {decode:7.1} ns  {naive:7.0} ns  {:5.1}x",
                choose / 1e6,
                naive / decode,
            );
        }
    }
    println!(
        "\nmechanism     d   s   ε    R   randomise     decode   R = 1: randomise     decode   ratio"
    );
    for (name, items, sparsity, epsilon) in SEVERAL {
        let several = task_draft(items, sparsity, epsilon, &json!(name));
        let one = task_draft(
            items,
            sparsity,
            epsilon,
            &json!({ "name": name, "hashes": 1 }),
        );
        let [_, randomize, decode, _] = measure_task(&several, &effort);
        let [_, randomize_by_one, decode_by_one, _] = measure_task(&one, &effort);
        println!(
            "{name:9}  {items:4}  {sparsity:2}  {epsilon:2}  {:3}  {:7.2} µs {decode:7.1} ns          {:7.2} µs {decode_by_one:7.1} ns  {:5.2}x",
            hash_function_count(&several),
            randomize / 1e3,
            randomize_by_one / 1e3,
            decode / decode_by_one,
        );
    }
    compare_over_grid(&Effort {
        turns: effort.turns.div_ceil(10),
        ..effort
    });
}

/// Compares the mechanism chosen by default with a mechanism that has one hash function, for a grid
/// of tasks with few entries. Prints a summary.
fn compare_over_grid(effort: &Effort) {
    let mut randomized = Vec::new();
    let mut decoded = Vec::new();
    for items in [16, 64, 256, 1024] {
        for sparsity in [1, 2, 4, 8, 16].into_iter().filter(|s| 2 * s <= items) {
            for epsilon in [0.5, 1.0, 1.5, 2.0, 3.0] {
                for (objective, name) in [("mean", "coco"), ("frequency", "collision")] {
                    let chosen = json!({ "name": "auto", "objective": objective });
                    let chosen = task_draft(items, sparsity, epsilon, &chosen);
                    let one = json!({ "name": name, "hashing": "balanced", "hashes": 1 });
                    let one = task_draft(items, sparsity, epsilon, &one);
                    let which = format!("d = {items}, s = {sparsity}, ε = {epsilon}, {objective}");
                    let [_, randomize, decode, _] = measure_task(&chosen, effort);
                    let [_, _, decode_by_one, _] = measure_task(&one, effort);
                    randomized.push((randomize / 1e3, which.clone()));
                    decoded.push((decode / decode_by_one, which, decode, decode_by_one));
                }
            }
        }
    }
    randomized.sort_by(|a, b| a.0.total_cmp(&b.0));
    decoded.sort_by(|a, b| a.0.total_cmp(&b.0));
    let tasks = randomized.len();
    let total: f64 = randomized.iter().map(|row| row.0).sum();
    let slow = randomized.iter().filter(|row| row.0 > 3.0).count();
    let [chosen, one] = [
        |row: &DecodingComparison| row.2,
        |row: &DecodingComparison| row.3,
    ]
    .map(|nanoseconds| decoded.iter().map(nanoseconds).sum::<f64>());
    let most = |percent: usize| (tasks * percent / 100).min(tasks - 1);
    println!("\nchosen by default in {tasks} tasks, d from 16 to 1024, s ≤ 16, ε from 0.5 to 3");
    println!(
        "  randomise: {:.2} µs on average, {:.2} at most in 90 per cent; {slow} above 3, up to \
         {:.2} ({})",
        total / tasks as f64,
        randomized[most(90)].0,
        randomized[tasks - 1].0,
        randomized[tasks - 1].1,
    );
    println!(
        "  decode:    {:.2} times what R = 1 takes in all, {:.2} in the middle, {:.2} at most \
         in 90 per cent, up to {:.2} ({})",
        chosen / one,
        decoded[most(50)].0,
        decoded[most(90)].0,
        decoded[tasks - 1].0,
        decoded[tasks - 1].1,
    );
}

/// Decoding times of the chosen mechanism and of the mechanism with one hash function: their ratio,
/// a description of the task, and both times in nanoseconds.
type DecodingComparison = (f64, String, f64, f64);

fn task_draft(items: u32, sparsity: u32, epsilon: f64, mechanism: &Value) -> TaskDraft {
    serde_json::from_value(json!({
        "id": "bench", "items": items, "sparsity": sparsity, "epsilon": epsilon,
        "value": "sign", "mechanism": mechanism,
    }))
    .unwrap()
}

/// Returns the number R of hash functions that is chosen for a task.
fn hash_function_count(draft: &TaskDraft) -> u32 {
    match draft.resolve_task().unwrap().questions()[0].mechanism() {
        Mechanism::Collision(collision) => collision.hash_count(),
        Mechanism::Coco(coco) => coco.hash_count(),
        Mechanism::HashBin(_) | Mechanism::Window(_) | Mechanism::Pattern(_) => 1,
    }
}

/// Measures a task. Returns the times in nanoseconds to choose parameters, to randomise the answer
/// of one person, to decode one report, and to decode one report naively.
fn measure_task(draft: &TaskDraft, effort: &Effort) -> [f64; 4] {
    let task = draft.resolve_task().unwrap();
    let entries = entries(&task);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut randomizer = Randomizer::new(&task);
    let mut reports = Vec::with_capacity(effort.reports);
    let mut totals = Totals::new(&task);
    let mut counts = vec![[0; 2]; task.questions()[0].items().item_count().unwrap() as usize];
    let mut quickest = [f64::INFINITY; 4];
    for _ in 0..effort.turns {
        let choose = nanoseconds_per_run(1, || drop(black_box(draft.resolve_task().unwrap())));
        reports.clear();
        let randomize = nanoseconds_per_run(effort.reports, || {
            reports.extend((0..effort.reports).map(|_| {
                let made = randomizer.randomize(black_box(&entries), &mut rng);
                made.unwrap().report
            }));
        });
        let decode = nanoseconds_per_run(effort.reports, || {
            reports.iter().for_each(|report| totals.add_report(report));
        });
        let naive = nanoseconds_per_run(effort.naive, || {
            let reports = &reports[..effort.naive];
            reports.iter().for_each(|report| {
                fold_naively(task.questions()[0].mechanism(), report, &mut counts);
            });
        });
        black_box(&counts);
        for (least, taken) in quickest.iter_mut().zip([choose, randomize, decode, naive]) {
            *least = taken.min(*least);
        }
    }
    quickest
}

/// Returns the entries of a person who has as many entries as the sparsity of the task.
fn entries(task: &Task) -> Vec<Entry> {
    let step = task.questions()[0].items().item_count().unwrap()
        / task.questions()[0].max_entries_per_report();
    let entry = |i: u32| Entry {
        item: u64::from(i * step),
        value: if i.is_multiple_of(2) { 1.0 } else { -1.0 },
    };
    (0..task.questions()[0].max_entries_per_report())
        .map(entry)
        .collect()
}

fn nanoseconds_per_run(times: usize, work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_nanos() as f64 / times as f64
}
