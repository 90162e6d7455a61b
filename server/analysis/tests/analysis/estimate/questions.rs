//! Tests of shares of answers, for one question and for several, from answers to intervals.

use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{
    Estimand, EstimateOptions, EstimateQuery, Estimates, Estimator, ItemLabel, Totals,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

const BATCHES: u64 = 300;

fn task(epsilon: f64, questions: &Value) -> Task {
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": questions });
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

/// Returns the answers of a person, by question: shares of a third, a sixth and so on.
fn answers(task: &Task, person: u64) -> Vec<Vec<Entry>> {
    let entry = |item: u64, value: f64| Entry { item, value };
    let answer = |question: &hushbin::Question| {
        let items = u64::from(question.items().item_count().unwrap());
        let skewed = [0, 0, 1, 0, 2, 1][person as usize % 6] % items;
        match question.kind().name() {
            "set" => match person % 3 {
                0 => vec![],
                1 => vec![entry(skewed, 1.0)],
                _ => vec![entry(0, 1.0), entry(items - 1, 1.0)],
            },
            "number" => vec![entry(0, [0.25, 1.5, 7.0][person as usize % 3])],
            _ => vec![entry(skewed, 1.0)],
        }
    };
    task.questions().iter().map(answer).collect()
}

/// Returns the true share of each item of a question, with the average share of each level.
fn truth(task: &Task, question: usize, people: u64) -> Vec<f64> {
    let asked = &task.questions()[question];
    let mut shares = vec![0.0; asked.items().item_count().unwrap() as usize];
    for person in 0..people {
        for entry in &answers(task, person)[question] {
            let cell = match asked.kind() {
                hushbin::task::QuestionKind::Number(scale) => {
                    scale.cell_and_next_cell_probability(entry.value).0.into()
                }
                _ => entry.item,
            };
            shares[cell as usize] += 1.0 / people as f64;
        }
    }
    shares
}

fn batch(task: &Task, people: u64, seed: u64) -> Totals {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    for person in 0..people {
        let answers = answers(task, person);
        let slices: Vec<&[Entry]> = answers.iter().map(Vec::as_slice).collect();
        let made = randomizer.randomize_answers(&slices, &mut rng).unwrap();
        totals.add_report(&made.report);
    }
    totals
}

fn query(task: &Task, question: usize) -> EstimateQuery {
    let name = task.questions()[question].name();
    let options = EstimateOptions {
        question_name: Some(name.to_owned()),
        ..EstimateOptions::default()
    };
    EstimateQuery::new(task, &options).unwrap()
}

/// Results of many batches: bias and coverage, for each item and for all items of a batch.
struct Found {
    bias: f64,
    single: f64,
    together: f64,
    /// Ratio of squared errors to the squares of the stated standard errors.
    error: f64,
}

fn found(task: &Task, question: usize, people: u64) -> Found {
    let estimator = Estimator::for_task(task.clone());
    let query = query(task, question);
    let truth = truth(task, question, people);
    let mut sums = vec![[0.0_f64; 2]; truth.len()];
    let (mut single, mut together, mut stated) = (0, 0, 0.0);
    for seed in 0..BATCHES {
        let totals = batch(task, people, seed);
        let estimates = estimator.estimates(&totals, &query).estimates;
        assert_eq!(estimates.len(), truth.len());
        let mut all = true;
        for ((item, truth), sums) in estimates.iter().zip(&truth).zip(&mut sums) {
            let (estimand, estimate) = item.estimates().next().unwrap();
            assert_eq!(estimand, Estimand::Share);
            let holds = |[low, high]: [f64; 2]| (low..=high).contains(truth);
            single += u64::from(holds(estimate.interval));
            all &= holds(estimate.simultaneous_interval);
            let error = estimate.estimate - truth;
            sums[0] += error;
            sums[1] += error * error;
            stated += estimate.standard_error * estimate.standard_error;
        }
        together += u64::from(all);
    }
    let n = BATCHES as f64;
    let items = truth.len() as f64;
    let z = |[sum, squares]: &[f64; 2]| sum / squares.sqrt();
    let squares: f64 = sums.iter().map(|sums| sums[1]).sum();
    Found {
        bias: sums
            .iter()
            .map(z)
            .fold(0.0, |most: f64, z| most.max(z.abs())),
        single: single as f64 / n / items,
        together: together as f64 / n,
        error: squares / stated,
    }
}

/// Single intervals of at least 300 batches cover 95 per cent, with a standard error of 1.3. A bias
/// of 4.5 standard errors happens by chance in one of 10⁵.
///
/// Levels are random, so for given people standard errors are too large rather than too small.
#[test]
fn shares_are_unbiased_and_covered() {
    for (name, question) in [
        (
            "choice",
            json!({ "name": "q", "kind": "choice", "options": 3 }),
        ),
        (
            "many",
            json!({ "name": "q", "kind": "choice", "options": 40 }),
        ),
        ("flag", json!({ "name": "q", "kind": "flag" })),
        (
            "set",
            json!({ "name": "q", "kind": "set", "options": 8, "sparsity": 2 }),
        ),
        (
            "bins",
            json!({ "name": "q", "kind": "number", "edges": [0.0, 1.0, 2.0, 4.0, 8.0] }),
        ),
    ] {
        for (epsilon, people) in [(1.0, 60), (1.0, 1200), (3.0, 600)] {
            let task = task(epsilon, &json!([question]));
            let found = found(&task, 0, people);
            let what = format!("{name}, ε = {epsilon}, n = {people}");
            assert!(found.bias < 4.5, "{what}: {}", found.bias);
            assert!(found.single > 0.94, "{what}: {}", found.single);
            assert!(found.together > 0.92, "{what}: {}", found.together);
            assert!((0.6..1.3).contains(&found.error), "{what}: {}", found.error);
        }
    }
}

/// Several questions: each is answered by some people, and estimated for all.
#[test]
fn each_of_several_questions_is_estimated() {
    let task = task(
        2.0,
        &json!([
            { "name": "theme", "kind": "choice", "options": ["dark", "light", "system"] },
            { "name": "beta", "kind": "flag" },
            { "name": "features", "kind": "set", "options": 6, "sparsity": 2 },
        ]),
    );
    for question in 0..3 {
        let found = found(&task, question, 900);
        let name = task.questions()[question].name();
        assert!(found.bias < 4.5, "{name}: {}", found.bias);
        assert!(found.single > 0.94, "{name}: {}", found.single);
        assert!(found.together > 0.92, "{name}: {}", found.together);
        assert!(
            (0.75..1.3).contains(&found.error),
            "{name}: {}",
            found.error
        );
    }
    let totals = batch(&task, 900, 0);
    let of_each: u64 = (0..3)
        .map(|question| totals.question_report_count(question))
        .sum();
    assert_eq!((of_each, totals.report_count()), (900, 900));
}

#[test]
fn queries_name_a_question_and_its_items() {
    let task = task(
        1.0,
        &json!([
            { "name": "theme", "kind": "choice", "options": ["dark", "light"] },
            { "name": "beta", "kind": "flag" },
        ]),
    );
    let ask = |question: Option<&str>, items: Option<&[&str]>| {
        let names = |items: &[&str]| items.iter().map(ToString::to_string).collect();
        let options = EstimateOptions {
            question_name: question.map(str::to_owned),
            item_names: items.map(names),
            ..EstimateOptions::default()
        };
        EstimateQuery::new(&task, &options)
    };
    let error = |question, items| ask(question, items).unwrap_err().to_string();
    assert!(error(None, None).contains("several questions"));
    assert!(error(Some("colour"), None).contains("no question \"colour\""));
    assert!(error(Some("beta"), Some(&["perhaps"])).contains("no item \"perhaps\""));
    assert_eq!(ask(Some("beta"), Some(&["yes"])).unwrap().items(), [1]);
    let estimator = Estimator::for_task(task.clone());
    let beta = ask(Some("beta"), None).unwrap();
    let found: Estimates = estimator.estimates(&batch(&task, 50, 1), &beta);
    let labels: Vec<&ItemLabel> = found.estimates.iter().map(|item| &item.item).collect();
    let names = ["no", "yes"].map(|name| ItemLabel::Name(name.to_owned()));
    assert_eq!(labels, names.each_ref());
    assert_eq!(found.question.as_deref(), Some("beta"));
    let json = serde_json::to_value(&found).unwrap();
    assert!(
        json["estimates"][1]["share"]["interval"].is_array(),
        "{json}"
    );
}
