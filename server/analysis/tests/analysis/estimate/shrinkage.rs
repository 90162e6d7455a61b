//! Tests of shrunken estimates against raw ones and against answering 0, through the encoder.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{
    EstimateOptions, EstimateQuery, Estimates, Estimator, ExpectedErrors, PointEstimate,
    PostProcessingMethod, ShrinkageOutcome, ShrinkageRefusal, Totals, shrink_estimates,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../../../www/docs/src/read/post.md");

const EPSILONS: [f64; 3] = [1.0, 2.0, 4.0];
const PEOPLE: [u32; 3] = [300, 2000, 10_000];
const RUNS: u64 = 8;
const SPARSITY: u32 = 3;

/// Relative popularity of an item.
type Popularity = fn(usize) -> f64;

/// Distributions of popularity.
const CROWDS: [(&str, Popularity); 3] = [
    ("few", |item| *[6.0, 3.0, 1.0].get(item).unwrap_or(&0.0)),
    ("even", |_| 1.0),
    ("zipf", |item| 1.0 / (item as f64 + 1.0)),
];

fn questions() -> Vec<(&'static str, usize, Value)> {
    let set = |options| {
        let asked = json!({ "kind": "set", "options": options, "sparsity": SPARSITY });
        ("set", options, asked)
    };
    let choice = |options| {
        (
            "choice",
            options,
            json!({ "kind": "choice", "options": options }),
        )
    };
    let ratings = json!({ "kind": "ratings", "items": 50, "value": "sign", "sparsity": SPARSITY });
    let mut all: Vec<_> = [20, 100, 1000].map(set).into();
    all.extend([4, 10, 30].map(choice));
    all.push(("ratings", 50, ratings));
    all
}

fn task(mut question: Value, epsilon: f64) -> Task {
    question["name"] = json!("q");
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": [question] });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// Returns a person's entries: `SPARSITY` draws, or one for a choice, each item once. Every third
/// item is rated down.
fn answer(kind: &str, up_to: &[f64], rng: &mut ChaCha20Rng) -> Vec<Entry> {
    let draws = if kind == "choice" { 1 } else { SPARSITY };
    let all = up_to[up_to.len() - 1];
    let mut items: Vec<usize> = (0..draws)
        .map(|_| {
            let place = f64::from(rng.next_u32()) / 2_f64.powi(32) * all;
            up_to.partition_point(|sum| *sum <= place)
        })
        .collect();
    items.sort_unstable();
    items.dedup();
    let value = |item: usize| {
        if kind == "ratings" && item % 3 == 2 {
            -1.0
        } else {
            1.0
        }
    };
    let entry = |item: usize| Entry {
        item: item as u64,
        value: value(item),
    };
    items.into_iter().map(entry).collect()
}

/// Sums of squared errors of raw estimates, of 0 and of shrunken estimates, measured and stated.
#[derive(Default, Clone, Copy)]
struct Squares {
    answered: f64,
    measured: [f64; 3],
    stated: [f64; 3],
    /// Numbers of refusals: too few items, no better than 0, worse than raw estimates.
    refused: [u32; 3],
}

impl Squares {
    fn add(&mut self, found: &Estimates, truths: &[f64]) {
        let errors = match found.shrinkage.unwrap() {
            ShrinkageOutcome::Shrunken(errors) => errors,
            ShrinkageOutcome::Refused { refused } => {
                let reasons = [
                    ShrinkageRefusal::FewItems,
                    ShrinkageRefusal::NoBetterThanZero,
                    ShrinkageRefusal::WorseThanRaw,
                ];
                for (count, reason) in self.refused.iter_mut().zip(reasons) {
                    *count += u32::from(refused == reason);
                }
                let mut items = found.estimates.iter();
                assert!(items.all(|own| own.post_processed.shrunken.is_none()));
                return;
            }
        };
        self.answered += 1.0;
        let ExpectedErrors {
            raw_error,
            zero_error,
            shrunken_error,
        } = errors;
        for (sum, error) in self
            .stated
            .iter_mut()
            .zip([raw_error, zero_error, shrunken_error])
        {
            *sum += error * error;
        }
        for (own, truth) in found.estimates.iter().zip(truths) {
            let (_, raw) = own.estimates().next().unwrap();
            let shrunken = own.post_processed.shrunken.unwrap().estimate;
            for (sum, estimate) in (self.measured.iter_mut()).zip([raw.estimate, 0.0, shrunken]) {
                *sum += (estimate - truth).powi(2) / truths.len() as f64;
            }
        }
    }

    /// Returns the root mean square errors: measured and stated.
    fn errors(&self) -> [[f64; 3]; 2] {
        [self.measured, self.stated].map(|all| all.map(|sum| (sum / self.answered).sqrt()))
    }
}

/// Returns the sums by number of people.
fn squares(kind: &str, items: usize, task: &Task, popular: Popularity) -> [Squares; PEOPLE.len()] {
    let up_to: Vec<f64> = (0..items)
        .scan(0.0, |sum, item| {
            *sum += popular(item);
            Some(*sum)
        })
        .collect();
    let options = EstimateOptions {
        post_processing_methods: vec![PostProcessingMethod::ShrinkageTowardsZero],
        ..EstimateOptions::default()
    };
    let query = EstimateQuery::new(task, &options).unwrap();
    let estimator = Estimator::for_task(task.clone());
    let mut squares = [Squares::default(); PEOPLE.len()];
    for seed in 0..RUNS {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut randomizer = Randomizer::new(task);
        let mut totals = Totals::new(task);
        let mut sums = vec![0.0; items];
        for (&people, squares) in PEOPLE.iter().zip(&mut squares) {
            while totals.question_report_count(0) < people.into() {
                let entries = answer(kind, &up_to, &mut rng);
                for entry in &entries {
                    sums[entry.item as usize] += entry.value;
                }
                let made = randomizer.randomize_answers(&[&entries], &mut rng);
                totals.add_report(&made.unwrap().report);
            }
            let truths: Vec<f64> = sums.iter().map(|sum| sum / f64::from(people)).collect();
            squares.add(&estimator.estimates(&totals, &query), &truths);
        }
    }
    squares
}

/// Shrunken estimates err at most 2 per cent more than the better of raw estimates and answering 0,
/// and state the right error. The table is printed with `--nocapture`.
#[test]
fn shrinking_is_no_worse_than_raw_estimates_and_than_none() {
    let mut cells = Vec::new();
    for (kind, items, question) in questions() {
        for epsilon in EPSILONS {
            for crowd in CROWDS {
                cells.push((kind, items, task(question.clone(), epsilon), epsilon, crowd));
            }
        }
    }
    // Tasks with many items take longest.
    cells.sort_by_key(|cell| std::cmp::Reverse(cell.1));
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (kind, items, task, epsilon, (crowd, popular)) = cell;
            let own = squares(kind, *items, task, *popular);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.extend(PEOPLE.into_iter().zip(own).map(|(people, squares)| {
                let name = format!("{kind:7} {items:4} {epsilon} {crowd:4} {people:5}");
                (name, squares)
            }));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    println!("kind, items, ε, crowd, people; answered, refused; measured and stated");
    let (mut worst, mut answered, mut truthful) = (0.0_f64, 0.0, [f64::INFINITY, 0.0]);
    for (name, squares) in &found {
        let Squares {
            answered: own,
            refused,
            ..
        } = squares;
        print!("{name} {own} {refused:?}");
        if *own == 0.0 {
            println!();
            continue;
        }
        let [measured, stated] = squares.errors();
        let [raw, zero, shrunken] = measured;
        let ratio = shrunken / raw.min(zero);
        let said = stated[2] / shrunken;
        println!(" {measured:.4?} {stated:.4?} {ratio:.3} {said:.2}");
        worst = worst.max(ratio);
        answered += own;
        truthful = [truthful[0].min(said), truthful[1].max(said)];
    }
    for (kind, items, _) in questions().into_iter().filter(|(_, items, _)| *items >= 20) {
        let own = |name: &str| {
            name.split_whitespace()
                .take(2)
                .eq([kind, &items.to_string()])
        };
        let own = found.iter().filter(|(name, _)| own(name));
        let own: Vec<&Squares> = own.map(|(_, squares)| squares).collect();
        let answered: f64 = own.iter().map(|squares| squares.answered).sum();
        let mut ratios: Vec<f64> = (own.iter())
            .filter(|squares| squares.answered > 0.0)
            .map(|squares| squares.errors()[0])
            .map(|[raw, zero, shrunken]| shrunken / raw.min(zero))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let [least, median, greatest] =
            [0, ratios.len() / 2, ratios.len() - 1].map(|at| ratios[at]);
        let row = format!(
            "| {kind} of {items} | {answered} | {least:.2} | {median:.2} | {greatest:.2} |"
        );
        assert!(PAGE.contains(&row), "{row}");
    }
    let runs = found.len() as u64 * RUNS;
    println!("{answered} of {runs} answered, worst {worst:.3}, stated {truthful:.2?}");
    assert!(worst < 1.02, "{worst}");
    assert!(truthful[0] > 0.6 && truthful[1] < 2.0, "{truthful:?}");
    // The result is not due to refusals.
    assert!(answered > 0.4 * runs as f64, "{answered} of {runs}");
}

/// Returns noise with some outstanding items, as in a long table.
fn table(items: usize) -> Vec<(PointEstimate, f64)> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut noise = || {
        let uniform = || f64::from(rng.next_u32()) / 2_f64.powi(32);
        std::iter::repeat_with(uniform).take(12).sum::<f64>() - 6.0
    };
    let item = |item: usize| {
        let truth = if item.is_multiple_of(50) { 5.0 } else { 0.0 };
        let point = PointEstimate {
            estimate: 0.01 * (truth + noise()),
            standard_error: 0.01,
        };
        (point, 0.01)
    };
    (0..items).map(item).collect()
}

/// One million items take about a third of a second.
#[test]
fn many_items_are_shrunken_soon() {
    for items in [100_000, 1_000_000] {
        let table = table(items);
        let start = Instant::now();
        let (shrunken, errors) = shrink_estimates(&table).unwrap();
        let took = start.elapsed();
        println!("{items}: {took:?}, {errors:?}");
        assert!(took < Duration::from_secs(5), "{took:?}");
        assert_eq!(shrunken.len(), items);
        assert!((errors.raw_error / 0.01 - 1.0).abs() < 1e-9);
        assert!((errors.zero_error / (0.05 / 50_f64.sqrt()) - 1.0).abs() < 0.03);
        assert!(errors.shrunken_error < 0.6 * errors.zero_error);
    }
}

/// The reason of a refusal is in every format.
#[test]
fn what_is_refused_says_why_in_json_and_csv() {
    let task = task(json!({ "kind": "set", "options": 20, "sparsity": 2 }), 1.0);
    let options = EstimateOptions {
        post_processing_methods: vec![PostProcessingMethod::ShrinkageTowardsZero],
        ..EstimateOptions::default()
    };
    let query = EstimateQuery::new(&task, &options).unwrap();
    let mut totals = Totals::new(&task);
    let estimator = Estimator::for_task(task.clone());
    let found = estimator.estimates(&totals, &query);
    assert_eq!(found.shrinkage, None);

    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut randomizer = Randomizer::new(&task);
    for _ in 0..50 {
        let made = randomizer.randomize_answers(&[&[]], &mut rng);
        totals.add_report(&made.unwrap().report);
    }
    let found = estimator.estimates(&totals, &query);
    let reason = ShrinkageRefusal::NoBetterThanZero.to_string();
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["shrinkage"], json!({ "refused": reason }));
    assert_eq!(json["estimates"][0].get("post_processed"), None);
    let mut csv = Vec::new();
    found.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let line = format!("\n{reason},shrinkage-refused,,,,,,\n");
    assert!(csv.contains(&line), "{csv}");
    assert!(!csv.contains(",shrunken,"), "{csv}");
}
