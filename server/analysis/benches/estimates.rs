//! Cost of estimates of 2²⁰ items: processor time of a plain query, of shrinkage, of a false discovery
//! rate, and of conditional means. Run it with `cargo bench -p hushbin-analysis --bench estimates`.
//!
//! Counts are drawn, not folded from reports: they are normal around the hit rate of an item that
//! nobody has, and one item in a hundred has more hits. So a million reports cost nothing to make.
//!
//! Processor time is that of all threads, from Linux's `/proc`. Elsewhere it is the time that passes.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};
use std::{env, fs, io};

use hushbin::codec::{append_signed_varint, append_varint};
use hushbin::{Mechanism, Task, TaskDraft};
use hushbin_analysis::estimate::{
    EstimateOptions, EstimateQuery, Estimator, PostProcessingMethod, Totals,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::{Value, json};

/// Number of bytes before the counts in encoded totals of fewer than 128 reports.
const HEADER_BYTES: usize = 18;

fn main() {
    // `cargo test --benches` runs this without `--bench`, only to check that it works.
    let real = env::args().any(|argument| argument == "--bench");
    let items: u32 = if real { 1 << 20 } else { 1 << 10 };
    println!(
        "question             reports    plain s  shrinkage s  false discovery rate s  conditional mean s"
    );
    for (name, draft) in drafts(items) {
        let task: TaskDraft = serde_json::from_value(draft).unwrap();
        let estimator = Estimator::for_task(task.resolve_task().unwrap());
        for reports in [10_000, 1_000_000] {
            let totals = drawn_totals(estimator.task(), reports);
            let seconds = options().map(|options| {
                // Not every mechanism has conditional means.
                let Ok(query) = EstimateQuery::new(estimator.task(), &options) else {
                    return f64::NAN;
                };
                processor_seconds(|| {
                    let estimates = estimator.lazy_estimates(&totals, &query);
                    serde_json::to_writer(io::sink(), &estimates).unwrap();
                })
            });
            let [plain, shrinkage, rate, conditional] = seconds;
            println!(
                "{name:19}  {reports:7}  {plain:9.2}  {shrinkage:11.2}  {rate:22.2}  {conditional:18.2}"
            );
        }
    }
}

/// Returns the tasks to measure, each with the name of its row in the table.
fn drafts(items: u32) -> [(&'static str, Value); 5] {
    let rated = |mechanism: Value| {
        json!({
            "id": "bench", "items": items, "sparsity": 8, "epsilon": 2.0, "value": "sign",
            "mechanism": mechanism,
        })
    };
    let two_point = json!({ "name": "hash-bin", "level": "user", "noise": "two-point" });
    let set = json!({ "name": "set", "kind": "set", "options": items, "sparsity": 8 });
    [
        (
            "set",
            json!({ "id": "bench", "epsilon": 2.0, "questions": [set] }),
        ),
        ("ratings, collision", rated(json!("collision"))),
        (
            "ratings, coco",
            rated(json!({ "name": "coco", "rule": "overwrite" })),
        ),
        ("ratings, strongest", rated(json!("coco"))),
        ("ratings, two-point", rated(two_point)),
    ]
}

/// Returns the options of the queries to measure, in the order of the table.
fn options() -> [EstimateOptions; 4] {
    let plain = EstimateOptions::default();
    let mut shrinkage = plain.clone();
    shrinkage.post_processing_methods = vec![PostProcessingMethod::ShrinkageTowardsZero];
    let mut rate = plain.clone();
    rate.false_discovery_rate = Some(0.1);
    let mut conditional = plain.clone();
    conditional.post_processing_methods = vec![PostProcessingMethod::MeanGivenPresence];
    [plain, shrinkage, rate, conditional]
}

/// Draws totals of `reports` reports.
fn drawn_totals(task: &Task, reports: u64) -> Totals {
    let question = &task.questions()[0];
    let (domain, epsilon) = (question.domain(), question.epsilon());
    let items = domain.item_count().unwrap() as usize;
    let (slots, rate) = match question.mechanism() {
        Mechanism::Collision(own) => (
            own.hit_decoder(&domain).visitable_slot_count(),
            own.hit_probabilities(&domain, epsilon).p_false,
        ),
        Mechanism::Coco(own) if own.pairs_per_function() > 1 => (
            2 * own.hit_decoder(&domain).visitable_slot_count(),
            0.5 * own
                .hit_probabilities(&domain, epsilon)
                .mean_pair_hit_probability,
        ),
        Mechanism::Coco(_) | Mechanism::HashBin(_) => (items, 0.5),
        Mechanism::Window(_) | Mechanism::Pattern(_) => unreachable!("not among the drafts"),
    };
    let empty = Totals::new(task).encode();
    let (header, rest) = empty.split_at(HEADER_BYTES - 1);
    let mut bytes = header.to_vec();
    append_varint(&mut bytes, reports);
    let (mean, deviation) = (
        reports as f64 * rate,
        (reports as f64 * rate * (1.0 - rate)).sqrt(),
    );
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut before = 0;
    for slot in 0..slots {
        let z: f64 = StandardNormal.sample(&mut rng);
        let z = if slot % 100 == 0 { 4.0 * z.abs() } else { z };
        let count = (mean + deviation * z)
            .round()
            .clamp(0.0, 0.5 * reports as f64) as i64;
        append_signed_varint(&mut bytes, count - before);
        before = count;
    }
    // Counts of outcomes and seeds do not matter to estimates, so they stay 0.
    bytes.extend_from_slice(&rest[1 + slots..]);
    Totals::decode(task, &bytes).unwrap()
}

/// Returns the processor time that `work` takes, in seconds.
fn processor_seconds(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    let before = processor_time();
    work();
    let used = processor_time()
        .zip(before)
        .map(|(after, before)| after - before);
    used.unwrap_or_else(|| begin.elapsed()).as_secs_f64()
}

/// Returns the processor time of this process so far. `None` without Linux's `/proc`.
fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // Fields 14 and 15, counted from the name, which may contain spaces; in ticks of 10 ms.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    Some(Duration::from_millis(
        10 * ticks.map_while(|own| own.parse::<u64>().ok()).sum::<u64>(),
    ))
}
