//! Reference numbers computed independently of this project.

use hushbin::Task;
use hushbin::TaskDraft;
use hushbin::hash::{
    BalancedHash, HashKeys, hashed_closed_element_sign, hashed_open_key_sign, independent_bucket,
    sign_word_of_closed_elements,
};
use hushbin::mechanism::Mechanism;
use serde_json::{Value, json};

const HASH: &str = include_str!("../reference/hash.json");
const HASH_FEW_SLOTS: &str = include_str!("../reference/hash-few-slots.json");
const HASH_FEW_BUCKETS: &str = include_str!("../reference/hash-few-buckets.json");
const HASH_FUNCTIONS: &str = include_str!("../reference/hash-functions.json");
const RATES_SEVERAL_HASHES: &str = include_str!("../reference/rates-several-hashes.json");
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

/// Checks a row's buckets, and the slots of one of them.
fn assert_balanced(hash: &BalancedHash, keys: &HashKeys, row: &Value) {
    assert_eq!(
        u64::from(hash.slots_per_bucket()),
        row["m"].as_u64().unwrap()
    );
    let buckets: Vec<u64> = integers(&row["slots"])
        .iter()
        .map(|&slot| u64::from(hash.bucket_of_slot(keys, slot as u32)))
        .collect();
    assert_eq!(buckets, integers(&row["buckets"]));
    let mut preimage = Vec::new();
    let bucket = row["bucket"].as_u64().unwrap() as u32;
    hash.for_each_slot_in_bucket(keys, bucket, |slot| preimage.push(u64::from(slot)));
    assert_eq!(preimage.len(), hash.slots_per_bucket() as usize);
    preimage.sort_unstable();
    preimage.truncate(30);
    assert_eq!(preimage, integers(&row["preimage_sorted_first_30"]));
}

fn keys(row: &Value) -> HashKeys {
    HashKeys::new(row["seed"].as_str().unwrap().parse().unwrap())
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
            let hash = BalancedHash::new(whole(row, "m") * t, t);
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
                .map(|&key| i64::from(hashed_open_key_sign(&keys, key)))
                .collect();
            assert_eq!(json!(signs), row["open_signs"]);
            let elements = integers(&row["elements"]);
            let signs: Vec<i64> = elements
                .iter()
                .map(|&element| i64::from(hashed_closed_element_sign(&keys, element as u32)))
                .collect();
            assert_eq!(json!(signs), row["closed_signs"]);
            for &element in &elements {
                let word = sign_word_of_closed_elements(&keys, element as u32 / 64);
                let bit = (word >> (element % 64)) & 1 == 1;
                assert_eq!(bit, hashed_closed_element_sign(&keys, element as u32) == 1);
            }
        }
    }
    assert_eq!((balanced_rows, key_rows), (30, 10));
}

/// Buckets with 2 to 7 slots, or 2 to 7 buckets, which have further rounds.
#[test]
fn hashes_with_more_rounds_match() {
    for (reference, few) in [(HASH_FEW_SLOTS, "m"), (HASH_FEW_BUCKETS, "t")] {
        let rows = rows(reference);
        for row in &rows {
            let (m, t) = (whole(row, "m"), whole(row, "t"));
            assert!((2..8).contains(&whole(row, few)));
            let hash = BalancedHash::new(m * t, t);
            assert_eq!(hash.round_count(), if m < 32 { 21 } else { 9 });
            assert_balanced(&hash, &keys(row), row);
        }
        assert_eq!(rows.len(), 20);
    }
}

#[test]
fn every_hash_function_of_a_seed_matches() {
    let rows = rows(HASH_FUNCTIONS);
    for row in &rows {
        let seed = row["seed"].as_str().unwrap().parse().unwrap();
        let keys = HashKeys::for_hash_function(seed, whole(row, "function"));
        let (m, t) = (whole(row, "m"), whole(row, "t"));
        assert_balanced(&BalancedHash::new(m * t, t), &keys, row);
        let item_keys = integers(&row["keys"]);
        let buckets = item_keys
            .iter()
            .map(|&key| independent_bucket(&keys, key, t));
        let buckets: Vec<u64> = buckets.map(u64::from).collect();
        assert_eq!(buckets, integers(&row["independent"]));
        let elements = integers(&row["elements"]);
        let signs = elements
            .iter()
            .map(|&element| hashed_closed_element_sign(&keys, element as u32));
        let signs: Vec<i8> = signs.collect();
        assert_eq!(json!(signs), row["closed_signs"]);
    }
    assert_eq!(rows.len(), 25);
}

/// Task of a row, with the row's parameters or, under `best`, with the chosen t.
fn task_of(row: &Value, best: bool) -> Task {
    let mut mechanism = json!({
        "name": row["mechanism"], "rule": row["rule"], "hashing": row["hashing"],
    });
    if !best {
        mechanism["buckets"] = row["t"].clone();
    }
    for (field, name) in [("c", "favoured"), ("hashes", "hashes")] {
        if let Some(value) = row.get(field) {
            mechanism[name] = value.clone();
        }
    }
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "row", "items": row["d"], "sparsity": row["s"], "epsilon": row["epsilon"],
        "value": "real", "mechanism": mechanism,
    }))
    .unwrap();
    draft.resolve_task().unwrap()
}

fn assert_within(distance: f64, name: &str, ours: f64, row: &Value) {
    let theirs = row[name].as_f64().unwrap();
    assert!(
        (ours - theirs).abs() <= distance * theirs.abs(),
        "{name}: {ours} for {row}"
    );
}

fn assert_close(name: &str, ours: f64, row: &Value) {
    assert_within(1e-9, name, ours, row);
}

#[test]
fn rates_of_several_hashes_match() {
    let rows = rows(RATES_SEVERAL_HASHES);
    for row in &rows {
        let task = task_of(row, false);
        let (domain, epsilon) = (task.questions()[0].domain(), task.epsilon());
        match task.questions()[0].mechanism() {
            Mechanism::Collision(collision) => {
                let rates = collision.hit_probabilities(&domain, epsilon);
                assert_within(1e-12, "p_true", rates.p_true, row);
                assert_within(1e-12, "p_false", rates.p_false, row);
            }
            Mechanism::Coco(coco) => {
                assert_within(
                    1e-12,
                    "gap",
                    coco.hit_probabilities(&domain, epsilon)
                        .side_hit_probability_gap,
                    row,
                );
            }
            Mechanism::HashBin(_) | Mechanism::Window(_) | Mechanism::Pattern(_) => {
                unreachable!("rows are of mechanisms with buckets")
            }
        }
    }
    assert_eq!(rows.len(), 324);
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
        let Mechanism::Collision(collision) = task.questions()[0].mechanism() else {
            unreachable!()
        };
        let rates = collision.hit_probabilities(&task.questions()[0].domain(), task.epsilon());
        assert_close("p_true", rates.p_true, &row);
        assert_close("p_false", rates.p_false, &row);
        assert_close(
            "total_variance",
            rates.total_variance(&task.questions()[0].domain()),
            &row,
        );
        if row["best_t"] == true {
            let best = task_of(&row, true);
            let Mechanism::Collision(best) = best.questions()[0].mechanism() else {
                unreachable!()
            };
            assert_eq!(
                u64::from(best.buckets_per_hash()),
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
        let Mechanism::Coco(coco) = task.questions()[0].mechanism() else {
            unreachable!()
        };
        let domain = task.questions()[0].domain();
        let rates = coco.hit_probabilities(&domain, task.epsilon());
        assert_close("gap", rates.side_hit_probability_gap, &row);
        if let Some(presence) = rates.exact_pair_probabilities {
            assert_close("kappa", coco.deciding_probability(&domain), &row);
            assert_close("p_pair", presence.pair_hit_if_present, &row);
            assert_close("q_pair", presence.pair_hit_if_absent, &row);
            assert_close("mean_total_variance", rates.total_variance(&domain), &row);
            let s = f64::from(domain.sparsity());
            let d = f64::from(domain.item_count().unwrap());
            let nonmissing = s * rates.presence_estimate_variance(true).unwrap()
                + (d - s) * rates.presence_estimate_variance(false).unwrap();
            assert_close("nonmissing_total_variance", nonmissing, &row);
        }
        if row["best_t_for_mean"] == true {
            let best = task_of(&row, true);
            let Mechanism::Coco(best) = best.questions()[0].mechanism() else {
                unreachable!()
            };
            assert_eq!(
                u64::from(best.buckets_per_hash()),
                row["t"].as_u64().unwrap(),
                "{row}"
            );
        }
    }
    assert_eq!(seen, 417);
}
