//! Costs of Collision: making a report, decoding one, choosing parameters.

#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hushbin::hash::{Keys, independent_bucket};
use hushbin::mechanism::collision;
use hushbin::{Entry, Mechanism, Randomizer, Report, Task, TaskDraft};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// (d, s, ε) of real and of large tasks.
const TASKS: [(u32, u32, f64); 2] = [(1378, 6, 2.0), (4096, 64, 1.0)];

fn draft(items: u32, sparsity: u32, epsilon: f64) -> TaskDraft {
    let file = serde_json::json!({
        "id": "bench", "items": items, "sparsity": sparsity, "epsilon": epsilon, "value": "sign",
    });
    serde_json::from_value(file).unwrap()
}

fn tasks() -> impl Iterator<Item = (String, Task)> {
    TASKS.into_iter().map(|(items, sparsity, epsilon)| {
        let name = format!("d={items} s={sparsity} e={epsilon}");
        (name, draft(items, sparsity, epsilon).resolve().unwrap())
    })
}

fn entries(task: &Task) -> Vec<Entry> {
    let step = u64::from(task.items().count().unwrap() / task.sparsity());
    let entry = |i: u32| Entry {
        item: u64::from(i) * step,
        value: if i.is_multiple_of(2) { 1.0 } else { -1.0 },
    };
    (0..task.sparsity()).map(entry).collect()
}

fn randomize(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("randomize");
    for (name, task) in tasks() {
        let entries = entries(&task);
        let mut randomizer = Randomizer::new(&task);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        group.throughput(Throughput::Elements(1));
        group.bench_function(name, |bencher| {
            bencher.iter(|| randomizer.randomize(black_box(&entries), &mut rng).unwrap());
        });
    }
    group.finish();
}

/// Folding reports into hit counts: by listing each report's bucket, and by
/// hashing every element as decoders without a balanced hash must.
fn decode(criterion: &mut Criterion) {
    const REPORTS: usize = 256;
    let mut group = criterion.benchmark_group("decode");
    group.throughput(Throughput::Elements(REPORTS as u64));
    for (name, task) in tasks() {
        let Mechanism::Collision(collision) = task.mechanism() else {
            unreachable!()
        };
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let mut report = || collision::Report {
            seed: rng.next_u64(),
            bucket: rng.next_u32() % collision.buckets(),
        };
        let reports: Vec<collision::Report> = (0..REPORTS).map(|_| report()).collect();

        let support = collision.support(&task.domain());
        let mut hits = vec![0u32; support.slots()];
        group.bench_function(BenchmarkId::new("balanced", &name), |bencher| {
            bencher.iter(|| {
                for report in &reports {
                    support.for_each_hit(black_box(report), |slot| hits[slot as usize] += 1);
                }
            });
        });

        let elements = 2 * task.items().count().unwrap();
        let mut hits = vec![0u32; elements as usize];
        group.bench_function(BenchmarkId::new("every element", &name), |bencher| {
            bencher.iter(|| {
                for report in &reports {
                    let keys = Keys::new(black_box(report).seed);
                    for (element, hits) in (0u64..).zip(&mut hits) {
                        let bucket = independent_bucket(&keys, element, collision.buckets());
                        *hits += u32::from(bucket == report.bucket);
                    }
                }
            });
        });
    }
    group.finish();
}

/// Encoding and decoding an upload of one report: what a collector does first.
fn codec(criterion: &mut Criterion) {
    let task = draft(1378, 6, 2.0).resolve().unwrap();
    let report = Report::Collision(collision::Report { seed: 7, bucket: 5 });
    let upload = hushbin::Upload {
        id: hushbin::UploadId([3; 16]),
        reports: vec![report],
    };
    let fingerprint = task.fingerprint();
    let bytes = upload.encode(&fingerprint);
    let mut group = criterion.benchmark_group("upload");
    group.bench_function("encode", |bencher| {
        bencher.iter(|| black_box(&upload).encode(&fingerprint));
    });
    group.bench_function("decode", |bencher| {
        bencher.iter(|| hushbin::Upload::decode(black_box(&bytes), &task).unwrap());
    });
    group.finish();
}

fn choose(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("choose");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(3));
    for (items, sparsity, epsilon) in TASKS {
        let name = format!("d={items} s={sparsity} e={epsilon}");
        let draft = draft(items, sparsity, epsilon);
        group.bench_function(name, |bencher| bencher.iter(|| draft.resolve().unwrap()));
    }
    group.finish();
}

criterion_group!(benches, randomize, decode, codec, choose);
criterion_main!(benches);
