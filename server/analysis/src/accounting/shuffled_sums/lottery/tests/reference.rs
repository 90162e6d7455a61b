//! Tests that compare results with independently computed numbers, and with the tables of the
//! design.

use serde_json::Value;

use super::super::batch::poisson_factor;
use super::super::{LotteryBatch, LotteryNoise, calibrate_lottery};
use super::{batch, noise};
use crate::accounting::composition::BoundSide;

fn rows(part: &str) -> Vec<Value> {
    let all = include_str!("../../../../../../../tests/reference/histograms-shuffled.json");
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

#[track_caller]
fn near(found: f64, known: f64, relative: f64) {
    assert!((found / known - 1.0).abs() < relative, "{found}, {known}");
}

#[test]
fn pairs_are_the_reference() {
    let rows = rows("lottery_pair");
    assert_eq!(rows.len(), 6);
    for row in rows {
        let own = batch(2, 1, row["draws"].as_u64().unwrap());
        let at = noise(1, 2.0 * number(&row, "q"));
        let found = own.delta_bounds(at, number(&row, "epsilon")).unwrap();
        near(found.lower, number(&row, "delta"), 1e-9);
        near(found.upper, number(&row, "delta"), 1e-9);
        let found = own.epsilon_bounds(at, number(&row, "delta")).unwrap();
        near(found.lower, number(&row, "epsilon"), 1e-9);
        near(found.upper, number(&row, "epsilon"), 1e-9);
    }
}

#[test]
fn sets_are_the_reference() {
    let rows = rows("lottery_moves");
    assert_eq!(rows.len(), 3);
    for row in rows {
        let (ups, draws) = (count(&row, "ups"), number(&row, "draws"));
        assert_eq!(ups, count(&row, "downs"));
        let (q, cells) = (number(&row, "q"), 2 * ups);
        let changed = f64::from(cells) * q;
        near(
            poisson_factor(draws, [changed, 1.0 - changed]),
            number(&row, "factor"),
            1e-9,
        );
        let own = batch(cells, ups, draws as u64);
        let (epsilon, delta) = (number(&row, "epsilon"), number(&row, "delta"));
        let at = noise(1, changed);
        let found = own.upper_bound(at, delta).delta(BoundSide::Above, epsilon);
        near(found, delta, 3e-4);
        let found = own.delta_bounds(at, epsilon).unwrap();
        near(found.upper, delta, 2e-3);
        assert!(found.lower < found.upper && found.lower > 0.01 * found.upper);
    }
}

#[test]
fn tasks_are_the_reference() {
    let rows = rows("lottery_task");
    assert_eq!(rows.len(), 8);
    for row in rows {
        let own = count(&row, "most_chosen");
        let cells = count(&row, "cells");
        let paddings = if own == 1 { 0 } else { own };
        assert_eq!(cells, count(&row, "options") + paddings);
        let people = batch(cells, own, row["honest"].as_u64().unwrap());
        let (epsilon, delta) = (number(&row, "epsilon"), number(&row, "delta"));
        let found = calibrate_lottery(&people, epsilon, delta).unwrap();
        assert_eq!(found.noise.draws, count(&row, "draws_a_person"), "{row}");
        // The reference composes on a grid.
        let precision = if own == 1 { 1e-9 } else { 2e-5 };
        let rho = found.noise.probability();
        near(rho, number(&row, "probability"), precision);
        near(found.mean, number(&row, "mean_noise_an_option"), precision);
        let sent = f64::from(own) + f64::from(found.noise.draws) * rho;
        near(
            sent,
            number(&row, "messages_sent_on_average_without_blanks"),
            precision,
        );
        assert_eq!(own + found.noise.draws, count(&row, "messages_a_person"));
        assert!(found.delta.upper <= delta);
        let account = people.epsilon_bounds(found.noise, delta).unwrap();
        assert!(account.upper <= epsilon && account.lower > 0.99 * epsilon);
    }
}

/// Creates a batch whose noise is nearly Poisson, with this mean in a cell.
fn nearly_poisson(own_messages: u32, mean: f64) -> (LotteryBatch, LotteryNoise) {
    let cells = 2 * own_messages;
    let own = batch(cells, own_messages, 1_000_000_000_000);
    (own, noise(1, f64::from(cells) * mean / 1e12))
}

#[test]
fn the_least_mean_is_the_reference() {
    let rows = rows("least_poisson");
    assert_eq!(rows.len(), 6);
    for row in rows {
        let changed = count(&row, "changed_options_each_way");
        let (own, _) = nearly_poisson(changed, 1.0);
        let (epsilon, delta) = (number(&row, "epsilon"), number(&row, "delta"));
        let found = calibrate_lottery(&own, epsilon, delta).unwrap();
        let precision = if changed == 1 { 1e-9 } else { 2e-5 };
        near(found.mean, number(&row, "least_mean"), precision);
        assert!(found.mean > number(&row, "gaussian_limit"));
    }
}

#[test]
fn fewer_honest_people_are_the_reference() {
    let planned = number(&rows("least_poisson")[0], "least_mean");
    let rows = rows("fewer");
    assert_eq!(rows.len(), 4);
    for row in rows {
        let (own, noise) = nearly_poisson(1, planned * number(&row, "part_of_planned_honest"));
        let (epsilon, delta) = (number(&row, "epsilon"), number(&row, "delta"));
        let found = own.delta_bounds(noise, epsilon).unwrap();
        near(found.lower, number(&row, "delta_at_epsilon"), 1e-8);
        near(found.upper, number(&row, "delta_at_epsilon"), 1e-8);
        let found = own.epsilon_bounds(noise, delta).unwrap();
        match row["epsilon_at_delta"].as_f64() {
            Some(known) => {
                near(found.lower, known, 1e-8);
                near(found.upper, known, 1e-8);
            }
            None => assert_eq!([found.lower, found.upper], [f64::INFINITY; 2]),
        }
    }
}

/// Least means by ε, for δ = 10⁻⁶, 10⁻⁸ and 10⁻¹⁰.
const LEAST_MEANS: [(f64, [f64; 3]); 6] = [
    (0.1, [2641.0, 4229.0, 5888.0]),
    (0.25, [480.6, 740.3, 1010.0]),
    (0.5, [136.1, 203.9, 274.0]),
    (1.0, [42.66, 62.09, 82.1]),
    (2.0, [18.09, 25.5, 33.0]),
    (4.0, [13.82, 18.4, 23.0]),
];

#[test]
fn the_table_of_means_is_right() {
    let (own, _) = nearly_poisson(1, 1.0);
    for (epsilon, means) in LEAST_MEANS {
        for (mean, delta) in means.into_iter().zip([1e-6, 1e-8, 1e-10]) {
            let found = calibrate_lottery(&own, epsilon, delta).unwrap().mean;
            near(found, mean, 2e-3);
            assert!(found >= -f64::ln(delta));
        }
    }
    for (changed, mean) in [(1, 42.7), (2, 75.1), (4, 144.9), (8, 286.9), (16, 572.0)] {
        let (own, _) = nearly_poisson(changed, 1.0);
        near(calibrate_lottery(&own, 1.0, 1e-6).unwrap().mean, mean, 2e-3);
    }
}

/// Most messages and mean number of messages of one person, at ε = 1 and δ = 10⁻⁶.
#[test]
fn the_table_of_messages_is_right() {
    for (options, people, most, mean) in [
        (16, 100_000, 2, 1.008),
        (1000, 100_000, 2, 1.47),
        (1000, 10_000, 6, 5.74),
    ] {
        let own = batch(options, 1, people / 10 * 9);
        let found = calibrate_lottery(&own, 1.0, 1e-6).unwrap().noise;
        assert_eq!(1 + found.draws, most);
        let sent = 1.0 + f64::from(found.draws) * found.probability();
        assert!((sent - mean).abs() < 0.005, "{options}, {people}: {sent}");
    }
}
