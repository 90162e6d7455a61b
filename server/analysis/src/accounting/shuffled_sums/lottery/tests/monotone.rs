//! Tests that δ falls with every kind of noise, and that parameters out of range are refused.

use hushbin::ErrorCode;

use super::super::{LotteryBatch, LotteryNoise};
use super::{batch, noise};

#[test]
fn delta_falls_with_draws_probability_and_people() {
    let mut strictly = 0;
    for (cells, own_messages) in [(2, 1), (7, 1), (100, 1), (7, 3), (40, 2)] {
        for people in [30, 900] {
            for epsilon in [0.5, 2.0] {
                let delta = |people, draws, rho| {
                    let own = batch(cells, own_messages, people);
                    own.delta_bounds(noise(draws, rho), epsilon).unwrap()
                };
                for rho in [0.05, 0.4, 0.9] {
                    let one = delta(people, 1, rho);
                    for more in [
                        delta(people + people / 3, 1, rho),
                        delta(people, 2, rho),
                        delta(people, 1, 1.1 * rho),
                    ] {
                        assert!(
                            more.lower <= one.upper,
                            "{cells}, {people}: {one:?}, {more:?}"
                        );
                        strictly += u32::from(more.upper < one.lower);
                    }
                }
            }
        }
    }
    assert!(strictly > 90, "{strictly}");
}

/// The exact δ of a choice decreases in every small step of ρ, r and n_h.
#[test]
fn delta_of_a_choice_falls_with_every_step() {
    let own = batch(5, 1, 60);
    let mut before = 1.0;
    for step in 1..=200 {
        let found = own
            .delta_bounds(noise(1, f64::from(step) / 200.0), 0.5)
            .unwrap();
        assert!(found.lower <= before, "{step}");
        before = found.upper;
    }
    for draws in 2..=64 {
        let found = own.delta_bounds(noise(draws, 1.0), 0.5).unwrap();
        assert!(found.lower <= before, "{draws}");
        before = found.upper;
    }
    let mut before = 1.0;
    for people in 1..=200 {
        let found = batch(5, 1, people)
            .delta_bounds(noise(1, 0.7), 0.5)
            .unwrap();
        assert!(found.lower <= before, "{people}");
        before = found.upper;
    }
}

/// The bound with the factor R rises near 2sq = 1. The account uses the best bound for smaller ρ.
#[test]
fn always_drawing_is_no_worse_than_drawing_often() {
    let own = batch(4, 2, 400);
    let delta = |rho| own.delta_bounds(noise(1, rho), 1.0).unwrap().upper;
    let [often, always] = [0.97, 1.0].map(delta);
    assert!(always <= 1.01 * often, "{always}, {often}");
    let itself = own.upper_bound(noise(1, 1.0), 1e-9);
    let itself = itself.delta(crate::accounting::composition::BoundSide::Above, 1.0);
    assert!(itself > 3.0 * often, "{itself}");
}

/// Composition over batches is better than basic composition, and no better than one batch.
#[test]
fn batches_compose() {
    for (cells, own_messages) in [(10, 1), (40, 2)] {
        let one = batch(cells, own_messages, 90_000);
        let many = LotteryBatch { batches: 30, ..one };
        let at = noise(1, 0.05);
        let [single, composed] = [one, many].map(|own| own.epsilon_bounds(at, 1e-6).unwrap());
        assert!(composed.lower > single.upper);
        let basic = 30.0 * one.epsilon_bounds(at, 1e-6 / 30.0).unwrap().upper;
        assert!(composed.upper < 0.5 * basic, "{composed:?}, {basic}");
        assert!(composed.upper < 1.05 * composed.lower, "{composed:?}");
    }
}

#[test]
fn what_is_out_of_range_is_named() {
    let own = batch(16, 1, 1000);
    let fine = noise(1, 0.5);
    for (own, noise, name) in [
        (batch(1, 1, 1000), fine, "cells is 1, expected 2"),
        (
            batch(16, 9, 1000),
            fine,
            "own messages is 9, expected 1 to 8",
        ),
        (batch(16, 0, 1000), fine, "own messages is 0"),
        (batch(16, 1, 0), fine, "honest people is 0"),
        (LotteryBatch { batches: 0, ..own }, fine, "batches is 0"),
        (own, LotteryNoise { draws: 0, ..fine }, "draws is 0"),
        (
            own,
            LotteryNoise { draws: 65, ..fine },
            "draws is 65, expected 1 to 64",
        ),
        (
            own,
            LotteryNoise {
                threshold: 0,
                ..fine
            },
            "threshold is 0",
        ),
        (
            own,
            LotteryNoise {
                threshold: (1 << 64) + 1,
                ..fine
            },
            "threshold is",
        ),
        (
            batch(2, 1, 1_000_000_000_000),
            noise_always(),
            "variance of a count's noise is",
        ),
    ] {
        for error in [
            own.delta_bounds(noise, 1.0).unwrap_err(),
            own.epsilon_bounds(noise, 1e-6).unwrap_err(),
        ] {
            assert_eq!(error.code(), ErrorCode::OutOfRange);
            assert!(error.to_string().starts_with(name), "{error}");
        }
    }
    assert!(own.delta_bounds(fine, -1.0).is_err());
    assert!(own.epsilon_bounds(fine, 0.0).is_err());
}

const fn noise_always() -> LotteryNoise {
    LotteryNoise {
        draws: 64,
        threshold: 1 << 64,
    }
}
