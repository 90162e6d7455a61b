//! Tests of protocols for histograms from shuffled messages, against sums over both changed counts.

use hushbin_study::competitors::shuffled_counts::{CappedCoins, ShufflerDummies};
use hushbin_study::competitors::{Budget, hockey_stick_divergence};
use serde_json::Value;
use statrs::distribution::{Binomial, Discrete};

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).unwrap()
}

/// δ of two independent counts with this noise, if one count rises by 1 or else the other one does.
fn delta_of_pair(noise: &[f64], epsilon: f64) -> f64 {
    let p = |count: usize| noise.get(count).copied().unwrap_or(0.0);
    let raised = |count: usize| count.checked_sub(1).map_or(0.0, p);
    let counts = 0..=noise.len();
    let pairs = counts
        .clone()
        .flat_map(|x| counts.clone().map(move |y| (x, y)));
    hockey_stick_divergence(
        pairs.map(|(x, y)| (raised(x) * p(y), p(x) * raised(y))),
        epsilon,
    )
}

/// Returns the rows of an independent program.
fn rows(kind: &str, count: usize) -> Vec<Value> {
    let all = include_str!("../../../../../tests/reference/histograms-shuffled.json");
    let all: Value = serde_json::from_str(all).unwrap();
    let rows = all[kind].as_array().unwrap().clone();
    assert_eq!(rows.len(), count, "{kind}");
    rows
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap()
}

fn budget_of(row: &Value) -> Budget {
    Budget::new(number(row, "epsilon"), number(row, "delta")).unwrap()
}

#[test]
fn dummies_are_those_of_another_program() {
    for row in rows("dummies", 3) {
        let dummies = ShufflerDummies::calibrate(&budget_of(&row)).unwrap();
        assert_eq!(
            u64::from(dummies.mean_per_cell()),
            row["centre"].as_u64().unwrap()
        );
        let ratio = dummies.variance().sqrt() / number(&row, "standard_deviation");
        assert!((ratio - 1.0).abs() < 1e-9, "{row}: {ratio}");
    }
}

/// Our calibration also pays for the cap, so its q is slightly larger.
#[test]
fn coins_are_those_of_another_program() {
    for row in rows("coins", 4) {
        let [cells, people] = ["options", "people"].map(|field| row[field].as_u64().unwrap());
        let coins = CappedCoins::calibrate(cells as u32, people, 0.9, &budget_of(&row)).unwrap();
        for (own, field) in [
            (coins.noise_probability(), "q"),
            (coins.mean_noise_messages(), "noise_messages_a_person"),
            (coins.share_error(people), "standard_error_of_a_share"),
        ] {
            let ratio = own / number(&row, field);
            assert!(
                (1.0 - 1e-6..1.002).contains(&ratio),
                "{row}: {field} {ratio}"
            );
        }
    }
}

#[test]
fn dummies_are_as_private_as_they_say() {
    for epsilon in [0.5, 1.0, 2.0] {
        let dummies = ShufflerDummies::calibrate(&budget(epsilon)).unwrap();
        let noise = dummies.probabilities();
        let summed = delta_of_pair(&noise, epsilon);
        assert!(
            (summed / dummies.delta() - 1.0).abs() < 1e-6,
            "{epsilon}: {summed}"
        );
        assert!(dummies.delta() <= 1e-6);
        // One dummy fewer is too few: δ falls by exp(−ε/2) with each.
        assert!(dummies.delta() * (0.5 * epsilon).exp() > 1e-6, "{epsilon}");
        let mean: f64 = (0..)
            .zip(&noise)
            .map(|(count, p)| f64::from(count) * p)
            .sum();
        assert!((mean - f64::from(dummies.mean_per_cell())).abs() < 1e-9);
    }
}

/// Noise that is moved to the ends of its range, instead of drawn again, exceeds the budget.
#[test]
fn clamped_dummies_are_less_private() {
    let dummies = ShufflerDummies::calibrate(&budget(1.0)).unwrap();
    assert_eq!(dummies.mean_per_cell(), 27);
    let c = f64::from(dummies.mean_per_cell());
    let ratio = (-0.5_f64).exp();
    let p0 = ratio.powf(c) / (1.0 + ratio);
    let delta = p0 * (2.0 - p0);
    assert!((1.65e-6..1.75e-6).contains(&delta), "{delta}");
}

/// The noise probability of coins is the least one: δ is just below the budget by a sum over both
/// counts, and a probability that is smaller by a thousandth is not enough.
#[test]
fn coins_are_calibrated_exactly() {
    for (cells, people, epsilon) in [(2, 1_000, 1.0), (16, 1_000, 2.0), (16, 10_000, 1.0)] {
        let coins = CappedCoins::calibrate(cells, people, 0.9, &budget(epsilon)).unwrap();
        let trials = coins.trials_of_people(people / 10 * 9);
        let delta = |q: f64| {
            let mean = trials as f64 * q;
            // Counts far above the mean have no probability that matters.
            let most = (mean + 12.0 * mean.sqrt() + 40.0) as u64;
            let law = Binomial::new(q, trials).unwrap();
            let noise: Vec<f64> = (0..=most.min(trials)).map(|count| law.pmf(count)).collect();
            delta_of_pair(&noise, epsilon)
        };
        let q = coins.noise_probability();
        let [enough, less] = [delta(q), delta(0.999 * q)];
        assert!(
            enough <= 1e-6 && enough > 0.999e-6,
            "{cells} {people}: {enough}"
        );
        assert!(less > 1e-6, "{cells} {people}: {less}");
    }
    assert!(CappedCoins::calibrate(3, 1_000, 0.9, &budget(1.0)).is_err());
}

/// Most noise messages of one person.
#[test]
fn caps_are_several_messages() {
    for (cells, people, noise) in [(16, 100_000, 6), (1_000, 100_000, 14), (1_000, 10_000, 32)] {
        let coins = CappedCoins::calibrate(cells, people, 0.9, &budget(1.0)).unwrap();
        assert_eq!(coins.max_messages(), 1 + noise, "{cells} {people}");
    }
}
