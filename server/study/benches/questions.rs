//! Measured errors of kinds of question, compared with the same question asked as signed items.
//! Also measures quantiles of page load times. Run with `cargo bench -p hushbin-study --bench
//! questions`.
//!
//! Every run has its own seed, so the figures are the same on every machine. Exits with status 1 if
//! a ratio is more than 3 per cent from its expected value, or if intervals cover too rarely or are
//! too wide.

#![allow(clippy::unwrap_used)]

use std::env;
use std::process::ExitCode;

use hushbin::choose::Objective;
use hushbin::sample::{draw_below, move_random_subset_to_front};
use hushbin::{Entry, Mechanism, Randomizer, Task, TaskDraft, ValueKind};
use hushbin_analysis::estimate::{
    Estimand, EstimateOptions, EstimateQuery, Estimator, NumberEstimates, QuantileEstimate, Totals,
    point_estimates,
};
use hushbin_tests::expectation::Expectation;
use indicatif::ProgressBar;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use serde_json::{Value, json};

fn main() -> ExitCode {
    // `cargo test --benches` runs this without `--bench`: then it only has to work.
    let real = env::args().any(|argument| argument == "--bench");
    let kinds = compare_question_kinds(real);
    let times = check_load_time_quantiles(real);
    if real && !(kinds && times) {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn resolve_task(file: Value) -> Task {
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

fn task_with_question(epsilon: f64, mut question: Value) -> Task {
    question["name"] = json!("q");
    resolve_task(json!({ "id": "t", "epsilon": epsilon, "questions": [question] }))
}

/// Returns the task that asks the same question as items with signs or real values.
fn rating_task(
    items: u32,
    sparsity: u32,
    epsilon: f64,
    value: &str,
    objective: &Objective,
) -> Task {
    let name = if *objective == Objective::MEAN_ONLY {
        "mean"
    } else {
        "frequency"
    };
    resolve_task(json!({
        "id": "t", "items": items, "sparsity": sparsity, "epsilon": epsilon, "value": value,
        "mechanism": { "name": "auto", "objective": name },
    }))
}

/// A task, and the entries that each person of a run answers.
struct SimulatedTask<'a> {
    task: Task,
    draw_entries: &'a (dyn Fn(&mut ChaCha20Rng) -> Vec<Entry> + Sync),
}

/// Number of people in one run.
const PEOPLE_PER_RUN: u32 = 200;

impl SimulatedTask<'_> {
    /// Returns the squared error for one crowd: summed over all shares, or of the mean of one
    /// number.
    fn squared_error_of_run(&self, run: u64) -> f64 {
        let rng = &mut ChaCha20Rng::seed_from_u64(run);
        let question = &self.task.questions()[0];
        let cells = question.items().item_count().unwrap();
        let mut randomizer = Randomizer::new(&self.task);
        let mut totals = Totals::new(&self.task);
        // A number has one entry, item 0, so this holds its mean.
        let mut truth = vec![0.0; cells as usize];
        for _ in 0..PEOPLE_PER_RUN {
            let entries = (self.draw_entries)(rng);
            for entry in &entries {
                truth[entry.item as usize] += entry.value / f64::from(PEOPLE_PER_RUN);
            }
            let made = randomizer.randomize_answers(&[&entries], rng).unwrap();
            totals.add_report(&made.report);
        }
        let items: Vec<u64> = (0..u64::from(cells)).collect();
        let estimand = match question.kind().name() {
            "number" | "numbers" => Estimand::Mean,
            "ratings" if question.coded_value_kind() == ValueKind::Real => Estimand::Mean,
            "ratings" => Estimand::Plus,
            _ => Estimand::Share,
        };
        let found = point_estimates(&self.task, &totals, &items);
        let estimates = found
            .iter()
            .map(|point| point.get(estimand).unwrap().estimate);
        estimates
            .zip(&truth)
            .map(|(estimate, truth)| (estimate - truth).powi(2))
            .sum()
    }

    /// Returns the mean of the error over runs, and the standard error of this mean.
    fn error_mean_and_standard_error(&self, runs: u64, bar: &ProgressBar) -> [f64; 2] {
        let errors: Vec<f64> = (0..runs)
            .into_par_iter()
            .map(|run| {
                bar.inc(1);
                self.squared_error_of_run(run)
            })
            .collect();
        let n = runs as f64;
        let mean = errors.iter().sum::<f64>() / n;
        let variance = errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (n - 1.0);
        [mean, (variance / n).sqrt()]
    }
}

/// Prints one ratio of errors, and checks that it is as expected.
fn check_error_ratio(
    what: &str,
    epsilon: f64,
    ways: [SimulatedTask; 2],
    expected: f64,
    runs: u64,
) -> bool {
    let bar = ProgressBar::new(2 * runs);
    let [ours, theirs] = ways.map(|way| way.error_mean_and_standard_error(runs, &bar));
    bar.finish_and_clear();
    let ratio = ours[0] / theirs[0];
    let error = ratio * (ours[1] / ours[0]).hypot(theirs[1] / theirs[0]);
    let near = (ratio - expected).abs() < 0.03 * expected;
    println!(
        "{what:18} {epsilon:2}  {ratio:8.4}  {error:14.4}  {expected:8.2}{}",
        if near { "" } else { "  OFF" },
    );
    near
}

/// Compares, for each kind of question, the measured ratio of its errors to the errors of signed
/// items with the computed ratio.
fn compare_question_kinds(real: bool) -> bool {
    let runs = if real { 40_000 } else { 3 };
    println!("squared error against the same asked of items with signs, {PEOPLE_PER_RUN} people");
    println!("question            ε  measured  standard error  expected");
    let mut near = true;
    for (options, expected) in [
        (2, [0.33, 0.37, 0.40]),
        (5, [0.72, 0.51, 0.56]),
        (10, [0.88, 0.76, 0.60]),
    ] {
        for (epsilon, expected) in EPSILONS.into_iter().zip(expected) {
            let entries = move |rng: &mut ChaCha20Rng| {
                vec![Entry {
                    item: draw_below(rng, options).into(),
                    value: 1.0,
                }]
            };
            let ours = task_with_question(epsilon, json!({ "kind": "choice", "options": options }));
            let theirs = rating_task(options, 1, epsilon, "sign", &Objective::FREQUENCY_ONLY);
            let ways = [ours, theirs].map(|task| SimulatedTask {
                task,
                draw_entries: &entries,
            });
            near &= check_error_ratio(
                &format!("choice k={options}"),
                epsilon,
                ways,
                expected,
                runs,
            );
        }
    }
    for (options, sparsity, expected) in [(16, 4, [0.75, 0.71]), (40, 3, [0.91, 0.86])] {
        for (epsilon, expected) in EPSILONS.into_iter().zip(expected) {
            let entries = move |rng: &mut ChaCha20Rng| {
                let mut all: Vec<u32> = (0..options).collect();
                move_random_subset_to_front(rng, &mut all, sparsity as usize);
                let entry = |&item: &u32| Entry {
                    item: item.into(),
                    value: 1.0,
                };
                all[..sparsity as usize].iter().map(entry).collect()
            };
            let set = json!({ "kind": "set", "options": options, "sparsity": sparsity });
            let ours = task_with_question(epsilon, set);
            let theirs = rating_task(
                options,
                sparsity,
                epsilon,
                "sign",
                &Objective::FREQUENCY_ONLY,
            );
            let ways = [ours, theirs].map(|task| SimulatedTask {
                task,
                draw_entries: &entries,
            });
            let what = format!("set k={options} s={sparsity}");
            near &= check_error_ratio(&what, epsilon, ways, expected, runs / 4 + 2);
        }
    }
    near & compare_single_number(runs) & compare_several_numbers(runs / 4 + 2)
}

/// Compares several numbers of every person, each at an end of its range. Rates predict both
/// errors.
fn compare_several_numbers(runs: u64) -> bool {
    let mut near = true;
    for attributes in [4, 16] {
        for epsilon in EPSILONS {
            let entries = move |rng: &mut ChaCha20Rng| {
                let end = |rng: &mut ChaCha20Rng| [1.0, -1.0][draw_below(rng, 2) as usize];
                let entry = |item: u64| Entry {
                    item,
                    value: end(rng),
                };
                (0..attributes).map(entry).collect()
            };
            let of = |index| json!({ "name": format!("n{index}"), "min": -1, "max": 1 });
            let of: Vec<Value> = (0..attributes).map(of).collect();
            let ours = task_with_question(epsilon, json!({ "kind": "numbers", "of": of }));
            let d = attributes as u32;
            let theirs = rating_task(d, d, epsilon, "real", &Objective::MEAN_ONLY);
            let predicted = |task: &Task| {
                let question = &task.questions()[0];
                let mut expectation = Expectation::new(question, Estimand::Mean, d).unwrap();
                let ends = (0..attributes).map(|item| Entry { item, value: 1.0 });
                expectation.add(&ends.collect::<Vec<_>>());
                expectation.mean_squared_error()
            };
            let expected = predicted(&ours) / predicted(&theirs);
            let ways = [ours, theirs].map(|task| SimulatedTask {
                task,
                draw_entries: &entries,
            });
            near &= check_error_ratio(
                &format!("numbers d={attributes}"),
                epsilon,
                ways,
                expected,
                runs,
            );
        }
    }
    near
}

const EPSILONS: [f64; 3] = [1.0, 2.0, 4.0];

/// Compares one number at the worst case of each mechanism. With two points the worst case is 0.
fn compare_single_number(runs: u64) -> bool {
    let mut near = true;
    for (epsilon, expected) in EPSILONS.into_iter().zip([1.0, 0.58, 0.16]) {
        let ours = task_with_question(epsilon, json!({ "kind": "number", "min": -1, "max": 1 }));
        let steps = ours.questions()[0].items().item_count().unwrap() - 1;
        let worst = number_with_max_variance(epsilon, steps);
        let all_at = |value: f64| move |_: &mut ChaCha20Rng| vec![Entry { item: 0, value }];
        let (worst_of_ours, middle) = (all_at(worst), all_at(0.0));
        let theirs = rating_task(1, 1, epsilon, "real", &Objective::MEAN_ONLY);
        let ways = [
            SimulatedTask {
                task: ours,
                draw_entries: &worst_of_ours,
            },
            SimulatedTask {
                task: theirs,
                draw_entries: &middle,
            },
        ];
        near &= check_error_ratio("number, mean", epsilon, ways, expected, runs);
    }
    near
}

/// Returns the number in [−1, 1] whose estimate has the greatest variance, for a grid with
/// `steps` steps.
fn number_with_max_variance(epsilon: f64, steps: u32) -> f64 {
    let r = f64::from(steps);
    // With probability `drawn` a report is uniform over all levels.
    let drawn = (r + 1.0) / (epsilon.exp() + r);
    let variance = |x: f64| {
        let place = (x + 1.0) / 2.0 * r;
        let part = place - place.floor();
        let rounding = 4.0 / (r * r) * part * (1.0 - part);
        let kept = 1.0 - drawn;
        (kept * (x * x + rounding) + drawn * (r + 2.0) / (3.0 * r)) / (kept * kept) - x * x
    };
    let numbers = (0..=200).map(|step| f64::from(step) / 100.0 - 1.0);
    numbers
        .max_by(|&a, &b| variance(a).total_cmp(&variance(b)))
        .unwrap()
}

/// Page load times are log-normal: the median is 1.2 s, and 95 per cent are below 3.2 s.
const MEDIAN_LOAD_TIME_MS: f64 = 1200.0;
const LOG_LOAD_TIME_DEVIATION: f64 = 0.6;

fn draw_load_time(rng: &mut ChaCha20Rng) -> f64 {
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    // Box–Muller transform. The argument 1 − uniform is never 0.
    let (radius, angle) = ((1.0 - uniform()).ln(), uniform());
    let normal = (-2.0 * radius).sqrt() * (std::f64::consts::TAU * angle).cos();
    MEDIAN_LOAD_TIME_MS * (LOG_LOAD_TIME_DEVIATION * normal).exp()
}

/// Checks that quantiles lie inside the 95 per cent intervals in at least 93 of 100 runs. The
/// median's interval must be at most 5 per cent wider than computed.
fn check_load_time_quantiles(real: bool) -> bool {
    let (people, runs) = if real { (100_000, 100) } else { (500, 2) };
    println!(
        "load times of {people} people, log-normal: quantiles inside their 95 per cent intervals"
    );
    println!("ε  part  inside  of runs  error, ms  half width, ms  worked out");
    let mut good = true;
    for epsilon in [1.0, 2.0] {
        let task = task_with_question(
            epsilon,
            json!({
                "kind": "number", "want": "quantiles", "unit": "ms",
                "min": 100, "max": 30000, "spacing": "logarithmic",
            }),
        );
        let bar = ProgressBar::new(runs);
        let found: Vec<(Vec<f64>, NumberEstimates)> = (0..runs)
            .into_par_iter()
            .map(|run| {
                let found = true_and_estimated_quantiles(&task, people, run);
                bar.inc(1);
                found
            })
            .collect();
        bar.finish_and_clear();
        for (place, part) in EstimateOptions::DEFAULT_QUANTILES.into_iter().enumerate() {
            let of_run = |(truths, number): &(Vec<f64>, NumberEstimates)| {
                (truths[place], number.quantiles[place])
            };
            let runs: Vec<(f64, QuantileEstimate)> = found.iter().map(of_run).collect();
            let inside = runs.iter().filter(|(truth, quantile)| {
                let [low, high] = quantile.interval;
                (low..=high).contains(truth)
            });
            let inside = inside.count();
            let n = runs.len() as f64;
            let width = |quantile: &QuantileEstimate| quantile.interval[1] - quantile.interval[0];
            let half = runs
                .iter()
                .map(|(_, quantile)| width(quantile))
                .sum::<f64>()
                / n
                / 2.0;
            let squares = runs
                .iter()
                .map(|(truth, quantile)| (quantile.estimate - truth).powi(2));
            let error = (squares.sum::<f64>() / n).sqrt();
            let expected = expected_interval_half_width(&task, part, f64::from(people));
            let off = inside < 93 * runs.len() / 100 || part == 0.5 && half > 1.05 * expected;
            good &= !off;
            println!(
                "{epsilon}  {part:.2}  {inside:6}  {:7}  {error:9.1}  {half:14.1}  {expected:10.1}{}",
                runs.len(),
                if off { "  OFF" } else { "" },
            );
        }
    }
    good
}

/// True quantiles of a run's people, and the estimates from the reports.
fn true_and_estimated_quantiles(task: &Task, people: u32, run: u64) -> (Vec<f64>, NumberEstimates) {
    let rng = &mut ChaCha20Rng::seed_from_u64(run);
    let mut times: Vec<f64> = (0..people).map(|_| draw_load_time(rng)).collect();
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    for &value in &times {
        let answer = [Entry { item: 0, value }];
        totals.add_report(
            &randomizer
                .randomize_answers(&[&answer], rng)
                .unwrap()
                .report,
        );
    }
    times.sort_by(f64::total_cmp);
    let truth = |part: f64| times[(part * f64::from(people)) as usize];
    let query = EstimateQuery::new(task, &EstimateOptions::default()).unwrap();
    let answer = Estimator::for_task(task.clone()).estimates(&totals, &query);
    (
        EstimateOptions::DEFAULT_QUANTILES.map(truth).to_vec(),
        answer.number.unwrap(),
    )
}

/// Computes 1.96 standard errors of the distribution function, divided by the density.
fn expected_interval_half_width(task: &Task, part: f64, people: f64) -> f64 {
    let question = &task.questions()[0];
    let Mechanism::Collision(own) = question.mechanism() else {
        unreachable!("bins are asked by Collision")
    };
    let rates = own.hit_probabilities(&question.domain(), question.epsilon());
    let hushbin::task::QuestionKind::Number(scale) = question.kind() else {
        unreachable!()
    };
    // ln(time) is normal, so the quantile of the time is the exponential of a normal quantile.
    let normal = statrs::distribution::Normal::standard();
    let z = statrs::distribution::ContinuousCDF::inverse_cdf(&normal, part);
    let time = MEDIAN_LOAD_TIME_MS * (LOG_LOAD_TIME_DEVIATION * z).exp();
    let density =
        statrs::distribution::Continuous::pdf(&normal, z) / LOG_LOAD_TIME_DEVIATION / time;
    let (cell, _) = scale.cell_and_next_cell_probability(time);
    let variance = part * rates.answer_set_variance(cell + 1, true)
        + (1.0 - part) * rates.answer_set_variance(cell + 1, false);
    1.96 * (variance / people).sqrt() / density
}
