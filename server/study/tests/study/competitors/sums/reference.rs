//! Tests that numbers agree with an independent program.

use hushbin_study::competitors::Budget;
use hushbin_study::competitors::sums::{
    CoordinateBudget, CoordinateNoise, ZeroSumTuples, grid_cell_reports,
};
use serde_json::Value;

const REFERENCE: &str = include_str!("../../../../../../tests/reference/shuffle-sums.json");

/// Returns the rows of a kind, and checks their number.
fn rows(kind: &str, count: usize) -> Vec<Value> {
    let all: Value = serde_json::from_str(REFERENCE).unwrap();
    let rows = all[kind].as_array().unwrap().clone();
    assert_eq!(rows.len(), count, "{kind}");
    rows
}

fn number(row: &Value, field: &str) -> f64 {
    let number = row[field].as_f64();
    number.unwrap_or_else(|| panic!("{row}: {field}"))
}

fn whole(row: &Value, field: &str) -> i32 {
    row[field].as_i64().unwrap() as i32
}

fn assert_near(ours: f64, row: &Value, field: &str, relative: f64) {
    let theirs = number(row, field);
    assert!(
        (ours / theirs - 1.0).abs() < relative,
        "{row}: {field} {ours}"
    );
}

#[test]
fn budgets_are_the_reference() {
    for row in rows("budget", 3) {
        let budget = Budget::new(number(&row, "epsilon"), number(&row, "delta")).unwrap();
        let coordinates = 2 * whole(&row, "d") as u32;
        let right = CoordinateBudget::new(coordinates, &budget).unwrap();
        let printed = CoordinateBudget::with_uncorrected_delta(coordinates, &budget).unwrap();
        assert_near(right.epsilon(), &row, "epsilon_0", 1e-13);
        assert_near(printed.epsilon(), &row, "epsilon_0", 1e-13);
        assert_near(right.delta(), &row, "delta_0_right", 1e-13);
        let spare = 0.5 * budget.delta();
        let total = printed.advanced_composition_total(coordinates, spare);
        assert_near(total.epsilon, &row, "advanced_epsilon", 1e-13);
        assert_near(total.delta, &row, "delta_as_printed", 1e-13);
        let total = right.advanced_composition_total(coordinates, spare);
        assert!((total.delta / budget.delta() - 1.0).abs() < 1e-13);
    }
}

#[test]
fn tuples_are_the_reference() {
    for row in rows("tuples", 5) {
        let tuples = ZeroSumTuples::new(whole(&row, "largest") as u32).unwrap();
        let used = row["use"].as_object().unwrap();
        assert_eq!(tuples.tuple_names().count(), used.len(), "{row}");
        for y in tuples.tuple_names() {
            let most = used[&y.to_string()].as_u64().unwrap();
            assert_eq!(u64::from(tuples.coefficient_range(y)), most, "{row}: {y}");
        }
    }
}

#[test]
fn noise_is_the_reference() {
    for row in rows("faithful", 6) {
        let budget = CoordinateBudget::with_epsilon_and_delta(
            number(&row, "epsilon"),
            number(&row, "delta"),
        )
        .unwrap();
        let noise = CoordinateNoise::new(whole(&row, "largest") as u32, &budget).unwrap();
        let reach = noise.max_tuple_count_shift();
        assert_eq!(
            reach.max_weighted_shift as i32,
            whole(&row, "gamma"),
            "{row}"
        );
        assert_eq!(
            reach.max_shifted_tuples as i32,
            whole(&row, "tuples_that_differ")
        );
        assert_near(
            noise.unit_count_distribution().continue_probability(),
            &row,
            "p_of_units",
            1e-13,
        );
        assert_near(noise.expected_messages(), &row, "noise_messages", 1e-10);
        assert_near(noise.variance(), &row, "variance_of_sum", 1e-10);
        let each = &row["p_of_tuples"];
        assert_eq!(
            each.as_object().unwrap().len(),
            noise.tuple_count_distributions().count()
        );
        for (y, law) in noise.tuple_count_distributions() {
            assert_near(law.continue_probability(), each, &y.to_string(), 1e-13);
            assert_near(law.shape(), &row, "r", 1e-13);
        }
    }
}

#[test]
fn divergences_are_the_reference() {
    for row in rows("histogram", 4) {
        let [units, pairs, triples] = ["p_of_units", "p_of_s1", "p_of_s2"].map(|p| number(&row, p));
        let copies = |y| if y == 1 { pairs } else { triples };
        let noise = CoordinateNoise::with_parameters(2, number(&row, "r"), units, copies).unwrap();
        let [from, to] = ["a", "b"].map(|x| whole(&row, x));
        let delta = noise
            .delta_between_values(number(&row, "epsilon"), from, to)
            .unwrap();
        let theirs = number(&row, "delta");
        assert!((delta - theirs).abs() < 1e-6, "{row}: {delta}");
    }
}

#[test]
fn shuffled_grids_are_the_reference() {
    for row in rows("shuffled_grid", 6) {
        let (n, cells) = (whole(&row, "n") as u64, whole(&row, "cells") as u32);
        let delta = number(&row, "delta");
        if row.get("epsilon").is_none() {
            let central = Budget::new(number(&row, "central"), delta).unwrap();
            let gamma = grid_cell_reports::closed_form_uniform_probability(cells, n, &central);
            assert_near(gamma, &row, "gamma_closed_form", 1e-13);
            continue;
        }
        let m = f64::from(cells);
        let gamma = m / (number(&row, "epsilon").exp() + m - 1.0);
        let central = grid_cell_reports::central_epsilon(cells, gamma, n, delta).unwrap();
        let theirs = number(&row, "central");
        // Our result is rounded up to a step of the search, so it may be slightly larger.
        let above = central - theirs;
        assert!((-1e-12..3e-8).contains(&above), "{row}: {above:e}");
    }
}
