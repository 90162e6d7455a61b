//! Tests that calibration finds the fewest draws and the least probability.

use super::super::calibration::ROUNDING_SHARE;
use super::super::{LotteryBatch, LotteryNoise, calibrate_lottery};
use super::batch;
use crate::accounting::composition::BoundSide;

/// Returns true if the bound for this very noise proves (ε, δ), with room for rounding.
fn is_enough(own: &LotteryBatch, noise: LotteryNoise, epsilon: f64, delta: f64) -> bool {
    own.upper_bound(noise, delta)
        .delta(BoundSide::Above, epsilon)
        <= delta * (1.0 - ROUNDING_SHARE)
}

#[test]
fn one_less_is_not_enough() {
    for (cells, people, epsilon, delta) in [
        (2, 900, 1.0, 1e-6),
        (16, 900, 1.0, 1e-6),
        (128, 900, 1.0, 1e-6),
        (1000, 9000, 0.5, 1e-8),
        (5, 180, 0.5, 1e-6),
        (3, 40, 4.0, 1e-9),
        (135_000, 90_000, 1.0, 1e-6),
        (2, 1, 3.0, 0.01),
        (10, 1_000_000_000, 0.003, 1e-9),
    ] {
        let own = batch(cells, 1, people);
        let found = calibrate_lottery(&own, epsilon, delta).unwrap();
        let at = format!("{own:?}, {epsilon}, {delta}: {found:?}");
        assert!(
            found.delta.upper <= delta && found.delta.upper > 0.999 * delta,
            "{at}"
        );
        let less = LotteryNoise {
            threshold: found.noise.threshold - 1,
            ..found.noise
        };
        assert!(!is_enough(&own, less, epsilon, delta), "{at}");
        if found.noise.draws > 1 {
            let fewer = LotteryNoise {
                draws: found.noise.draws - 1,
                threshold: 1 << 64,
            };
            let lower = own.delta_bounds(fewer, epsilon).unwrap().lower;
            assert!(lower > delta, "{at}");
        }
    }
}

#[test]
fn sets_and_flags_need_slightly_more() {
    for (cells, own_messages, people, batches) in [
        (43, 3, 90_000, 1),
        (43, 3, 900, 1),
        (4, 2, 900, 1),
        (4, 2, 200, 1),
        (16, 8, 2_000, 1),
        (72, 2, 90_000, 1),
        (100, 1, 90_000, 12),
        (8, 4, 100_000, 3),
    ] {
        let own = LotteryBatch {
            batches,
            ..batch(cells, own_messages, people)
        };
        let found = calibrate_lottery(&own, 1.0, 1e-6).unwrap();
        let at = format!("{own:?}: {found:?}");
        assert!(found.delta.upper <= 1e-6, "{at}");
        assert!(is_enough(&own, found.noise, 1.0, 1e-6), "{at}");
        let less = LotteryNoise {
            threshold: found.noise.threshold - found.noise.threshold / 1_000_000,
            ..found.noise
        };
        assert!(!is_enough(&own, less, 1.0, 1e-6), "{at}");
        let account = own.epsilon_bounds(found.noise, 1e-6).unwrap();
        assert!(
            account.upper <= 1.0 && account.lower > 0.5,
            "{at}: {account:?}"
        );
        if found.noise.draws > 1 {
            for rho in 1..=100_u128 {
                let fewer = LotteryNoise {
                    draws: found.noise.draws - 1,
                    threshold: (rho << 64) / 100,
                };
                assert!(!is_enough(&own, fewer, 1.0, 1e-6), "{at}, {rho}");
            }
        }
    }
}

/// Numbers of a hundred million draws, and of probabilities near 0.
#[test]
fn large_batches_are_no_special_case() {
    for (cells, own_messages) in [(2, 1), (1000, 1), (1 << 20, 1), (1000, 4)] {
        let own = batch(cells, own_messages, 100_000_000);
        let found = calibrate_lottery(&own, 1.0, 1e-6).unwrap();
        assert!(found.noise.draws == 1, "{found:?}");
        let small = batch(cells, own_messages, 1_000_000);
        let few = calibrate_lottery(&small, 1.0, 1e-6).unwrap();
        assert!(
            (few.mean / found.mean - 1.0).abs() < 1e-2,
            "{few:?}, {found:?}"
        );
    }
}

/// A target that 64 draws miss is refused, with the number of people that it needs.
#[test]
fn too_few_people_are_refused() {
    for (cells, own_messages, people) in [(1000, 1, 500), (43, 3, 20)] {
        let own = batch(cells, own_messages, people);
        let error = calibrate_lottery(&own, 1.0, 1e-6).unwrap_err();
        let hushbin::Error::OutOfRange {
            name, value, min, ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((name, value), ("honest people", people as f64));
        let with =
            |people: f64| calibrate_lottery(&batch(cells, own_messages, people as u64), 1.0, 1e-6);
        assert!(
            with(min).is_ok() && with(0.99 * min - 1.0).is_err(),
            "{min}"
        );
    }
    let error = calibrate_lottery(&batch(2, 1, 1000), 0.0, 1e-9).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("central_epsilon is 0, expected"),
        "{error}"
    );
}
