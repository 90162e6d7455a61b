//! Measured errors of the estimates, compared with three references: the best possible mechanism,
//! one hash function with padding, and P1's mechanisms. Also tests for bias. Run with `cargo bench
//! -p hushbin-study --bench accuracy`.
//!
//! Every run and batch has its own seed, so the figures are the same on every machine. Exits with
//! status 1 if a ratio exceeds its limit, or if a bias test has a p-value below 10⁻⁴.

#![allow(clippy::unwrap_used)]

use std::env;
use std::process::ExitCode;

use hushbin::choose::Objective;
use hushbin::{Entry, Randomizer, Task};
use hushbin_analysis::estimate::{Estimand, Totals, point_estimates};
use hushbin_analysis::mechanism_optimality::{DistanceFromBest, distance_from_best};
use hushbin_tests::contest::{Contest, Ratio, over_predicted, task};
use indicatif::ProgressBar;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use serde_json::{Value, json};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

const ITEM_COUNT: u32 = 256;

/// Cases for means: sparsity s, ε, and the upper limit of the ratio to P1's mechanism.
const MEAN_CASES: [(u32, f64, f64); 6] = [
    (16, 0.5, 0.72),
    (64, 0.25, 0.67),
    (64, 1.0, 0.71),
    (16, 1.5, 0.87),
    (64, 2.0, 0.70),
    (16, 3.0, 0.81),
];
const FREQUENCY_CASES: [(u32, f64, f64); 3] = [(16, 0.5, 0.90), (32, 1.0, 0.85), (64, 1.0, 0.73)];

/// Significance level of the bias test.
const SIGNIFICANCE_LEVEL: f64 = 1e-4;

/// Number of people and repetitions.
struct SimulationSize {
    people_per_run: u32,
    run_count: u64,
    /// Batches of people who all have the same input. Hotelling's test needs more batches than
    /// estimates: there are up to 256, and we use more than twice as many.
    batch_count: u64,
    people_per_batch: u32,
}

fn main() -> ExitCode {
    // `cargo test --benches` runs this without `--bench`: then it only has to work.
    let real = env::args().any(|argument| argument == "--bench");
    let effort = if real {
        SimulationSize {
            people_per_run: 20_000,
            run_count: 250,
            batch_count: 2000,
            people_per_batch: 5000,
        }
    } else {
        SimulationSize {
            people_per_run: 50,
            run_count: 2,
            batch_count: 600,
            people_per_batch: 2,
        }
    };
    print_variance_to_bound_ratios();
    let near = check_measured_variances(&effort) & check_predicted_variances(real);
    let close = check_error_ratios_to_baseline(&effort);
    let unbiased = check_unbiasedness(&effort);
    // Without `--bench`, ratios are too noisy to be judged.
    if real && !(near && close && unbiased) {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Checks that every ratio to P1's mechanisms keeps its limit.
fn check_error_ratios_to_baseline(effort: &SimulationSize) -> bool {
    println!(
        "mean squared error against P1, d = {ITEM_COUNT}, {} people",
        effort.people_per_run
    );
    println!("estimated     s     ε  measured  standard error  predicted  limit");
    let means =
        MEAN_CASES.map(|case| ("means", case, Contest::of_means(ITEM_COUNT, case.0, case.1)));
    let frequencies = FREQUENCY_CASES.map(|case| {
        let contest = Contest::of_frequencies(ITEM_COUNT, case.0, case.1);
        ("frequencies", case, contest)
    });
    let mut kept = true;
    for (estimated, (s, epsilon, limit), contest) in means.into_iter().chain(frequencies) {
        let bar = ProgressBar::new(effort.run_count);
        let Ratio {
            measured,
            standard_error,
        } = contest.measure(effort.people_per_run, effort.run_count, || bar.inc(1));
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

/// Numbers of items, sparsities and ε in the table of distances. Rows have a sparsity of at most
/// half of the items.
const PARAMETER_GRID: ([u32; 4], [u32; 6], [f64; 7]) = (
    [16, 64, 256, 1024],
    [1, 2, 4, 8, 16, 64],
    [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0],
);

fn task_distance_from_best(task: &Task, objective: &Objective) -> DistanceFromBest {
    distance_from_best(
        &task.questions()[0].domain(),
        task.questions()[0].mechanism(),
        task.epsilon(),
        objective,
    )
    .expect("what is chosen for an objective in a closed domain is unbiased")
}

/// Returns the variance of the best mechanism with one hash function and padding, divided by the
/// lower bound.
fn single_hash_variance_ratio(
    items: u32,
    sparsity: u32,
    epsilon: f64,
    objective: &Objective,
) -> f64 {
    let plain = |name| json!({ "name": name, "hashes": 1, "hashing": "balanced" });
    let others = [
        plain("coco"),
        plain("collision"),
        json!({ "name": "hash-bin", "level": "user" }),
    ];
    let times = others.iter().filter_map(|mechanism| {
        let task = task(items, sparsity, epsilon, mechanism);
        distance_from_best(
            &task.questions()[0].domain(),
            task.questions()[0].mechanism(),
            epsilon,
            objective,
        )
    });
    let times = times.map(|distance| distance.times_bound);
    times.fold(f64::INFINITY, f64::min)
}

/// Prints two ratios for the chosen mechanism: its variance divided by the lower bound, and its
/// variance divided by the variance of the best mechanism with one hash function.
fn print_variance_to_bound_ratios() {
    let (items, sparsities, epsilons) = PARAMETER_GRID;
    for (name, objective) in [
        ("mean", Objective::MEAN_ONLY),
        ("frequency", Objective::FREQUENCY_ONLY),
    ] {
        println!(
            "\nvariance of every {name}, predicted: over the best known, over what is proven, \
             and over one hash function with paddings"
        );
        print!("   d   s");
        for epsilon in epsilons {
            print!("  {:>16}", format!("ε = {epsilon}"));
        }
        println!();
        let rows: Vec<(u32, u32)> = items
            .iter()
            .flat_map(|&d| sparsities.map(|s| (d, s)))
            .filter(|(d, s)| 2 * s <= *d)
            .collect();
        let chosen = json!({ "name": "auto", "objective": name });
        let found: Vec<Vec<(DistanceFromBest, f64)>> = rows
            .par_iter()
            .map(|&(d, s)| {
                let of = |epsilon| {
                    let distance =
                        task_distance_from_best(&task(d, s, epsilon, &chosen), &objective);
                    let over_plain = distance.times_bound
                        / single_hash_variance_ratio(d, s, epsilon, &objective);
                    (distance, over_plain)
                };
                epsilons.into_iter().map(of).collect()
            })
            .collect();
        for ((d, s), distances) in rows.iter().zip(&found) {
            print!("{d:4}  {s:2}");
            for (distance, over_plain) in distances {
                let DistanceFromBest {
                    times_bound,
                    at_most,
                    ..
                } = distance;
                print!("  {times_bound:5.3} {at_most:5.2} {over_plain:4.2}");
            }
            println!();
        }
        let all: Vec<f64> = found
            .iter()
            .flatten()
            .map(|(distance, _)| distance.times_bound)
            .collect();
        let within = |limit: f64| all.iter().filter(|times| **times <= limit).count();
        println!(
            "of {} cells {} within 1.05, {} within 1.08; the greatest {:.3}",
            all.len(),
            within(1.05),
            within(1.08),
            all.iter().copied().fold(0.0, f64::max),
        );
    }
}

/// Cells of the table that are measured: d, s and ε, each for means and for frequencies.
const MEASURED_CASES: [(u32, u32, f64); 10] = [
    (16, 1, 1.0),
    (16, 2, 2.0),
    (16, 8, 0.5),
    (64, 1, 3.0),
    (64, 4, 1.0),
    (64, 16, 1.5),
    (256, 4, 1.0),
    (256, 16, 0.5),
    (256, 16, 3.0),
    (256, 64, 2.0),
];
/// Number of standard errors above which a deviation fails the check. By chance, one of the twenty
/// cells exceeds 5 standard errors in one run of 10⁵.
const MAX_DEVIATION_IN_STANDARD_ERRORS: f64 = 5.0;

/// Checks that the measured variance of twenty cells matches its prediction.
fn check_measured_variances(effort: &SimulationSize) -> bool {
    println!(
        "\nvariance over the best known, measured, {} people",
        effort.people_per_run
    );
    println!("estimated      d   s     ε  predicted  measured  standard error");
    let mut right = true;
    for (estimated, objective) in [
        ("mean", Objective::MEAN_ONLY),
        ("frequency", Objective::FREQUENCY_ONLY),
    ] {
        for (d, s, epsilon) in MEASURED_CASES {
            let chosen = json!({ "name": "auto", "objective": estimated });
            let task = task(d, s, epsilon, &chosen);
            let times = task_distance_from_best(&task, &objective).times_bound;
            let bar = ProgressBar::new(effort.run_count);
            let measured = over_predicted(
                &task,
                &objective,
                effort.people_per_run,
                effort.run_count,
                || bar.inc(1),
            );
            bar.finish_and_clear();
            let off = (measured.measured - 1.0).abs()
                > MAX_DEVIATION_IN_STANDARD_ERRORS * measured.standard_error;
            right &= !off;
            println!(
                "{estimated:9}  {d:5}  {s:2}  {epsilon:4}  {times:9.4}  {:8.4}  {:14.4}{}",
                times * measured.measured,
                times * measured.standard_error,
                if off { "  OFF" } else { "" },
            );
        }
    }
    right
}

/// Cases measured with ten million reports: d, s, ε and the objective.
const MANY_REPORT_CASES: [(u32, u32, f64, &str); 6] = [
    (16, 8, 1.5, "mean"),
    (64, 8, 1.5, "mean"),
    (256, 2, 1.0, "mean"),
    (256, 16, 2.0, "mean"),
    (64, 4, 1.0, "frequency"),
    (256, 8, 1.0, "frequency"),
];
/// Greatest relative error of a predicted variance.
const MAX_RELATIVE_VARIANCE_ERROR: f64 = 0.01;

/// Checks predicted variances with ten million reports each.
fn check_predicted_variances(real: bool) -> bool {
    let (people, runs) = if real { (2000, 5000) } else { (20, 5) };
    let reports = u64::from(people) * runs;
    println!("\nvariance over what is predicted, {reports} reports");
    println!("estimated      d   s     ε  measured  standard error  mechanism");
    let mut right = true;
    for (d, s, epsilon, estimated) in MANY_REPORT_CASES {
        let objective = match estimated {
            "mean" => Objective::MEAN_ONLY,
            _ => Objective::FREQUENCY_ONLY,
        };
        let task = task(
            d,
            s,
            epsilon,
            &json!({ "name": "auto", "objective": estimated }),
        );
        let bar = ProgressBar::new(runs);
        let Ratio {
            measured,
            standard_error,
        } = over_predicted(&task, &objective, people, runs, || bar.inc(1));
        bar.finish_and_clear();
        let off = (measured - 1.0).abs() > MAX_RELATIVE_VARIANCE_ERROR;
        right &= !off;
        println!(
            "{estimated:9}  {d:5}  {s:2}  {epsilon:4}  {measured:8.4}  {standard_error:14.4}  {}{}",
            serde_json::to_string(task.questions()[0].mechanism()).unwrap(),
            if off { "  OFF" } else { "" },
        );
    }
    right
}

/// Returns mechanisms under every rule or level, including P1's mechanisms.
fn mechanisms_to_test() -> [(Value, &'static [Estimand]); 10] {
    const SIGN_ESTIMANDS: &[Estimand] = &[Estimand::Plus, Estimand::Minus];
    const MEAN_ESTIMAND: &[Estimand] = &[Estimand::Mean];
    const MEAN_AND_NONMISSING_ESTIMANDS: &[Estimand] = &[Estimand::Mean, Estimand::Nonmissing];
    let with = |name, rule, hashing| json!({ "name": name, "rule": rule, "hashing": hashing });
    [
        (with("collision", "heaviest", "balanced"), SIGN_ESTIMANDS),
        (with("collision", "occupied", "balanced"), SIGN_ESTIMANDS),
        (with("collision", "occupied", "independent"), SIGN_ESTIMANDS),
        (with("coco", "strongest", "balanced"), MEAN_ESTIMAND),
        (with("coco", "strongest", "balanced-items"), MEAN_ESTIMAND),
        (
            with("coco", "overwrite", "balanced"),
            MEAN_AND_NONMISSING_ESTIMANDS,
        ),
        (
            with("coco", "overwrite", "independent"),
            MEAN_AND_NONMISSING_ESTIMANDS,
        ),
        (
            json!({ "name": "hash-bin", "level": "event" }),
            MEAN_ESTIMAND,
        ),
        // The clip is at least s in both tests, so nothing is clipped.
        (
            json!({ "name": "hash-bin", "noise": "two-point", "clip": 64 }),
            MEAN_ESTIMAND,
        ),
        (
            json!({ "name": "hash-bin", "noise": "laplace", "clip": 64 }),
            MEAN_ESTIMAND,
        ),
    ]
}

/// Checks that estimates are unbiased for people who all have the same input.
fn check_unbiasedness(effort: &SimulationSize) -> bool {
    let reports = effort.batch_count * u64::from(effort.people_per_batch);
    println!("\nbias, d = {ITEM_COUNT}, ε = 1, {reports} reports of one input");
    println!(
        "mechanism                         s  estimated   of       items  Hotelling's F  chance"
    );
    let mut unbiased = true;
    for (mechanism, estimands) in mechanisms_to_test() {
        for sparsity in [16, 64] {
            let task = task(ITEM_COUNT, sparsity, 1.0, &mechanism);
            let batches = simulate_batches(&task, estimands, effort);
            let words = ["name", "rule", "level", "noise", "hashing"];
            let words = words.map(|key| mechanism[key].as_str());
            let name = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
            for &estimand in estimands {
                for (of, member) in [("members", true), ("others", false)] {
                    let errors: Vec<Vec<f64>> = batches
                        .iter()
                        .map(|batch| batch.errors_of_estimand(estimand, member))
                        .collect();
                    let items = errors[0].len();
                    let (f, chance) = hotelling_t_squared_test(&errors);
                    let biased = chance < SIGNIFICANCE_LEVEL;
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

/// Errors of one batch. Each entry has the estimand, true if the true value differs from 0, and the
/// error.
struct BatchErrors(Vec<(Estimand, bool, f64)>);

impl BatchErrors {
    fn errors_of_estimand(&self, estimand: Estimand, member: bool) -> Vec<f64> {
        let asked = |&&(of, has, _): &&(Estimand, bool, f64)| (of, has) == (estimand, member);
        self.0
            .iter()
            .filter(asked)
            .map(|&(_, _, error)| error)
            .collect()
    }
}

fn simulate_batches(
    task: &Task,
    estimands: &[Estimand],
    effort: &SimulationSize,
) -> Vec<BatchErrors> {
    let step = ITEM_COUNT / task.questions()[0].max_entries_per_report();
    let entries: Vec<Entry> = (0..task.questions()[0].max_entries_per_report())
        .map(|i| Entry {
            item: u64::from(i * step),
            value: if i.is_multiple_of(3) { -1.0 } else { 1.0 },
        })
        .collect();
    let asked: Vec<u64> = (0..u64::from(ITEM_COUNT)).collect();
    let mut values = vec![0.0; ITEM_COUNT as usize];
    for entry in &entries {
        values[entry.item as usize] = entry.value;
    }
    let bar = ProgressBar::new(effort.batch_count);
    let batches = (0..effort.batch_count)
        .into_par_iter()
        .map_init(
            || Randomizer::new(task),
            |randomizer, batch| {
                let mut rng = ChaCha20Rng::seed_from_u64(batch);
                let mut totals = Totals::new(task);
                for _ in 0..effort.people_per_batch {
                    totals.add_report(&randomizer.randomize(&entries, &mut rng).unwrap().report);
                }
                bar.inc(1);
                let mut errors = Vec::new();
                for (points, &value) in point_estimates(task, &totals, &asked).iter().zip(&values) {
                    for &estimand in estimands {
                        let truth = match estimand {
                            Estimand::Mean => value,
                            Estimand::Plus | Estimand::Share => f64::max(value, 0.0),
                            Estimand::Minus => f64::max(-value, 0.0),
                            Estimand::Nonmissing => value.abs(),
                        };
                        let estimate = points.get(estimand).unwrap().estimate;
                        errors.push((estimand, truth != 0.0, estimate - truth));
                    }
                }
                BatchErrors(errors)
            },
        )
        .collect();
    bar.finish_and_clear();
    batches
}

/// Computes Hotelling's T² test that the mean vector is 0. Returns the F statistic and the p-value.
/// The covariance of the coordinates is estimated from the vectors.
fn hotelling_t_squared_test(vectors: &[Vec<f64>]) -> (f64, f64) {
    let (n, p) = (vectors.len(), vectors[0].len());
    let count = n as f64;
    let mean: Vec<f64> = (0..p)
        .map(|i| vectors.iter().map(|v| v[i]).sum::<f64>() / count)
        .collect();
    // Only the lower triangle is stored.
    let mut covariance: Vec<Vec<f64>> = (0..p).map(|i| vec![0.0; i + 1]).collect();
    for vector in vectors {
        let centred: Vec<f64> = vector.iter().zip(&mean).map(|(x, m)| x - m).collect();
        for (i, row) in covariance.iter_mut().enumerate() {
            for (cell, &x) in row.iter_mut().zip(&centred) {
                *cell += centred[i] * x / (count - 1.0);
            }
        }
    }
    let t_squared = count * inverse_quadratic_form(covariance, mean);
    let (n, p) = (count, p as f64);
    // T² is p(n − 1)/(n − p) times an F variable with p and n − p degrees of freedom.
    let f = t_squared * (n - p) / (p * (n - 1.0));
    (f, FisherSnedecor::new(p, n - p).unwrap().sf(f))
}

/// Computes xᵀ·M⁻¹·x by the Cholesky decomposition of M, given its lower triangle.
fn inverse_quadratic_form(mut m: Vec<Vec<f64>>, mut x: Vec<f64>) -> f64 {
    let mut square = 0.0;
    // Forward substitution runs together with the factorisation, one row at a time.
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
