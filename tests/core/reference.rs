//! Reference numbers computed independently of this project.

use hushbin::Task;
use hushbin::TaskDraft;
use hushbin::hash::{Balanced, Keys, closed_sign, closed_sign_word, independent_bucket, open_sign};
use hushbin::mechanism::Mechanism;
use serde_json::{Value, json};

const HASH: &str = include_str!("../reference/hash.json");
const HASH_FEW_SLOTS: &str = include_str!("../reference/hash-few-slots.json");
const RATES: &str = include_str!("../reference/rates.json");

fn rows(reference: &str) -> Vec<Value> {
    serde_json::from_str(reference).unwrap()
}

fn integers(value: &Value) -> Vec<u64> {
    let number = |v: &Value| match v {
        Value::String(text) => text.parse().unwrap(),
        _ => v.as_u64().unwrap(),
    };
    value.as_array().unwrap().iter().map(number).collect()
}

/// Holds a row's buckets, and the slots of one of them.
fn assert_balanced(hash: &Balanced, keys: &Keys, row: &Value) {
    assert_eq!(u64::from(hash.per_bucket()), row["m"].as_u64().unwrap());
    let buckets: Vec<u64> = integers(&row["slots"])
        .iter()
        .map(|&slot| u64::from(hash.bucket(keys, slot as u32)))
        .collect();
    assert_eq!(buckets, integers(&row["buckets"]));
    let mut preimage = Vec::new();
    let bucket = row["bucket"].as_u64().unwrap() as u32;
    hash.for_each_slot(keys, bucket, |slot| preimage.push(u64::from(slot)));
    assert_eq!(preimage.len(), hash.per_bucket() as usize);
    preimage.sort_unstable();
    preimage.truncate(30);
    assert_eq!(preimage, integers(&row["preimage_sorted_first_30"]));
}

fn keys(row: &Value) -> Keys {
    Keys::new(row["seed"].as_str().unwrap().parse().unwrap())
}

fn whole(row: &Value, field: &str) -> u32 {
    u32::try_from(row[field].as_u64().unwrap()).unwrap()
}

#[test]
fn hashes_match() {
    let mut balanced_rows = 0;
    let mut key_rows = 0;
    for row in &rows(HASH) {
        let keys = keys(row);
        let t = whole(row, "t");
        if row.get("m").is_some() {
            balanced_rows += 1;
            let hash = Balanced::new(whole(row, "m") * t, t);
            assert_balanced(&hash, &keys, row);
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

/// Buckets of 2 to 7 slots, for which rounds are added.
#[test]
fn hashes_of_few_slots_match() {
    let rows = rows(HASH_FEW_SLOTS);
    for row in &rows {
        let (m, t) = (whole(row, "m"), whole(row, "t"));
        assert!((2..8).contains(&m));
        let hash = Balanced::new(m * t, t);
        assert_eq!(hash.rounds(), 21);
        assert_balanced(&hash, &keys(row), row);
    }
    assert_eq!(rows.len(), 20);
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
    let mut seen = 0;
    for row in rows(RATES) {
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
    let mut seen = 0;
    for row in rows(RATES) {
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
