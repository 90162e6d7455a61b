//! The pattern: its numbers against the reference, its privacy, sampler and choice, and refusals.

mod choice;
mod privacy;

use std::f64::consts::PI;

use hushbin::mechanism::pattern::{Pattern, PatternEstimator};
use serde_json::Value;

const REFERENCE: &str = include_str!("../../reference/histograms.json");

fn rows() -> Vec<Value> {
    let all: Value = serde_json::from_str(REFERENCE).unwrap();
    all["sets"].as_array().unwrap().clone()
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap()
}

fn whole(row: &Value, field: &str) -> u32 {
    row[field].as_u64().unwrap() as u32
}

fn list(row: &Value, field: &str) -> Vec<f64> {
    serde_json::from_value(row[field].clone()).unwrap()
}

fn pattern(row: &Value) -> Pattern {
    let favoured: Vec<u32> = serde_json::from_value(row["S"].clone()).unwrap();
    Pattern::new(whole(row, "L"), favoured).unwrap()
}

/// Weights of the cells below an edge.
fn below(cells: u32, edge: u32) -> Vec<f64> {
    (0..cells)
        .map(|cell| f64::from(u8::from(cell < edge)))
        .collect()
}

/// Distribution function of the triangular density on [−1, 1].
fn triangle(x: f64) -> f64 {
    match x {
        x if x <= -1.0 => 0.0,
        x if x <= 0.0 => 0.5 * (1.0 + x).powi(2),
        x if x <= 1.0 => 1.0 - 0.5 * (1.0 - x).powi(2),
        _ => 1.0,
    }
}

/// Mean variance of the shares below each edge, and of shares smoothed over an eighth of the cells
/// on either side, for people spread evenly.
fn variances(rates: &PatternEstimator) -> [f64; 2] {
    let cells = rates.cell_count() as u32;
    let smooth = |edge: u32| -> Vec<f64> {
        let place = |cell: u32| f64::from(edge) - f64::from(cell) - 0.5;
        (0..cells)
            .map(|cell| triangle(place(cell) * 8.0 / f64::from(cells)))
            .collect()
    };
    let mean = |of: &dyn Fn(u32) -> Vec<f64>| {
        let sum: f64 = (1..cells)
            .map(|edge| rates.variance_for_even_cells(&of(edge)))
            .sum();
        sum / f64::from(cells - 1)
    };
    [mean(&|edge| below(cells, edge)), mean(&smooth)]
}

/// Lower bound on the mean variance of shares below each edge.
fn bound(cells: u32, epsilon: f64) -> f64 {
    let cells = f64::from(cells);
    let of = |l: f64| 0.5 / (cells.sqrt() * (PI * l / (2.0 * cells)).sin());
    let sum: f64 = (1..cells as u32).map(|l| of(f64::from(l))).sum();
    let e = epsilon.exp();
    sum * sum / (cells - 1.0) * 4.0 * e / (e - 1.0).powi(2)
}

fn assert_near(ours: &[f64], theirs: &[f64], what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let scale = theirs
        .iter()
        .fold(0.0, |most: f64, own| most.max(own.abs()));
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!(
            (ours - theirs).abs() <= 1e-8 * scale,
            "{what}: {ours}, {theirs}"
        );
    }
}

/// Thresholds, scores of outputs, and variances.
#[test]
fn rates_are_those_of_the_reference() {
    let rows = rows();
    for row in &rows {
        let (own, cells, epsilon) = (pattern(row), whole(row, "K"), number(row, "epsilon"));
        let what = &row["name"].to_string();
        let inside = own
            .favoured_output_thresholds(epsilon)
            .favoured_threshold(1);
        let theirs: u64 = row["threshold"].as_str().unwrap().parse().unwrap();
        // The implementation rounds exp(ε) down by at most a relative 2⁻⁵⁷.
        assert!(inside.0 <= theirs && theirs - inside.0 <= 1 << 8, "{what}");
        assert_near(&[inside.probability()], &[number(row, "inside")], what);
        let rates = own.share_estimator(cells, epsilon);
        let even = |weights: Vec<f64>| rates.variance_for_even_cells(&weights);
        let edges: Vec<f64> = (1..cells).map(|edge| even(below(cells, edge))).collect();
        assert_near(&edges, &list(row, "edge_variance_uniform"), what);
        let [sharp, smooth] = variances(&rates);
        assert_near(&[sharp], &[number(row, "V")], what);
        assert_near(&[smooth], &[number(row, "V8")], what);
        let bound = bound(cells, epsilon);
        assert_near(&[bound], &[number(row, "bound")], what);
        assert!(bound < sharp, "{what}");
        let middle = below(cells, cells / 2);
        let worth = rates.output_weights_of_sum(&middle);
        assert_near(&worth, &list(row, "coefficients_middle_edge"), what);
        let own_variance = rates.variances_by_cell(&worth, &middle);
        assert_near(&own_variance, &list(row, "own_variance_middle_edge"), what);
        let place = |cell| (f64::from(cell) + 0.5) / f64::from(cells);
        let mean = even((0..cells).map(place).collect());
        assert_near(&[mean], &[number(row, "mean_variance_uniform")], what);
        let only = |own: u32| {
            (0..cells)
                .map(|cell| f64::from(u8::from(cell == own)))
                .collect()
        };
        let of_cells: Vec<f64> = (0..cells).map(|cell| even(only(cell))).collect();
        assert_near(&of_cells, &list(row, "cell_variance_uniform"), what);
    }
    assert_eq!(rows.len(), 52);
}

/// Patterns of many sizes: some are blocks, some have no order.
fn patterns() -> impl Iterator<Item = Pattern> {
    (2..=110_u32).flat_map(|outputs| {
        (1..outputs)
            .step_by(1 + outputs as usize / 16)
            .map(move |count| {
                let step = [1, 3, 7, 11][(outputs + count) as usize % 4];
                let mut favoured: Vec<u32> = (0..count).map(|at| at * step % outputs).collect();
                favoured.sort_unstable();
                favoured.dedup();
                Pattern::new(outputs, favoured).unwrap()
            })
    })
}

/// The average score of a report for a sum is the weight of its cell, for every cell and every
/// pattern that distinguishes cells.
#[test]
fn sums_are_without_bias() {
    let mut tried = 0;
    for own in patterns() {
        let cells = own.output_count() - own.output_count() / 5;
        let epsilon = [0.3, 1.0, 4.0][own.favoured_outputs().len() % 3];
        if !own.is_identifiable(cells, epsilon) {
            continue;
        }
        tried += 1;
        let rates: PatternEstimator = own.share_estimator(cells, epsilon);
        let weights: Vec<f64> = (0..cells).map(|cell| f64::from(cell * cell % 7)).collect();
        let worth = rates.output_weights_of_sum(&weights);
        let most = worth.iter().fold(1.0, |most: f64, own| most.max(own.abs()));
        for (cell, weight) in weights.iter().enumerate() {
            let chances = rates.output_probabilities(cell).iter().zip(&worth);
            let mean: f64 = chances.map(|(chance, worth)| chance * worth).sum();
            assert!(
                (mean - weight).abs() < 1e-9 * most,
                "{own:?}, {epsilon}: {mean}, {weight}"
            );
        }
    }
    assert!(tried >= 1000, "{tried}");
}

/// Two opposite outputs of four give the same for opposite cells. For neighbours, some difference
/// shows in no output.
#[test]
fn cells_that_look_alike_are_told() {
    let own = |outputs, favoured: &[u32]| Pattern::new(outputs, favoured.to_vec()).unwrap();
    assert!(!own(4, &[0, 2]).is_identifiable(4, 1.0));
    assert!(!own(4, &[0, 1]).is_identifiable(4, 1.0));
    assert!(own(4, &[0, 1]).is_identifiable(3, 1.0));
    assert!(own(4, &[0]).is_identifiable(4, 1.0));
    for row in rows() {
        assert!(pattern(&row).is_identifiable(whole(&row, "K"), number(&row, "epsilon")));
    }
}
