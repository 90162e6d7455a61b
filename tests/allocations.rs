//! Tests that randomising does not allocate, once an input of the same length has been seen.
//! Simulations and pages make many reports.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, missing_docs)]

use hushbin::{Entry, Randomizer, Report, Task, TaskDraft};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};

/// Lists tasks of every mechanism, rule and level, closed and open.
fn tasks() -> Vec<Task> {
    let mechanisms = [
        json!({ "name": "collision", "rule": "heaviest" }),
        json!({ "name": "collision", "rule": "heaviest", "favoured": 7, "buckets": 9 }),
        json!({ "name": "collision", "rule": "occupied" }),
        json!({ "name": "coco", "rule": "strongest" }),
        json!({ "name": "coco", "rule": "strongest", "favoured": 5, "buckets": 12 }),
        json!({ "name": "coco", "rule": "overwrite" }),
        json!({ "name": "hash-bin", "level": "event", "bins": 20 }),
        json!({ "name": "hash-bin", "level": "neighbouring", "distance": 1.5, "bins": 20 }),
        json!({ "name": "hash-bin", "level": "user", "noise": "two-point", "clip": 1.5 }),
        json!({ "name": "hash-bin", "level": "user", "noise": "laplace", "clip": 1.5 }),
    ];
    let with = |mechanism: &Value, items: Value, hashing: &str| {
        let mut mechanism = mechanism.clone();
        mechanism["hashing"] = json!(hashing);
        let draft = json!({
            "id": "allocations", "items": items, "sparsity": 6, "epsilon": 1.0, "value": "real",
            "mechanism": mechanism,
        });
        let draft: TaskDraft = serde_json::from_value(draft).unwrap();
        draft.resolve_task().unwrap()
    };
    let each = mechanisms.iter().flat_map(|mechanism| {
        [
            with(mechanism, json!(300), "balanced"),
            with(mechanism, json!(300), "independent"),
            with(mechanism, json!("open"), "independent"),
        ]
    });
    each.collect()
}

/// Lists tasks of 40 numbers, of which 1, 3 or 12 are drawn.
fn numbers() -> [Task; 3] {
    let of: Vec<Value> = (0..40)
        .map(|index| json!({ "name": format!("n{index}"), "min": 0, "max": 2 }))
        .collect();
    [1, 3, 12].map(|drawn| {
        let draft = json!({
            "id": "allocations", "epsilon": 1.0,
            "questions": [{
                "name": "numbers", "kind": "numbers", "of": of,
                "mechanism": { "name": "window", "drawn": drawn },
            }],
        });
        let draft: TaskDraft = serde_json::from_value(draft).unwrap();
        draft.resolve_task().unwrap()
    })
}

/// Lists inputs of no entries, fewer than s, and more, sorted and unsorted.
fn inputs() -> Vec<Vec<Entry>> {
    let entry = |item| Entry {
        item,
        value: [1.0, -0.3, -1.0, 0.7][item as usize % 4],
    };
    let sorted = [0, 1, 5, 6, 40].map(|entries| (0..entries).map(entry).collect());
    let backwards = [5, 40].map(|entries| (0..entries).rev().map(entry).collect());
    [sorted.as_slice(), &backwards].concat()
}

#[test]
fn reports_after_the_first_allocate_nothing() {
    let inputs = inputs();
    for task in tasks() {
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let mut randomizer = Randomizer::new(&task);
        let mut bytes = Vec::with_capacity(1 << 16);
        // The first report of the longest input allocates all buffers.
        let longest = inputs.last().unwrap();
        randomizer
            .randomize_and_encode(&[longest], &mut rng, &mut bytes)
            .unwrap();
        for input in &inputs {
            let mut sampled_down = 0;
            let info = allocation_counter::measure(|| {
                for _ in 0..200 {
                    bytes.clear();
                    let left_out = randomizer.randomize_and_encode(&[input], &mut rng, &mut bytes);
                    sampled_down += u32::from(left_out == Ok(true));
                }
            });
            assert_eq!(info.count_total, 0, "{} entries of {task:?}", input.len());
            match task.questions()[0].mechanism() {
                hushbin::Mechanism::HashBin(_) => assert_eq!(sampled_down, 0),
                _ => assert_eq!(sampled_down > 0, input.len() > 6),
            }
        }
    }
}

#[test]
fn reports_of_numbers_after_the_first_allocate_nothing() {
    let all = inputs().into_iter().filter(|input| input.len() == 40);
    let inputs: Vec<Vec<Entry>> = all.collect();
    assert_eq!(inputs.len(), 2);
    for task in numbers() {
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let mut randomizer = Randomizer::new(&task);
        let mut bytes = Vec::with_capacity(1 << 16);
        // The unsorted input needs the most memory.
        let mut encode = |input: &[Entry]| {
            bytes.clear();
            randomizer.randomize_and_encode(&[input], &mut rng, &mut bytes)
        };
        assert_eq!(encode(&inputs[1]), Ok(false));
        let info = allocation_counter::measure(|| {
            for input in inputs.iter().cycle().take(200) {
                assert_eq!(encode(input), Ok(false));
            }
        });
        assert_eq!(info.count_total, 0, "{task:?}");
    }
}

/// Checks that the counter counts: a new report with bins allocates.
#[test]
fn new_reports_of_bins_are_counted() {
    let mut counted = 0;
    for task in tasks() {
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let mut randomizer = Randomizer::new(&task);
        let info = allocation_counter::measure(|| {
            let made = randomizer.randomize(&[], &mut rng).unwrap();
            let bins = matches!(&made.report, Report::HashBin(report)
                if matches!(report.response, hushbin::mechanism::hash_bin::RandomisedResponse::Bins(_)));
            counted += u32::from(bins);
        });
        let bins = matches!(task.questions()[0].mechanism(), hushbin::Mechanism::HashBin(hash_bin)
            if hash_bin.response_distribution(Some(100), 1.0).noisy_bin_limit().is_some());
        if bins {
            assert!(info.count_total > 0, "{task:?}");
        }
    }
    assert_eq!(counted, 9);
}
