//! Tests that drawn reports have the listed probabilities, for one person and for two people at
//! once.

use std::collections::BTreeMap;

use hushbin::Entry;
use hushbin_study::competitors::ratings::{
    LaplaceMechanism, OracleSetting, RatingOracle, ReportSums,
};
use hushbin_tests::generators::seeded;
use hushbin_tests::significance::assert_distributed;

use super::models::{Model, listed, models};

const DRAWS: u64 = 200_000;

/// Converts sums to integers, as a key of a map.
fn key(heard: &[f64]) -> Vec<i64> {
    heard.iter().map(|sum| (sum * 1e6).round() as i64).collect()
}

/// Probability of each possible value of the sums.
type Heards = BTreeMap<Vec<i64>, f64>;

/// Returns the distribution of the sums from one person's report, as pairs of sums and probability.
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

/// Returns the distribution of the sums from the reports of two people.
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

/// Compares counts of drawn sums with their probabilities. Rare outcomes are counted together.
fn assert_drawn(expected: &Heards, what: &str, mut draw: impl FnMut(&mut ReportSums), items: u32) {
    let rare = |p: f64| p * (DRAWS as f64) < 25.0;
    let common: Vec<(&Vec<i64>, f64)> = (expected.iter())
        .filter(|(_, p)| !rare(**p))
        .map(|(key, p)| (key, *p))
        .collect();
    let mut counts = vec![0; common.len()];
    let mut others = 0;
    for _ in 0..DRAWS {
        let mut heard = ReportSums::new(items);
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
    let setting = OracleSetting {
        item_count: 2,
        sparsity: 2,
        epsilon: 1.0,
        delta: 0.0,
        protected_distance: 1.0,
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
            let one =
                |heard: &mut ReportSums| model.oracle.draw_and_add_report(input, heard, &mut rng);
            assert_drawn(&keyed(law), &what, one, 2);
        }
        // Reports of two people that are drawn at once have the same distribution as reports drawn
        // one by one.
        let [a, b] = [&people[1], &people[2]];
        let both = of_both(&laws[1], &laws[2]);
        let what = format!("{} of two", model.name);
        let two = |heard: &mut ReportSums| {
            model
                .oracle
                .draw_and_add_reports(&[&a[..], &b[..]], heard, &mut rng);
            assert_eq!(heard.report_count, 2);
        };
        assert_drawn(&both, &what, two, 2);
    }
}

/// Inputs have two entries, but mechanisms have one slot (of three items). Most mechanisms then
/// report one random entry. Mechanisms that report about a random item or about every coordinate
/// need no such choice.
#[test]
fn too_many_entries_are_sampled_down() {
    let setting = |sparsity| OracleSetting {
        item_count: 3,
        sparsity,
        epsilon: 1.0,
        delta: 0.0,
        protected_distance: 1.0,
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
            // k-fold repetition reports every entry. A different test checks that its estimates are
            // unbiased.
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
            let draw = |heard: &mut ReportSums| {
                if all {
                    model
                        .oracle
                        .draw_and_add_reports(&[&input[..]], heard, &mut rng);
                } else {
                    model.oracle.draw_and_add_report(&input, heard, &mut rng);
                }
            };
            assert_drawn(&expected, &what, draw, 3);
        }
    }
}

/// Returns the density of the sum of n Laplace variables of scale 1. It is exp(−|x|) times a
/// polynomial in |x|, whose coefficient of degree n − 1 − k is
/// C(n − 1 + k, k)/((n − 1 − k)!·2ⁿ⁺ᵏ).
fn laplace_sum(n: i32, x: f64) -> f64 {
    let factorial = |m: i32| (1..=m).map(f64::from).product::<f64>();
    let term = |k: i32| {
        let degree = n - 1 - k;
        let ways = factorial(n - 1 + k) / (factorial(k) * factorial(n - 1));
        ways * x.abs().powi(degree) / (factorial(degree) * 2.0_f64.powi(n + k))
    };
    (0..n).map(term).sum::<f64>() * (-x.abs()).exp()
}

/// Returns the integral of a smooth function, by the midpoint rule.
fn integral(from: f64, to: f64, of: impl Fn(f64) -> f64) -> f64 {
    let cells = 4000;
    let width = (to - from) / f64::from(cells);
    let middle = |i: i32| of(from + (f64::from(i) + 0.5) * width);
    (0..cells).map(middle).sum::<f64>() * width
}

/// Compares the noise of n reports, drawn at once and one by one, with the distribution of a sum of
/// n Laplace variables.
#[test]
fn laplace_noise_of_many_is_that_of_each() {
    let setting = OracleSetting {
        item_count: 2,
        sparsity: 1,
        epsilon: 0.5,
        delta: 0.0,
        protected_distance: 3.0,
    };
    let oracle = LaplaceMechanism::new(&setting).unwrap();
    let mut rng = seeded(22);
    for n in [1, 2, 5, 12] {
        // Cells are a quarter of a standard deviation wide, up to three standard deviations.
        let step = 0.25 * f64::from(2 * n).sqrt();
        let density = |x| laplace_sum(n, x);
        let cell = |i: i32| integral(f64::from(i) * step, f64::from(i + 1) * step, density);
        let half: Vec<f64> = (0..12)
            .map(cell)
            .chain([integral(12.0 * step, 12.0 * step + 80.0, density)])
            .collect();
        let law: Vec<f64> = half.iter().rev().chain(&half).copied().collect();
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-4);
        let people = vec![&[][..]; n as usize];
        for all in [true, false] {
            let mut counts = vec![0; law.len()];
            for _ in 0..DRAWS / 2 {
                let mut heard = ReportSums::new(setting.item_count);
                if all {
                    oracle.draw_and_add_reports(&people, &mut heard, &mut rng);
                } else {
                    people
                        .iter()
                        .for_each(|own| oracle.draw_and_add_report(own, &mut heard, &mut rng));
                }
                assert_eq!(heard.report_count, n as u64);
                for sum in heard.sign_sums {
                    let cell = (sum / oracle.noise_scale() / step)
                        .floor()
                        .clamp(-13.0, 12.0);
                    counts[(cell + 13.0) as usize] += 1;
                }
            }
            assert_distributed(&counts, &law, &format!("of {n}, at once: {all}"));
        }
    }
}
