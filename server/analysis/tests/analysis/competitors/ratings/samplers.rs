//! What is drawn is what is listed: reports of one person, and of two at once.

use std::collections::BTreeMap;

use hushbin::Entry;
use hushbin_analysis::competitors::ratings::{Heard, Setting};
use hushbin_tests::generators::seeded;
use hushbin_tests::significance::assert_distributed;

use super::models::{Model, listed, models};

const DRAWS: u64 = 200_000;

/// What was heard, as a key.
fn key(heard: &[f64]) -> Vec<i64> {
    heard.iter().map(|sum| (sum * 1e6).round() as i64).collect()
}

/// Probabilities of what is heard.
type Heards = BTreeMap<Vec<i64>, f64>;

/// Of one person.
fn of_one(model: &Model, input: &[Entry]) -> Vec<(Vec<f64>, f64)> {
    let law = (model.law)(input);
    let mut all: BTreeMap<Vec<i64>, (Vec<f64>, f64)> = BTreeMap::new();
    for (heard, p) in model.heard.iter().zip(law) {
        let sum = all.entry(key(heard)).or_insert((heard.clone(), 0.0));
        sum.1 += p;
    }
    all.into_values().collect()
}

fn keyed(all: &[(Vec<f64>, f64)]) -> Heards {
    all.iter().map(|(heard, p)| (key(heard), *p)).collect()
}

/// Of two.
fn of_both(a: &[(Vec<f64>, f64)], b: &[(Vec<f64>, f64)]) -> Heards {
    let mut sums = Heards::new();
    for (one, p) in a {
        for (other, q) in b {
            let both: Vec<f64> = one.iter().zip(other).map(|(a, b)| a + b).collect();
            *sums.entry(key(&both)).or_default() += p * q;
        }
    }
    sums
}

/// Counts draws against probabilities, rare ones as one.
fn assert_drawn(expected: &Heards, what: &str, mut draw: impl FnMut(&mut Heard), items: u32) {
    let rare = |p: f64| p * (DRAWS as f64) < 25.0;
    let common: Vec<(&Vec<i64>, f64)> = (expected.iter())
        .filter(|(_, p)| !rare(**p))
        .map(|(key, p)| (key, *p))
        .collect();
    let mut counts = vec![0; common.len()];
    let mut others = 0;
    for _ in 0..DRAWS {
        let mut heard = Heard::new(items);
        draw(&mut heard);
        let key = key(&listed(&heard));
        assert!(
            expected.contains_key(&key),
            "{what}: {key:?} is not possible"
        );
        match common.binary_search_by(|(own, _)| (*own).cmp(&key)) {
            Ok(index) => counts[index] += 1,
            Err(_) => others += 1,
        }
    }
    let mut law: Vec<f64> = common.iter().map(|(_, p)| *p).collect();
    let left = 1.0 - law.iter().sum::<f64>();
    if rare(left) {
        assert!(others < 100, "{what}: {others} of what is rare");
        law.iter_mut().for_each(|p| *p /= 1.0 - left);
    } else {
        law.push(left);
        counts.push(others);
    }
    assert_distributed(&counts, &law, what);
}

fn entries(values: &[(u64, f64)]) -> Vec<Entry> {
    let entry = |&(item, value): &(u64, f64)| Entry { item, value };
    values.iter().map(entry).collect()
}

#[test]
fn reports_are_drawn_as_listed() {
    let setting = Setting {
        items: 2,
        sparsity: 2,
        epsilon: 1.0,
        delta: 0.0,
    };
    let people = [
        entries(&[]),
        entries(&[(1, -1.0)]),
        entries(&[(0, 1.0), (1, 0.4)]),
    ];
    let mut rng = seeded(20);
    for model in models(&setting) {
        let laws: Vec<_> = people.iter().map(|input| of_one(&model, input)).collect();
        for (input, law) in people.iter().zip(&laws) {
            let what = format!("{} of {input:?}", model.name);
            let one = |heard: &mut Heard| model.oracle.hear(input, heard, &mut rng);
            assert_drawn(&keyed(law), &what, one, 2);
        }
        // At once, as one by one.
        let [a, b] = [&people[1], &people[2]];
        let both = of_both(&laws[1], &laws[2]);
        let what = format!("{} of two", model.name);
        let two = |heard: &mut Heard| {
            model.oracle.hear_all(&[&a[..], &b[..]], heard, &mut rng);
            assert_eq!(heard.reports, 2);
        };
        assert_drawn(&both, &what, two, 2);
    }
}

/// Three items, one slot: with more than one entry one of them is told of; but k-fold tells of
/// all, and a bit of each coordinate.
#[test]
fn too_many_entries_are_sampled_down() {
    let setting = |sparsity| Setting {
        items: 3,
        sparsity,
        epsilon: 1.0,
        delta: 0.0,
    };
    let input = entries(&[(0, 1.0), (2, -1.0)]);
    let mut rng = seeded(21);
    for model in models(&setting(1)) {
        let halves: Vec<_> = (input.iter())
            .map(|entry| keyed(&of_one(&model, std::slice::from_ref(entry))))
            .collect();
        let mut expected = Heards::new();
        for (key, p) in halves.iter().flatten() {
            *expected.entry(key.clone()).or_default() += p / 2.0;
        }
        match model.name {
            // Their estimates are balanced, as another test has it.
            "k-fold, OLH" | "k-fold, one bit" => continue,
            "Harmony"
            | "PrivKV"
            | "PrivKV, calibrated"
            | "PrivKV, three answers"
            | "naive bits, event" => expected = keyed(&of_one(&model, &input)),
            _ => {}
        }
        for all in [false, true] {
            let what = format!("{} of two entries", model.name);
            let draw = |heard: &mut Heard| {
                if all {
                    model.oracle.hear_all(&[&input[..]], heard, &mut rng);
                } else {
                    model.oracle.hear(&input, heard, &mut rng);
                }
            };
            assert_drawn(&expected, &what, draw, 3);
        }
    }
}
