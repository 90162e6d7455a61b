//! What the estimates are worth, measured: errors against P1's mechanisms, and
//! freedom from bias: `cargo bench -p hushbin-server --bench accuracy`.
//!
//! Every run and batch has a seed of its own, so the figures are the same on every
//! machine. Ends with status 1 where a ratio is above its limit, or the chance of
//! a deviation as large is below 10⁻⁴.

#![allow(clippy::unwrap_used)]

use std::env;
use std::process::ExitCode;

use hushbin::{Entry, Randomizer, Task};
use hushbin_analysis::estimate::{Estimand, Totals, points};
use hushbin_tests::contest::{Contest, Ratio, task};
use indicatif::ProgressBar;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use serde_json::{Value, json};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

const ITEMS: u32 = 256;

/// s, ε and the limit of the ratio.
const MEANS: [(u32, f64, f64); 6] = [
    (16, 0.5, 0.72),
    (64, 0.25, 0.67),
    (64, 1.0, 0.71),
    (16, 1.5, 0.87),
    (64, 2.0, 0.70),
    (16, 3.0, 0.81),
];
const FREQUENCIES: [(u32, f64, f64); 3] = [(16, 0.5, 0.90), (32, 1.0, 0.85), (64, 1.0, 0.73)];

/// Below this chance an estimate is called biased.
const LEAST_CHANCE: f64 = 1e-4;

/// How much is measured.
struct Effort {
    people: u32,
    runs: u64,
    /// Of the people who all have the same input. More than twice as many as
    /// there are estimates, whose covariance they show.
    batches: u64,
    batch_people: u32,
}

fn main() -> ExitCode {
    // `cargo test --benches` runs this without `--bench`: then it only has to work.
    let real = env::args().any(|argument| argument == "--bench");
    let effort = if real {
        Effort {
            people: 20_000,
            runs: 250,
            batches: 2000,
            batch_people: 5000,
        }
    } else {
        Effort {
            people: 50,
            runs: 2,
            batches: 600,
            batch_people: 2,
        }
    };
    let close = compare(&effort);
    let unbiased = look_for_bias(&effort);
    // With little effort, numbers mean nothing.
    if real && !(close && unbiased) {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Whether all ratios keep their limits.
fn compare(effort: &Effort) -> bool {
    println!(
        "mean squared error against P1, d = {ITEMS}, {} people",
        effort.people
    );
    println!("estimated     s     ε  measured  standard error  predicted  limit");
    let means = MEANS.map(|case| ("means", case, Contest::of_means(ITEMS, case.0, case.1)));
    let frequencies = FREQUENCIES.map(|case| {
        let contest = Contest::of_frequencies(ITEMS, case.0, case.1);
        ("frequencies", case, contest)
    });
    let mut kept = true;
    for (estimated, (s, epsilon, limit), contest) in means.into_iter().chain(frequencies) {
        let bar = ProgressBar::new(effort.runs);
        let Ratio {
            measured,
            standard_error,
        } = contest.measure(effort.people, effort.runs, || bar.inc(1));
        bar.finish_and_clear();
        let over = measured > limit;
        kept &= !over;
        println!(
            "{estimated:11}  {s:2}  {epsilon:4}  {measured:8.4}  {standard_error:14.4}  {:9.4}  {limit:5.2}{}",
            contest.predicted(),
            if over { "  OVER" } else { "" },
        );
    }
    kept
}

/// The mechanisms with every rule or level, and P1's.
fn mechanisms() -> [(Value, &'static [Estimand]); 9] {
    const SIGNED: &[Estimand] = &[Estimand::Plus, Estimand::Minus];
    const MEAN: &[Estimand] = &[Estimand::Mean];
    const BOTH: &[Estimand] = &[Estimand::Mean, Estimand::Nonmissing];
    let with = |name, rule, hashing| json!({ "name": name, "rule": rule, "hashing": hashing });
    [
        (with("collision", "heaviest", "balanced"), SIGNED),
        (with("collision", "occupied", "balanced"), SIGNED),
        (with("collision", "occupied", "independent"), SIGNED),
        (with("coco", "strongest", "balanced"), MEAN),
        (with("coco", "overwrite", "balanced"), BOTH),
        (with("coco", "overwrite", "independent"), BOTH),
        (json!({ "name": "hash-bin", "level": "event" }), MEAN),
        // Clipped at s of either test or more, so not at all.
        (
            json!({ "name": "hash-bin", "noise": "two-point", "clip": 64 }),
            MEAN,
        ),
        (
            json!({ "name": "hash-bin", "noise": "laplace", "clip": 64 }),
            MEAN,
        ),
    ]
}

/// Whether estimates of people who all have the same input come out at the truth.
fn look_for_bias(effort: &Effort) -> bool {
    let reports = effort.batches * u64::from(effort.batch_people);
    println!("\nbias, d = {ITEMS}, ε = 1, {reports} reports of one input");
    println!(
        "mechanism                         s  estimated   of       items  Hotelling's F  chance"
    );
    let mut unbiased = true;
    for (mechanism, estimands) in mechanisms() {
        for sparsity in [16, 64] {
            let task = task(ITEMS, sparsity, 1.0, &mechanism);
            let batches = batches(&task, estimands, effort);
            let words = ["name", "rule", "level", "noise", "hashing"];
            let words = words.map(|key| mechanism[key].as_str());
            let name = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
            for &estimand in estimands {
                for (of, member) in [("members", true), ("others", false)] {
                    let errors: Vec<Vec<f64>> = batches
                        .iter()
                        .map(|batch| batch.of(estimand, member))
                        .collect();
                    let items = errors[0].len();
                    let (f, chance) = hotelling(&errors);
                    let biased = chance < LEAST_CHANCE;
                    unbiased &= !biased;
                    println!(
                        "{name:31}  {sparsity:2}  {:10}  {of:7}  {items:5}  {f:13.4}  {chance:.4}{}",
                        estimand.as_str(),
                        if biased { "  BIASED" } else { "" },
                    );
                }
            }
        }
    }
    unbiased
}

/// Errors of one batch's estimates, with whether the truth is other than 0.
struct Batch(Vec<(Estimand, bool, f64)>);

impl Batch {
    fn of(&self, estimand: Estimand, member: bool) -> Vec<f64> {
        let asked = |&&(of, has, _): &&(Estimand, bool, f64)| (of, has) == (estimand, member);
        self.0
            .iter()
            .filter(asked)
            .map(|&(_, _, error)| error)
            .collect()
    }
}

fn batches(task: &Task, estimands: &[Estimand], effort: &Effort) -> Vec<Batch> {
    let step = ITEMS / task.sparsity();
    let entries: Vec<Entry> = (0..task.sparsity())
        .map(|i| Entry {
            item: u64::from(i * step),
            value: if i.is_multiple_of(3) { -1.0 } else { 1.0 },
        })
        .collect();
    let asked: Vec<u64> = (0..u64::from(ITEMS)).collect();
    let mut values = vec![0.0; ITEMS as usize];
    for entry in &entries {
        values[entry.item as usize] = entry.value;
    }
    let bar = ProgressBar::new(effort.batches);
    let batches = (0..effort.batches)
        .into_par_iter()
        .map_init(
            || Randomizer::new(task),
            |randomizer, batch| {
                let mut rng = ChaCha20Rng::seed_from_u64(batch);
                let mut totals = Totals::new(task);
                for _ in 0..effort.batch_people {
                    totals.fold(&randomizer.randomize(&entries, &mut rng).unwrap().report);
                }
                bar.inc(1);
                let mut errors = Vec::new();
                for (points, &value) in points(task, &totals, &asked).iter().zip(&values) {
                    for &estimand in estimands {
                        let truth = match estimand {
                            Estimand::Mean => value,
                            Estimand::Plus => f64::max(value, 0.0),
                            Estimand::Minus => f64::max(-value, 0.0),
                            Estimand::Nonmissing => value.abs(),
                        };
                        let estimate = points.get(estimand).unwrap().estimate;
                        errors.push((estimand, truth != 0.0, estimate - truth));
                    }
                }
                Batch(errors)
            },
        )
        .collect();
    bar.finish_and_clear();
    batches
}

/// Hotelling's T² that vectors have the mean 0, as F, and the chance of one at
/// least as large: a χ² over the coordinates that allows for their covariance,
/// which the vectors themselves show.
fn hotelling(vectors: &[Vec<f64>]) -> (f64, f64) {
    let (n, p) = (vectors.len(), vectors[0].len());
    let count = n as f64;
    let mean: Vec<f64> = (0..p)
        .map(|i| vectors.iter().map(|v| v[i]).sum::<f64>() / count)
        .collect();
    // The lower half.
    let mut covariance: Vec<Vec<f64>> = (0..p).map(|i| vec![0.0; i + 1]).collect();
    for vector in vectors {
        let centred: Vec<f64> = vector.iter().zip(&mean).map(|(x, m)| x - m).collect();
        for (i, row) in covariance.iter_mut().enumerate() {
            for (cell, &x) in row.iter_mut().zip(&centred) {
                *cell += centred[i] * x / (count - 1.0);
            }
        }
    }
    let t_squared = count * inverse_square(covariance, mean);
    let (n, p) = (count, p as f64);
    let f = t_squared * (n - p) / (p * (n - 1.0));
    (f, FisherSnedecor::new(p, n - p).unwrap().sf(f))
}

/// xᵀ·M⁻¹·x by Cholesky's decomposition of M, given by its lower half.
fn inverse_square(mut m: Vec<Vec<f64>>, mut x: Vec<f64>) -> f64 {
    let mut square = 0.0;
    for i in 0..x.len() {
        for j in 0..=i {
            let products = (0..j).map(|k| m[i][k] * m[j][k]).sum::<f64>();
            m[i][j] -= products;
            if i == j {
                m[i][i] = m[i][i].sqrt();
            } else {
                m[i][j] /= m[j][j];
            }
        }
        let products = (0..i).map(|k| m[i][k] * x[k]).sum::<f64>();
        x[i] = (x[i] - products) / m[i][i];
        square += x[i] * x[i];
    }
    square
}
