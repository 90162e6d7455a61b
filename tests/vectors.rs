//! Reference numbers computed independently of this project.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::PathBuf;

use hushbin::Task;
use hushbin::TaskDraft;
use hushbin::hash::{Balanced, Keys, closed_sign, closed_sign_word, independent_bucket, open_sign};
use hushbin::mechanism::Mechanism;
use serde_json::{Value, json};

/// The rows of a file of reference numbers, which lie beside the project where
/// it is developed; elsewhere, `None`.
fn rows(name: &str) -> Option<Vec<Value>> {
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    if !shared.exists() {
        eprintln!("skipped: no reference numbers beside the project");
        return None;
    }
    let path = shared.join("vectors").join(name);
    let text = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("reference numbers at {}: {error}", path.display()));
    Some(serde_json::from_str(&text).unwrap())
}

fn integers(value: &Value) -> Vec<u64> {
    let number = |v: &Value| match v {
        Value::String(text) => text.parse().unwrap(),
        _ => v.as_u64().unwrap(),
    };
    value.as_array().unwrap().iter().map(number).collect()
}

#[test]
fn hashes_match() {
    let Some(rows) = rows("hash.json") else {
        return;
    };
    let mut balanced_rows = 0;
    let mut key_rows = 0;
    for row in &rows {
        let seed: u64 = row["seed"].as_str().unwrap().parse().unwrap();
        let keys = Keys::new(seed);
        let t = u32::try_from(row["t"].as_u64().unwrap()).unwrap();
        if let Some(m) = row.get("m") {
            balanced_rows += 1;
            let m = u32::try_from(m.as_u64().unwrap()).unwrap();
            let hash = Balanced::new(m * t, t);
            assert_eq!(hash.per_bucket(), m);
            let buckets: Vec<u64> = integers(&row["slots"])
                .iter()
                .map(|&slot| u64::from(hash.bucket(&keys, slot as u32)))
                .collect();
            assert_eq!(buckets, integers(&row["buckets"]));
            let mut preimage = Vec::new();
            let bucket = row["bucket"].as_u64().unwrap() as u32;
            hash.for_each_slot(&keys, bucket, |slot| preimage.push(u64::from(slot)));
            assert_eq!(preimage.len(), m as usize);
            preimage.sort_unstable();
            preimage.truncate(30);
            assert_eq!(preimage, integers(&row["preimage_sorted_first_30"]));
        } else {
            key_rows += 1;
            let item_keys = integers(&row["keys"]);
            let buckets: Vec<u64> = item_keys
                .iter()
                .map(|&key| u64::from(independent_bucket(&keys, key, t)))
                .collect();
            assert_eq!(buckets, integers(&row["independent"]));
            let signs: Vec<i64> = item_keys
                .iter()
                .map(|&key| i64::from(open_sign(&keys, key)))
                .collect();
            assert_eq!(json!(signs), row["open_signs"]);
            let elements = integers(&row["elements"]);
            let signs: Vec<i64> = elements
                .iter()
                .map(|&element| i64::from(closed_sign(&keys, element as u32)))
                .collect();
            assert_eq!(json!(signs), row["closed_signs"]);
            for &element in &elements {
                let word = closed_sign_word(&keys, element as u32 / 64);
                let bit = (word >> (element % 64)) & 1 == 1;
                assert_eq!(bit, closed_sign(&keys, element as u32) == 1);
            }
        }
    }
    assert_eq!((balanced_rows, key_rows), (50, 10));
}

/// The task of a row, with the row's parameters or, under `best`, with t chosen.
fn task_of(row: &Value, best: bool) -> Task {
    let mut mechanism = json!({
        "name": row["mechanism"], "rule": row["rule"], "hashing": row["hashing"],
    });
    if !best {
        mechanism["buckets"] = row["t"].clone();
    }
    if let Some(c) = row.get("c") {
        mechanism["favoured"] = c.clone();
    }
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "row", "items": row["d"], "sparsity": row["s"], "epsilon": row["epsilon"],
        "value": "real", "mechanism": mechanism,
    }))
    .unwrap();
    draft.resolve().unwrap()
}

fn assert_close(name: &str, ours: f64, row: &Value) {
    let theirs = row[name].as_f64().unwrap();
    assert!(
        (ours - theirs).abs() <= 1e-9 * theirs.abs(),
        "{name}: {ours} for {row}"
    );
}

#[test]
fn collision_rates_match() {
    let Some(rows) = rows("rates.json") else {
        return;
    };
    let mut seen = 0;
    for row in rows {
        if row["mechanism"] != "collision" {
            continue;
        }
        seen += 1;
        let task = task_of(&row, false);
        let Mechanism::Collision(collision) = task.mechanism() else {
            unreachable!()
        };
        let rates = collision.rates(&task.domain(), task.epsilon());
        assert_close("p_true", rates.p_true, &row);
        assert_close("p_false", rates.p_false, &row);
        assert_close("total_variance", rates.total_variance(&task.domain()), &row);
        if row["best_t"] == true {
            let best = task_of(&row, true);
            let Mechanism::Collision(best) = best.mechanism() else {
                unreachable!()
            };
            assert_eq!(
                u64::from(best.buckets()),
                row["t"].as_u64().unwrap(),
                "{row}"
            );
        }
    }
    assert_eq!(seen, 376);
}

#[test]
fn coco_rates_match() {
    let Some(rows) = rows("rates.json") else {
        return;
    };
    let mut seen = 0;
    for row in rows {
        if row["mechanism"] != "coco" {
            continue;
        }
        seen += 1;
        let task = task_of(&row, false);
        let Mechanism::Coco(coco) = task.mechanism() else {
            unreachable!()
        };
        let domain = task.domain();
        let rates = coco.rates(&domain, task.epsilon());
        assert_close("gap", rates.gap, &row);
        if let Some(presence) = rates.presence {
            assert_close("kappa", coco.deciding(&domain), &row);
            assert_close("p_pair", presence.p_pair, &row);
            assert_close("q_pair", presence.q_pair, &row);
            assert_close("mean_total_variance", rates.total_variance(&domain), &row);
            let s = f64::from(domain.sparsity());
            let d = f64::from(domain.items().unwrap());
            let nonmissing = s * rates.nonmissing_variance(true).unwrap()
                + (d - s) * rates.nonmissing_variance(false).unwrap();
            assert_close("nonmissing_total_variance", nonmissing, &row);
        }
        if row["best_t_for_mean"] == true {
            let best = task_of(&row, true);
            let Mechanism::Coco(best) = best.mechanism() else {
                unreachable!()
            };
            assert_eq!(
                u64::from(best.buckets()),
                row["t"].as_u64().unwrap(),
                "{row}"
            );
        }
    }
    assert_eq!(seen, 417);
}
