//! Tests of joint processing of many estimates: screening lists, and projection.

use std::collections::HashSet;

use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{
    EstimateOptions, EstimateQuery, Estimates, Estimator, ItemLabel, PostProcessingMethod, Totals,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

const ITEMS: u64 = 200;
/// Number of items with a true effect: the first ones.
const REAL: u64 = 12;
const BATCHES: u64 = 150;

fn task(file: Value) -> Task {
    let draft: TaskDraft = serde_json::from_value(file).unwrap();
    draft.resolve_task().unwrap()
}

fn ratings() -> Task {
    task(json!({ "id": "t", "items": ITEMS, "sparsity": 2, "epsilon": 3.0, "value": "sign" }))
}

fn set() -> Task {
    let question = json!({ "name": "q", "kind": "set", "options": ITEMS, "sparsity": 2 });
    task(json!({ "id": "t", "epsilon": 3.0, "questions": [question] }))
}

/// Returns totals of people with two of the real items each: the first ones more often, odd ones
/// rated down.
fn batch(task: &Task, people: u32, seed: u64) -> Totals {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    let rated = task.questions()[0].domain().is_rated();
    for _ in 0..people {
        let mut draw = || (rng.next_u32() % REAL as u32).min(rng.next_u32() % REAL as u32);
        let items = [draw(), draw()];
        let distinct = &items[..1 + usize::from(items[0] != items[1])];
        let value = |item: u32| if rated && item % 2 == 1 { -1.0 } else { 1.0 };
        let entry = |&item: &u32| Entry {
            item: item.into(),
            value: value(item),
        };
        let entries: Vec<Entry> = distinct.iter().map(entry).collect();
        totals.add_report(
            &randomizer
                .randomize_answers(&[&entries], &mut rng)
                .unwrap()
                .report,
        );
    }
    totals
}

fn ask(task: &Task, totals: &Totals, options: &EstimateOptions) -> Estimates {
    let query = EstimateQuery::new(task, options).unwrap();
    Estimator::for_task(task.clone()).estimates(totals, &query)
}

/// The mean fraction of false discoveries is at most the stated rate, up to 4 standard errors (one
/// of 3·10⁴). Frequent items are listed.
#[test]
fn the_false_discovery_rate_is_kept() {
    for task in [ratings(), set()] {
        for rate in [0.05, 0.3] {
            let options = EstimateOptions {
                false_discovery_rate: Some(rate),
                ..EstimateOptions::default()
            };
            let (mut parts, mut first) = (Vec::new(), 0);
            for seed in 0..BATCHES {
                let found = ask(&task, &batch(&task, 3000, seed), &options)
                    .stand_out
                    .unwrap();
                assert_eq!(found.false_discovery_rate, rate);
                let chance = found
                    .items
                    .iter()
                    .filter(|label| matches!(label, ItemLabel::Index(item) if *item >= REAL));
                parts.push(chance.count() as f64 / found.items.len().max(1) as f64);
                first += u32::from(found.items.contains(&ItemLabel::Index(0)));
            }
            let n = parts.len() as f64;
            let mean = parts.iter().sum::<f64>() / n;
            let variance = parts.iter().map(|part| (part - mean).powi(2)).sum::<f64>() / n;
            assert!(mean < rate + 4.0 * (variance / n).sqrt(), "{rate}: {mean}");
            // The rate is not low because of empty lists.
            assert!(mean > 0.2 * rate, "{rate}: {mean}");
            assert!(f64::from(first) > 0.95 * n, "{rate}: {first}");
        }
    }
}

#[test]
fn what_stands_out_is_listed_once_in_json_and_csv() {
    let task = ratings();
    let options = EstimateOptions {
        false_discovery_rate: Some(0.05),
        ..EstimateOptions::default()
    };
    let totals = batch(&task, 20_000, 1);
    let found = ask(&task, &totals, &options);
    let list = found.stand_out.clone().unwrap();
    assert!(list.items.len() >= 4, "{list:?}");
    let distinct: HashSet<String> = list.items.iter().map(ToString::to_string).collect();
    assert_eq!(distinct.len(), list.items.len());
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["stand_out"]["estimand"], "mean");
    let mut csv = Vec::new();
    found.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(csv.matches(",stands-out,").count(), list.items.len());
    assert_eq!(
        ask(&task, &totals, &EstimateOptions::default()).stand_out,
        None
    );
    for rate in [0.0, 0.6, f64::NAN] {
        let options = EstimateOptions {
            false_discovery_rate: Some(rate),
            ..EstimateOptions::default()
        };
        let error = EstimateQuery::new(&task, &options).unwrap_err().to_string();
        assert!(error.contains("false discovery rate"), "{error}");
    }
}

#[test]
fn answers_are_projected_onto_what_they_sum_to() {
    let choice = json!({ "name": "q", "kind": "choice", "options": 5 });
    let choice = task(json!({ "id": "t", "epsilon": 0.5, "questions": [choice] }));
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut randomizer = Randomizer::new(&choice);
    let mut totals = Totals::new(&choice);
    for _ in 0..20 {
        let answer = [Entry {
            item: 3,
            value: 1.0,
        }];
        totals.add_report(
            &randomizer
                .randomize_answers(&[&answer], &mut rng)
                .unwrap()
                .report,
        );
    }
    let options = EstimateOptions {
        post_processing_methods: vec![
            PostProcessingMethod::MaxSparsityProjection,
            PostProcessingMethod::ExactSparsityProjection,
        ],
        ..EstimateOptions::default()
    };
    let found = serde_json::to_value(ask(&choice, &totals, &options)).unwrap();
    let shares = |member: &str| -> Vec<f64> {
        let items = found["estimates"].as_array().unwrap();
        let share = |item: &Value| item["post_processed"][member]["share"].as_f64().unwrap();
        items.iter().map(share).collect()
    };
    let projected = shares("projected");
    assert!(projected.iter().all(|&share| share >= 0.0), "{projected:?}");
    assert!((projected.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!(projected, shares("fully_projected"));

    let set = set();
    let found = serde_json::to_value(ask(&set, &batch(&set, 50, 1), &options)).unwrap();
    let sum = |member: &str| -> f64 {
        let items = found["estimates"].as_array().unwrap();
        items
            .iter()
            .map(|item| item["post_processed"][member]["share"].as_f64().unwrap())
            .sum()
    };
    assert!(sum("projected") <= 2.0 + 1e-12);
    assert!((sum("fully_projected") - 2.0).abs() < 1e-9);
}
