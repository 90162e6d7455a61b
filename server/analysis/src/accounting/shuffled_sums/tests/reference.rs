//! Tests that compare results with independently computed numbers, and with a table in the
//! documentation.

use super::{SCALE, noise, senders};
use crate::accounting::shuffled_sums::{
    UnitMessageNoise, calibrate_noise, required_gaussian_variance, senders_with_fewest_noise_trials,
};
use serde_json::Value;

fn rows(part: &str) -> Vec<Value> {
    let all = include_str!("../../../../../../tests/reference/shuffle-sums.json");
    let all: Value = serde_json::from_str(all).unwrap();
    all[part].as_array().unwrap().clone()
}

fn number(row: &Value, field: &str) -> f64 {
    row[field]
        .as_f64()
        .unwrap_or_else(|| panic!("{field} of {row}"))
}

fn count(row: &Value, field: &str) -> u32 {
    u32::try_from(row[field].as_u64().unwrap()).unwrap()
}

/// Creates binomial noise with this mean that is nearly Poisson. The number of trials makes q a
/// power of two.
fn nearly_poisson(coordinates: u32, levels: u32, mean: u64) -> UnitMessageNoise {
    let q = 34 - mean.ilog2() / 2;
    UnitMessageNoise::new(coordinates, levels, mean << q, 1 << (64 - q)).unwrap()
}

/// Returns the δ of one count to which L is added, and the δ with both inputs exchanged. `law` is
/// the distribution of the noise.
fn one_count(law: &[f64], shift: usize, epsilon: f64) -> [f64; 2] {
    let scale = epsilon.exp();
    let moved = |k: usize| k.checked_sub(shift).map_or(0.0, |k| law[k]);
    let own = |k: usize| law.get(k).copied().unwrap_or(0.0);
    let ks = || 0..law.len();
    let beyond: f64 = law[law.len() - shift..].iter().sum();
    [
        ks().map(|k| (moved(k) - scale * own(k)).max(0.0))
            .sum::<f64>()
            + beyond,
        ks().map(|k| (own(k) - scale * moved(k)).max(0.0)).sum(),
    ]
}

fn poisson(mean: f64) -> Vec<f64> {
    let terms = (1..400).scan((-mean).exp(), |term, k| {
        *term *= mean / f64::from(k);
        Some(*term)
    });
    std::iter::once((-mean).exp()).chain(terms).collect()
}

#[test]
fn counts_are_the_reference() {
    let mut pairs = 0;
    for row in rows("count") {
        let (epsilon, shift) = (number(&row, "epsilon"), count(&row, "shift"));
        let near = |found: f64, known: f64| {
            assert!((found / known - 1.0).abs() < 1e-9, "{row}: {found}");
        };
        let law = match (row["noise"].as_str().unwrap(), &row["parameters"]) {
            ("poisson", mean) => poisson(mean.as_f64().unwrap()),
            ("binomial", of) => {
                let trials = of[0].as_u64().unwrap() as usize;
                super::brute::binomial(trials, of[1].as_f64().unwrap())
            }
            (_, mean) => {
                pairs += 1;
                let mean = mean.as_f64().unwrap() as u64;
                let own = nearly_poisson(1, shift, mean);
                let found = own.delta_bounds(epsilon).unwrap();
                near(found.lower, number(&row, "delta"));
                near(found.upper, number(&row, "delta"));
                continue;
            }
        };
        let [up, down] = one_count(&law, shift as usize, epsilon);
        near(up, number(&row, "delta_up"));
        near(down, number(&row, "delta_down"));
    }
    assert_eq!(pairs, 2);
}

/// Checks the smallest mean of nearly Poisson noise against the reference, from both sides. Also
/// checks the Gaussian limit.
#[test]
fn the_least_noise_is_the_reference() {
    let rows = rows("sum");
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let [coordinates, levels] = ["coordinates", "levels"].map(|field| count(row, field));
        let [epsilon, delta] = ["epsilon", "delta"].map(|field| number(row, field));
        let limit = required_gaussian_variance(coordinates, levels, epsilon, delta);
        let known = number(row, "gaussian_limit");
        assert!((limit / known - 1.0).abs() < 1e-9, "{row}: {limit}");

        let own = senders(coordinates, levels, 1_000_000_000_000, 1);
        let found = calibrate_noise(&own, epsilon, delta).unwrap();
        let known = number(row, "least_poisson");
        assert!((found.mean / known - 1.0).abs() < 1e-4, "{row}: {found:?}");
        let too_small = found.too_small as f64 / SCALE * own.honest_noise_trials() as f64;
        assert!(
            too_small < known && too_small > known * (1.0 - 4e-4),
            "{row}: {found:?}"
        );
        // At the known mean, ε agrees with the reference.
        let at = noise(
            coordinates,
            levels,
            own.honest_noise_trials(),
            known / own.honest_noise_trials() as f64,
        );
        let found = at.epsilon_bounds(delta).unwrap();
        assert!(
            (found.lower / epsilon - 1.0).abs() < 1e-4,
            "{row}: {found:?}"
        );
        assert!(
            (found.upper / epsilon - 1.0).abs() < 1e-4,
            "{row}: {found:?}"
        );
    }
}

#[test]
fn a_binomial_needs_the_mean_that_is_stated() {
    let found = calibrate_noise(&senders(1, 1, 5_000, 1), 0.3, 1e-6).unwrap();
    assert!((found.mean - 369.4).abs() < 0.05, "{found:?}");
    assert!((found.variance - 342.1).abs() < 0.05, "{found:?}");
    let poisson = calibrate_noise(&senders(1, 1, 1_000_000_000_000, 1), 0.3, 1e-6).unwrap();
    assert!((poisson.mean - 343.4).abs() < 0.05, "{poisson:?}");
}

/// Rows of the table: number of items d, number of people n, number of levels, number of noise
/// messages per person if they are rare, and standard error of each mean.
const TABLE: [(u32, u32, u32, f64, f64); 5] = [
    (1, 100_000, 32, 0.7, 0.0001),
    (4, 100_000, 32, 12.0, 0.0002),
    (16, 10_000, 3, 16.0, 0.0038),
    (16, 100_000, 8, 12.0, 0.0004),
    (64, 1_000_000, 8, 19.0, 0.0001),
];

/// The table in the documentation is for Poisson noise. Binomial noise with the smallest w needs
/// more messages for the same variance.
#[test]
fn the_table_is_that_of_rare_messages() {
    for (d, n, levels, messages, error) in TABLE {
        let (n, each) = (f64::from(n), 2.0 * f64::from(d) / f64::from(n));
        let own = senders(d, levels, n as u64, 1);
        let found = calibrate_noise(
            &senders_with_fewest_noise_trials(&own, 1.0, 1e-6).unwrap(),
            1.0,
            1e-6,
        )
        .unwrap();
        let rare = each * found.variance;
        assert!(
            (rare - messages).abs() <= 0.05 * messages,
            "{d}, {n}: {rare}"
        );
        let more = found.mean / found.variance;
        assert!((1.15..2.0).contains(&more), "{d}, {n}: {more}");
        let square = (2.0 * found.variance + n / 4.0) / f64::from(levels).powi(2);
        let deviation = square.sqrt() / n;
        assert!(
            (deviation - error).abs() <= 0.55e-4,
            "{d}, {n}: {deviation}"
        );
    }
}
