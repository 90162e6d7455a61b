//! Tests that δ and the smallest noise are monotone in the parameters, and that parameters out of
//! range are refused.

use super::{SCALE, noise, senders};
use crate::accounting::shuffled_sums::{
    NoiseParameters, SenderBatch, UnitMessageNoise, calibrate_noise, required_gaussian_variance,
    senders_with_fewest_noise_trials,
};
use hushbin::ErrorCode;

/// δ does not decrease if there is less noise, or if there are more coordinates or levels.
#[test]
fn delta_falls_with_noise_and_rises_with_what_is_told() {
    let qs = [1e-4, 0.003, 0.02, 0.07, 0.15, 0.25, 0.35, 0.43, 0.48, 0.5];
    let mut strictly = 0;
    for epsilon in [0.0, 0.3, 2.0] {
        for coordinates in [1, 2, 9] {
            for levels in [1, 2, 4] {
                for trials in [20_u64, 300, 5_000, 100_000] {
                    let delta = |coordinates, levels, trials, q| {
                        let own = noise(coordinates, levels, trials, q);
                        own.delta_bounds(epsilon).unwrap()
                    };
                    let all = qs.map(|q| delta(coordinates, levels, trials, q));
                    for pair in all.windows(2) {
                        assert!(pair[1].lower <= pair[0].upper, "{pair:?}");
                        strictly += u32::from(pair[1].upper < pair[0].lower);
                    }
                    for (i, one) in all.iter().enumerate().step_by(3) {
                        let at = |c, l, n| delta(c, l, n, qs[i]);
                        let what = format!("{coordinates}, {levels}, {trials}, {}", qs[i]);
                        let more = at(coordinates + 1, levels, trials);
                        assert!(more.upper >= one.lower, "{what}");
                        let more = at(coordinates, levels + 1, trials);
                        assert!(more.upper >= one.lower, "{what}");
                        let less = at(coordinates, levels, trials + trials / 4);
                        assert!(less.lower <= one.upper, "{what}");
                        strictly += u32::from(less.upper < one.lower);
                    }
                }
            }
        }
    }
    assert!(strictly > 600, "{strictly}");
}

/// The δ of one coordinate decreases with q, in small steps. Its lower and upper bound coincide.
#[test]
fn delta_of_one_coordinate_falls_with_every_step_of_q() {
    for (levels, trials, epsilon) in [(1, 40, 0.5), (1, 1_000, 0.2), (3, 500, 1.0), (2, 60, 2.0)] {
        let mut before = f64::INFINITY;
        for step in 1..=200 {
            let q = f64::from(step) / 400.0;
            let found = noise(1, levels, trials, q).delta_bounds(epsilon).unwrap();
            assert!(found.lower <= before, "{levels}, {trials}, {epsilon}: {q}");
            before = found.upper;
        }
    }
}

/// The noise found suffices, slightly less noise does not, and its variance is at most that of
/// Poisson noise.
#[test]
fn the_least_noise_is_the_least() {
    for (coordinates, levels, epsilon, delta, trials) in [
        (1, 1, 0.3, 1e-6, 2_000_u64),
        (1, 1, 1.0, 1e-9, 400),
        (1, 3, 2.0, 1e-3, 300),
        (2, 1, 1.0, 1e-6, 320),
        (2, 2, 4.0, 1e-6, 400),
        (3, 1, 0.5, 1e-2, 5_000),
        (5, 2, 1.0, 1e-6, 10_000),
        (16, 1, 1.0, 1e-6, 2_400),
        (16, 1, 1.0, 1e-6, 90_000),
        (16, 2, 0.2, 1e-12, 300_000_000),
        (100, 1, 1.0, 1e-15, 200_000),
    ] {
        let own = senders(coordinates, levels, trials, 1);
        let found = calibrate_noise(&own, epsilon, delta).unwrap();
        let at = format!("{own:?}, {epsilon}, {delta}: {found:?}");
        assert!(found.delta.upper <= delta, "{at}");
        assert!(own.is_enough(found.noise, epsilon, delta).unwrap(), "{at}");
        let whole = own.delta_bounds(found.noise, epsilon).unwrap();
        assert!(whole.upper <= delta * 1.001, "{at}: {whole:?}");
        let less = own.untruncated_noise(found.too_small).unwrap();
        assert!(
            less.delta_bounds(epsilon).unwrap().lower > delta * (1.0 - 3e-3),
            "{at}"
        );
        let gap = 1.0 - found.too_small as f64 / found.noise.threshold as f64;
        assert!(gap < 1e-3, "{at}: {gap}");
        let account = own.epsilon_bounds(found.noise, delta).unwrap();
        assert!(account.upper <= epsilon, "{at}: {account:?}");
        assert!(account.lower >= epsilon * (1.0 - 3e-4), "{at}: {account:?}");
        let rare = senders(coordinates, levels, 1_000_000_000_000, 1);
        let poisson = calibrate_noise(&rare, epsilon, delta).unwrap();
        assert!(
            found.variance <= poisson.mean * (1.0 + 3e-5),
            "{at}: {poisson:?}"
        );
        assert!(found.variance >= 0.9 * poisson.mean, "{at}: {poisson:?}");
    }
}

/// Tests one and two coordinates, from q near 1/2 to rare noise messages. With hundreds of noise
/// messages, the variance is up to a twentieth smaller than that of Poisson noise. With a few dozen
/// trials, it is a third smaller.
#[test]
fn no_binomial_needs_the_variance_of_poisson_noise() {
    let (mut compared, mut least): (u32, f64) = (0, 1.0);
    for coordinates in [1, 2] {
        for levels in [1, 2, 4] {
            for epsilon in [0.1, 0.5, 1.0, 3.0] {
                for delta in [1e-2, 1e-4, 1e-8, 1e-12] {
                    let least_of = |people: u64| {
                        let own = senders(coordinates, levels, people, 1);
                        calibrate_noise(&own, epsilon, delta)
                    };
                    let poisson = least_of(1_000_000_000_000).unwrap().mean;
                    for times in [3.6, 4.2, 8.0, 100.0] {
                        let people = (times * poisson).ceil() as u64;
                        // With too few trials, even the largest noise is not enough.
                        let Ok(found) = least_of(people) else {
                            assert!(times < 4.0, "{people}, {epsilon}, {delta}");
                            continue;
                        };
                        let ratio = found.variance / poisson;
                        let at = format!("{coordinates}, {levels}, {epsilon}, {delta}: {found:?}");
                        assert!(ratio <= 1.0 + 3e-5, "{at}: {ratio}");
                        assert!(poisson < 300.0 || ratio > 0.95, "{at}: {ratio}");
                        least = least.min(ratio);
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 288, "{compared}");
    assert!((0.6..0.7).contains(&least), "{least}");
}

/// Truncation at B adds at most a millionth of δ, and truncation at B − 1 would add more.
#[test]
fn uploads_have_room_for_what_is_likely() {
    for (coordinates, people) in [(4, 20_000_u64), (16, 90_000), (128, 900_000)] {
        let own = senders(coordinates, 1, people, 4);
        let found = calibrate_noise(&own, 1.0, 1e-6).unwrap();
        let all = 8 * u64::from(coordinates);
        let mean = all as f64 * found.noise.threshold as f64 / SCALE;
        let most = found.noise.most;
        assert!(mean < most as f64 && most < all, "{found:?}: {mean}");
        let delta = |most| {
            let noise = NoiseParameters {
                most,
                ..found.noise
            };
            own.delta_bounds(noise, 1.0).unwrap().upper
        };
        let never = delta(all);
        assert!(delta(most) - never <= 1.0001e-12, "{found:?}");
        assert!(delta(most - 1) - never > 1e-12, "{found:?}");
    }
}

/// The smallest number of trials w is found, even if it is far from the Gaussian limit.
#[test]
fn the_fewest_repeats_are_the_fewest() {
    for (coordinates, levels, epsilon, delta, people) in [
        (1, 1, 0.3, 1e-6, 1_300_u64),
        (1, 1, 5.0, 1e-9, 10),
        (16, 8, 1.0, 1e-6, 90_000),
        (4, 32, 1.0, 1e-6, 10_000),
        (2, 1, 8.0, 1e-9, 3),
    ] {
        let own = senders(coordinates, levels, people, 1);
        let found = senders_with_fewest_noise_trials(&own, epsilon, delta).unwrap();
        let calibration = calibrate_noise(&found, epsilon, delta).unwrap();
        let half = 0.5 * found.honest_noise_trials() as f64;
        assert!(calibration.mean <= half, "{found:?}: {calibration:?}");
        if found.repeats > 1 {
            let less = SenderBatch {
                repeats: found.repeats - 1,
                ..found
            };
            let error = calibrate_noise(&less, epsilon, delta).unwrap_err();
            assert_eq!(error.code(), ErrorCode::OutOfRange, "{found:?}");
            assert!(error.to_string().contains("central_epsilon"), "{error}");
        }
    }
}

/// If each person reports a quarter of the coordinates, drawn at random, a quarter of the noise is
/// enough.
#[test]
fn drawn_coordinates_need_less_noise() {
    let all = senders(64, 2, 900_000, 1);
    let drawn = SenderBatch { used: 16, ..all };
    let [all, drawn] = [all, drawn].map(|own| calibrate_noise(&own, 1.0, 1e-6).unwrap());
    let ratio = all.variance / drawn.variance;
    assert!((ratio - 4.0).abs() < 0.01, "{ratio}");
    assert!(drawn.noise.most < all.noise.most);
}

#[test]
fn much_noise_approaches_the_gaussian_limit() {
    for (coordinates, levels, epsilon, delta) in [
        (1, 16, 0.2, 1e-6),
        (64, 4, 1.0, 1e-10),
        (1024, 1, 0.7, 1e-8),
    ] {
        let own = senders(coordinates, levels, 10_000_000, 4);
        let found = calibrate_noise(&own, epsilon, delta).unwrap();
        let limit = required_gaussian_variance(coordinates, levels, epsilon, delta);
        assert!(
            (found.variance / limit - 1.0).abs() < 3e-4,
            "{found:?}: {limit}"
        );
    }
}

#[test]
fn what_is_out_of_range_is_refused() {
    let refused = |error: hushbin::Error, expected: &str| {
        assert_eq!(error.code(), ErrorCode::OutOfRange);
        assert!(error.to_string().contains(expected), "{error}");
    };
    let noise = |coordinates, levels, trials, threshold| {
        UnitMessageNoise::new(coordinates, levels, trials, threshold).unwrap_err()
    };
    refused(noise(0, 1, 100, 1 << 60), "coordinates is 0");
    refused(noise(1, 0, 100, 1 << 60), "levels is 0");
    refused(noise(1, 1, 0, 1 << 60), "trials is 0");
    refused(noise(1, 1, 100, 0), "probability of a noise message is 0");
    refused(noise(1, 1, 100, (1 << 63) + (1 << 40)), "expected");
    refused(
        noise(1, 1, 1_000_000_000_000, 1 << 63),
        "variance of a count's noise",
    );
    let own = senders(4, 1, 1_000, 1);
    let bad = |own: SenderBatch| calibrate_noise(&own, 1.0, 1e-6).unwrap_err();
    refused(
        bad(SenderBatch { used: 5, ..own }),
        "coordinates used is 5, expected 1 to 4",
    );
    refused(bad(SenderBatch { repeats: 0, ..own }), "repeats is 0");
    refused(
        bad(SenderBatch {
            honest_people: 0,
            ..own
        }),
        "honest people is 0",
    );
    refused(
        calibrate_noise(&own, 12.5, 1e-6).unwrap_err(),
        "central_epsilon is 12.5",
    );
    refused(
        calibrate_noise(&own, f64::NAN, 1e-6).unwrap_err(),
        "central_epsilon is NaN",
    );
    refused(calibrate_noise(&own, 1.0, 0.0).unwrap_err(), "delta is 0");
    refused(
        calibrate_noise(&own, 0.1, 1e-6).unwrap_err(),
        "central_epsilon is 0.1, expected",
    );
    refused(
        senders_with_fewest_noise_trials(&own, 0.0, 1e-15).unwrap_err(),
        "central_epsilon is 0, expected",
    );
    let hidden = super::noise(4, 1, 1_000, 0.25);
    refused(
        hidden.delta_bounds(-1.0).unwrap_err(),
        "central_epsilon is -1",
    );
    refused(hidden.epsilon_bounds(0.5).unwrap_err(), "delta is 0.5");
}

/// ε is infinite if identifying outcomes have a probability above δ, for example if there are fewer
/// people than levels.
#[test]
fn little_noise_hides_nothing() {
    for own in [
        super::noise(3, 1, 10, 0.1),
        super::noise(1, 8, 4, 0.5),
        super::noise(16, 1024, 1, 1e-19),
    ] {
        let found = own.epsilon_bounds(1e-6).unwrap();
        assert_eq!(found.upper, f64::INFINITY, "{own:?}");
        let delta = own.delta_bounds(6.0).unwrap();
        assert!(
            delta.lower > 0.3 && delta.upper <= 1.0,
            "{own:?}: {delta:?}"
        );
    }
    let own = senders(3, 1, 10, 1);
    let noise = NoiseParameters {
        threshold: 1 << 61,
        most: 6,
    };
    assert_eq!(
        own.epsilon_bounds(noise, 1e-6).unwrap().upper,
        f64::INFINITY
    );
}
