//! Tests on an example of a batch, its noise and its account.

use hushbin::Error;

use super::super::{
    NoiseParameters, SenderBatch, UnitMessageNoise, calibrate_noise, required_gaussian_variance,
    senders_with_fewest_noise_trials,
};

/// Batch of people who send sixteen coordinates with eight levels each.
const SENDERS: SenderBatch = SenderBatch {
    coordinates: 16,
    used: 16,
    levels: 8,
    honest_people: 90_000,
    repeats: 1,
};

#[test]
fn the_least_noise_is_less_than_poissons() -> Result<(), Error> {
    let senders = SenderBatch {
        coordinates: 16,
        used: 16,
        levels: 1,
        honest_people: 90_000,
        repeats: 1,
    };
    let found = calibrate_noise(&senders, 1.0, 1e-6)?;
    // Poisson noise would need a variance of 572.03.
    assert!(571.0 < found.variance && found.variance < 572.03);
    assert!(found.delta.upper <= 1e-6 && found.noise.most < 32);
    Ok(())
}

#[test]
fn more_trials_reach_a_smaller_epsilon() -> Result<(), Error> {
    let senders = SenderBatch {
        coordinates: 16,
        used: 16,
        levels: 8,
        honest_people: 20_000,
        repeats: 1,
    };
    assert!(calibrate_noise(&senders, 1.0, 1e-6).is_err());
    let more = senders_with_fewest_noise_trials(&senders, 1.0, 1e-6)?;
    // A variance of 36,550 needs at least 4 · 36,550 trials, because q(1 − q) ≤ 1/4. These are 8
    // per person.
    assert_eq!(more.repeats, 8);
    assert!(calibrate_noise(&more, 1.0, 1e-6)?.mean <= 80_000.0);
    Ok(())
}

#[test]
fn the_gaussian_limit_is_known() {
    assert!((required_gaussian_variance(16, 1, 1.0, 1e-6) - 571.133_174_97).abs() < 1e-6);
}

#[test]
fn noise_hides_one_count() -> Result<(), Error> {
    let noise = UnitMessageNoise::new(1, 1, 5_000, ((369.4 / 5_000.0) * 2_f64.powi(64)) as u64)?;
    assert!((noise.variance() - 342.1).abs() < 0.1);
    let delta = noise.delta_bounds(0.3)?;
    assert!(0.99e-6 < delta.lower && delta.upper < 1.01e-6);
    Ok(())
}

#[test]
fn a_cut_counts() -> Result<(), Error> {
    let any = NoiseParameters {
        threshold: 1 << 63,
        most: 32,
    };
    let few = NoiseParameters {
        threshold: 1 << 63,
        most: 31,
    };
    assert!(SENDERS.delta_bounds(any, 2.0)?.upper < 1e-9);
    // Per person, the probability that all 32 trials send a message is 2⁻³².
    assert!(SENDERS.delta_bounds(few, 2.0)?.upper > 1e-4);
    Ok(())
}

#[test]
fn an_account_is_inverse() -> Result<(), Error> {
    let noise = NoiseParameters {
        threshold: (0.45 * 2_f64.powi(64)) as u64,
        most: 32,
    };
    let found = SENDERS.epsilon_bounds(noise, 1e-6)?;
    assert!(found.lower <= found.upper && found.upper < found.lower * 1.0001);
    assert!(1.3 < found.lower && found.upper < 1.31);
    Ok(())
}

#[test]
fn one_message_fewer_is_not_enough() -> Result<(), Error> {
    let senders = SenderBatch {
        coordinates: 4,
        used: 4,
        levels: 2,
        honest_people: 9_000,
        repeats: 1,
    };
    let noise = calibrate_noise(&senders, 1.0, 1e-6)?.noise;
    assert!(senders.is_enough(noise, 1.0, 1e-6)?);
    let fewer = NoiseParameters {
        most: noise.most - 1,
        ..noise
    };
    assert!(!senders.is_enough(fewer, 1.0, 1e-6)?);
    Ok(())
}
