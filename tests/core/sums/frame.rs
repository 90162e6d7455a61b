use hushbin::sums::{BoundedVector, KashinFrame};
use hushbin_tests::errata::assert_table;
use proptest::prelude::*;
use serde_json::Value;

use super::REFERENCE;

fn rows(name: &str) -> Vec<Value> {
    let reference: Value = serde_json::from_str(REFERENCE).unwrap();
    let rows = reference[name].as_array().unwrap().clone();
    assert!(!rows.is_empty());
    rows
}

fn floats(value: &Value) -> Vec<f64> {
    let own = value.as_array().unwrap().iter();
    own.map(|number| number.as_f64().unwrap()).collect()
}

fn frame(row: &Value) -> KashinFrame {
    let dimension = row["d"].as_u64().unwrap() as u32;
    KashinFrame::new(dimension, row["seed"].as_u64().unwrap())
}

/// The i-th of `count` unit vectors.
fn unit(count: usize, index: usize) -> Vec<f64> {
    let mut vector = vec![0.0; count];
    vector[index] = 1.0;
    vector
}

fn assert_close(ours: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), expected.len());
    for (own, other) in ours.iter().zip(expected) {
        assert!((own - other).abs() <= tolerance, "{ours:?} {expected:?}");
    }
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|own| own * own).sum::<f64>().sqrt()
}

/// A row of U: Uᵀ of a unit vector.
fn row_of(frame: &KashinFrame, row: usize) -> Vec<f64> {
    frame.coefficients_to_vector(&unit(2 * frame.dimension(), row))
}

#[test]
fn agrees_with_the_reference() {
    for row in rows("frame") {
        let frame = frame(&row);
        let d = frame.dimension();
        for copy in 0..2 {
            // The first row of H has no negative sign.
            let signs: Vec<f64> = row_of(&frame, copy * d)
                .iter()
                .map(|own| own.signum())
                .collect();
            assert_eq!(signs, floats(&row["signs"][copy]));
            assert_close(
                &row_of(&frame, copy),
                &floats(&row["first_rows"][copy]),
                1e-15,
            );
        }
        assert_close(&row_of(&frame, d), &floats(&row["row_d"]), 1e-15);
    }
    for row in rows("coefficients") {
        let frame = frame(&row);
        let bound = row["C"].as_f64().unwrap() / (frame.dimension() as f64).sqrt();
        let (values, left) = frame.bounded_coefficients(&floats(&row["v"]), bound);
        assert_close(&values, &floats(&row["a"]), 1e-9);
        assert!((left - row["left"].as_f64().unwrap()).abs() < 1e-12);
    }
}

/// Synthesis inverts analysis, for every unit vector.
#[test]
fn is_tight_in_every_dimension() {
    for dimension in (0..=12).map(|log| 1 << log) {
        let frame = KashinFrame::new(dimension, 99);
        let d = dimension as usize;
        for index in [0, d / 3, d - 1] {
            let vector = unit(d, index);
            assert_close(
                &frame.coefficients_to_vector(&frame.vector_to_coefficients(&vector)),
                &vector,
                1e-13,
            );
            for row in [index, index + d] {
                let row = row_of(&frame, row);
                assert!((norm(&row).powi(2) - 0.5).abs() < 1e-13);
            }
        }
    }
}

/// Lemma 1.8 claims a matrix U with Uᵀ·U = 1 such that ‖U·x‖∞ ≤ C/√d for all unit x. No such matrix
/// exists: the 2d rows have squared norms with sum d, and x along the longest row has a coefficient
/// of at least 1/√2.
#[test]
fn no_linear_map_spreads_all_vectors() {
    for row in rows("frame") {
        let own = row_of(&frame(&row), row["d"].as_u64().unwrap() as usize);
        let largest = frame(&row)
            .vector_to_coefficients(&own.iter().map(|x| x / norm(&own)).collect::<Vec<_>>());
        let largest = largest.iter().fold(0.0_f64, |most, a| most.max(a.abs()));
        assert!((largest - row["largest_entry_of_U_times_row"].as_f64().unwrap()).abs() < 1e-12);
    }
    let mut rows = Vec::new();
    for dimension in [4, 64, 512] {
        let frame = KashinFrame::new(dimension, 7);
        let own = row_of(&frame, 3);
        let along: Vec<f64> = own.iter().map(|x| x / norm(&own)).collect();
        let linear = frame.vector_to_coefficients(&along);
        let largest = linear.iter().fold(0.0_f64, |most, a| most.max(a.abs()));
        let scaled = largest * f64::from(dimension).sqrt();
        assert!((largest - 0.5_f64.sqrt()).abs() < 1e-12);
        // In units of 1/√d it grows without bound: 5.66 at d = 64.
        let bound = BoundedVector::DEFAULT_BOUND_FACTOR / f64::from(dimension).sqrt();
        assert!(dimension == 4 || largest > bound);
        // The nonlinear coefficients stay within the bound, and leave little.
        let (values, left) = frame.bounded_coefficients(&along, bound);
        assert!(values.iter().all(|a| a.abs() <= bound));
        assert!(left < if dimension <= 64 { 5e-6 } else { 3e-3 });
        let most = values.iter().fold(0.0_f64, |most, a| most.max(a.abs()));
        let ours = most * f64::from(dimension).sqrt();
        rows.push(format!(
            "| {dimension} | {largest:.4} | {scaled:.2} | {ours:.2} | {left:.0e} |"
        ));
    }
    assert_table(
        "| d | largest of U·x | times √d | of a(x), times √d | left of x |",
        &rows,
    );
}

proptest! {
    #[test]
    fn coefficients_are_in_the_box(
        vector in prop::collection::vec(prop::num::f64::ANY, 16),
        seed: u64,
        bound in 0.01..2.0,
    ) {
        let (values, _) = KashinFrame::new(16, seed).bounded_coefficients(&vector, bound);
        prop_assert_eq!(values.len(), 32);
        prop_assert!(values.iter().all(|own| own.abs() <= bound));
    }

    #[test]
    fn little_is_left_of_vectors_of_length_one(
        vector in prop::collection::vec(-1.0..1.0, 64),
        seed: u64,
    ) {
        let length = norm(&vector).max(1e-9);
        let vector: Vec<f64> = vector.iter().map(|own| own / length).collect();
        let frame = KashinFrame::new(64, seed);
        let (values, left) = frame.bounded_coefficients(&vector, BoundedVector::DEFAULT_BOUND_FACTOR / 8.0);
        prop_assert!(left < 5e-6, "{}", left);
        let again = frame.coefficients_to_vector(&values);
        let rest: Vec<f64> = vector.iter().zip(again).map(|(a, b)| a - b).collect();
        prop_assert!((norm(&rest) - left).abs() < 1e-12);
    }
}
