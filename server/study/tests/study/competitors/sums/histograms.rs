//! Tests of the privacy loss of one coordinate's messages, against enumeration of their histograms.

use std::collections::BTreeMap;

use hushbin_study::competitors::hockey_stick_divergence;
use hushbin_study::competitors::sums::{
    CoordinateBudget, CoordinateNoise, LEVEL_COUNT_RANGE, NegativeBinomial, ZeroSumTuples,
};

/// Counts of messages by value.
type Histogram = BTreeMap<i32, i64>;

fn add(histogram: &mut Histogram, value: i32, count: i64) {
    *histogram.entry(value).or_default() += count;
}

/// The decomposition e_x = Σ c_y(x)·s_y + x·e₊₁ holds for all messages x, and all tuples have the
/// sum zero.
#[test]
fn messages_are_tuples_and_units() {
    for levels in [1, 2, 3, 16, LEVEL_COUNT_RANGE.max as u32] {
        let tuples = ZeroSumTuples::new(levels).unwrap();
        for y in tuples.tuple_names() {
            assert_eq!(tuples.tuple_messages(y).iter().sum::<i32>(), 0, "{y}");
        }
        for x in -(levels as i32)..=levels as i32 {
            let mut left = Histogram::new();
            for (y, count) in tuples.decomposition(x) {
                for value in tuples.tuple_messages(y) {
                    add(&mut left, value, count.into());
                }
            }
            add(&mut left, 1, x.into());
            add(&mut left, x, -i64::from(x != 0));
            assert!(left.values().all(|&count| count == 0), "{x}: {left:?}");
        }
    }
    assert!(ZeroSumTuples::new(0).is_err() && ZeroSumTuples::new(65).is_err());
}

/// Checks Γ and q against known values. U far beyond ±L causes no greater shifts.
#[test]
fn reach_is_that_of_the_worst_pair() {
    for (levels, gamma, differing) in [(1, 1, 1), (2, 6, 3), (4, 20, 5), (8, 56, 9), (16, 144, 13)]
    {
        let tuples = ZeroSumTuples::new(levels).unwrap();
        let reach = tuples.max_tuple_count_shift();
        assert_eq!(
            (reach.max_weighted_shift, reach.max_shifted_tuples),
            (gamma, differing)
        );
        let l = levels as i32;
        let beyond = (-l..=l).flat_map(|from| (-l..=l).map(move |to| (from, to)));
        for (from, to) in beyond {
            for units in [-3 * l, 3 * l] {
                let shifts = tuples.tuple_names().map(|y| {
                    tuples.tuple_count_shift(y, from, to, units).unsigned_abs() * y.unsigned_abs()
                });
                assert!(shifts.sum::<u32>() <= gamma);
            }
        }
    }
}

/// Returns the joint probabilities of Z⁺ + Z₁ and Z⁻ + Z₁, with the same Z₁ in both sums.
fn units_and_pairs(noise: &CoordinateNoise, most: usize) -> Vec<Vec<f64>> {
    let cut = |law: NegativeBinomial| {
        let mut all = law.probabilities();
        all.resize(most, 0.0);
        all
    };
    let units = cut(noise.unit_count_distribution());
    let pairs = cut(noise.tuple_count_distributions().next().unwrap().1);
    let at = |i: usize, j: usize| {
        let both = pairs.iter().take(i.min(j) + 1).enumerate();
        both.map(|(z, p)| p * units[i - z] * units[j - z]).sum()
    };
    (0..most)
        .map(|i| (0..most).map(|j| at(i, j)).collect())
        .collect()
}

/// Returns δ by enumeration of the histograms (N₊₂, N₋₂, N₊₁, N₋₁), with fewer than `most` copies
/// of each tuple.
fn of_histograms(noise: &CoordinateNoise, epsilon: f64, from: i32, to: i32, most: usize) -> f64 {
    let plain = units_and_pairs(noise, most);
    let laws: Vec<Vec<f64>> = noise
        .tuple_count_distributions()
        .map(|(_, law)| law.probabilities().into_iter().take(most).collect())
        .collect();
    let triples = |place: usize, z: i64| {
        let z = usize::try_from(z).ok()?;
        laws.get(place)?.get(z).copied()
    };
    // Probability of a histogram if the person's value is x.
    let probability = |x: i32, [twos, minus_twos, ones, minus_ones]: [i64; 4]| {
        let own = |value: i32| i64::from(x == value);
        let (up, down) = (twos - own(2), minus_twos - own(-2));
        // s₂ = {2, −1, −1}, s₋₂ = {−2, 1, 1}.
        let (plus, minus) = (
            usize::try_from(ones - own(1) - 2 * down).ok()?,
            usize::try_from(minus_ones - own(-1) - 2 * up).ok()?,
        );
        Some(triples(1, up)? * triples(2, down)? * plain.get(plus)?.get(minus)?)
    };
    let end = most as i64 + 2;
    let mut delta = 0.0;
    for (twos, minus_twos) in (0..end).flat_map(|a| (0..end).map(move |b| (a, b))) {
        // Range of the number of messages ±1, wide enough for either value of the person.
        let starts = |base: i64| (base - 4).max(0)..base + end + 4;
        for ones in starts(2 * minus_twos) {
            for minus_ones in starts(2 * twos) {
                let histogram = [twos, minus_twos, ones, minus_ones];
                let [p, q] = [from, to].map(|x| probability(x, histogram).unwrap_or(0.0));
                delta += (p - epsilon.exp() * q).max(0.0);
            }
        }
    }
    delta
}

#[test]
fn independent_counts_give_away_what_histograms_do() {
    // p is small, so that few copies have nearly all of the probability.
    for (r, units, pairs, triples) in [(4.0, 0.3, 0.25, 0.2), (1.5, 0.4, 0.3, 0.3)] {
        let copies = |y: i32| if y == 1 { pairs } else { triples };
        let noise = CoordinateNoise::with_parameters(2, r, units, copies).unwrap();
        for (from, to) in (-2..=2).flat_map(|from| (-2..=2).map(move |to| (from, to))) {
            let ours = noise.delta_between_values(1.0, from, to).unwrap();
            let theirs = of_histograms(&noise, 1.0, from, to, 26);
            assert!(
                (ours - theirs).abs() < 1e-6,
                "{from}, {to}: {ours} {theirs}"
            );
        }
    }
}

/// The corrected protocol satisfies its δ₀, with a margin of more than four orders of magnitude.
#[test]
fn coordinates_are_private() {
    for (levels, epsilon, delta) in [
        (1, 0.1, 1e-6),
        (1, 1.0, 1e-6),
        (1, 1.0, 1e-2),
        (1, 4.0, 0.1),
        (2, 6.0, 0.05),
    ] {
        let budget = CoordinateBudget::with_epsilon_and_delta(epsilon, delta).unwrap();
        let noise = CoordinateNoise::new(levels, &budget).unwrap();
        let worst = noise.worst_delta(epsilon).unwrap();
        assert!(worst <= 1e-4 * delta, "{levels} {epsilon}: {worst}");
        // The bound is not loose in ε: at 0.7·ε₀, which is below (1 − β)·ε₀, the sum alone already
        // has a large δ.
        let l = levels as i32;
        assert!(noise.delta_between_values(0.7 * epsilon, l, -l).unwrap() > 1e-4);
    }
    // With the p for a change by L, as if values had only one sign, the protocol is not private.
    let noise = CoordinateNoise::new(
        1,
        &CoordinateBudget::with_epsilon_and_delta(1.0, 1e-6).unwrap(),
    )
    .unwrap();
    let twice = noise
        .unit_count_distribution()
        .continue_probability()
        .powi(2);
    let less = CoordinateNoise::with_parameters(1, 44.5, twice, |_| 0.951_229).unwrap();
    assert!(less.worst_delta(1.0).unwrap() > 0.1);
    // With more levels there are too many histograms to list.
    let noise = CoordinateNoise::new(
        4,
        &CoordinateBudget::with_epsilon_and_delta(1.0, 1e-6).unwrap(),
    )
    .unwrap();
    assert!(noise.delta_between_values(1.0, 4, -4).is_err());
    assert!(CoordinateNoise::with_parameters(1, 0.5, 0.5, |_| 0.5).is_err());
}

/// The bound from losses on a grid is above the exact δ, by a small margin.
#[test]
fn rounded_losses_bound_what_is_given_away() {
    let copies = |y: i32| if y == 1 { 0.7 } else { 0.8 };
    for noise in [
        CoordinateNoise::with_parameters(2, 6.0, 0.6, copies).unwrap(),
        CoordinateNoise::new(
            1,
            &CoordinateBudget::with_epsilon_and_delta(1.0, 1e-3).unwrap(),
        )
        .unwrap(),
    ] {
        let l = noise.tuples().level_count() as i32;
        for (from, to) in (-l..=l).flat_map(|from| (-l..=l).map(move |to| (from, to))) {
            for epsilon in [0.3, 0.72, 1.5] {
                let exact = noise.delta_between_values(epsilon, from, to).unwrap();
                let above = noise.delta_upper_bound(epsilon, from, to);
                let room = 1e-3 * exact + 2e-4 * epsilon * exact.sqrt() + 2e-16;
                assert!(
                    exact <= above * (1.0 + 1e-9),
                    "{from} {to}: {exact} {above}"
                );
                assert!(above <= exact + room, "{from} {to}: {exact} {above}");
            }
        }
    }
}

/// Checks realistic parameters of the paper's protocol. One of the two values is −L or L.
#[test]
fn more_levels_are_private_too() {
    for (levels, epsilon, delta) in [
        (2, 1.0, 1e-6),
        (3, 1.0, 1e-6),
        (4, 1.0, 1e-6),
        (4, 3.0, 0.01),
    ] {
        let budget = CoordinateBudget::with_epsilon_and_delta(epsilon, delta).unwrap();
        let noise = CoordinateNoise::new(levels, &budget).unwrap();
        let l = levels as i32;
        for (from, to) in [-l, l]
            .into_iter()
            .flat_map(|from| (-l..=l).map(move |to| (from, to)))
        {
            let above = noise.delta_upper_bound(epsilon, from, to);
            assert!(above <= 1e-3 * delta, "{levels} {from} {to}: {above}");
        }
    }
}

/// Checks moments, P(0) and the δ of a shift of negative binomial counts, by enumeration of all
/// outcomes.
#[test]
fn negative_binomials_are_what_they_say() {
    for (r, p) in [
        (1.0, 0.5),
        (4.0, 0.6),
        (0.37, 0.9),
        (44.4, 0.951),
        (47.7, 0.9992),
    ] {
        let law = NegativeBinomial::new(r, p).unwrap();
        let all = law.probabilities();
        let mean: f64 = (0..).zip(&all).map(|(k, q)| f64::from(k) * q).sum();
        let square: f64 = (0..).zip(&all).map(|(k, q)| f64::from(k).powi(2) * q).sum();
        assert!((mean / law.mean() - 1.0).abs() < 1e-9, "{r} {p}: {mean}");
        let variance = square - mean * mean;
        assert!((variance / law.variance() - 1.0).abs() < 1e-8, "{r} {p}");
        let none = (r * (-p).ln_1p()).exp();
        assert!(
            none < 1e-200 || (all[0] / none - 1.0).abs() < 1e-9,
            "{r} {p}"
        );
        let shifted = |k: usize| if k == 0 { 0.0 } else { all[k - 1] };
        let up = hockey_stick_divergence((0..all.len()).map(|k| (shifted(k), all[k])), 0.3);
        let down = hockey_stick_divergence((0..all.len()).map(|k| (all[k], shifted(k))), 0.3);
        assert!((law.delta_of_shift(1, 0.3) - up.max(down)).abs() < 1e-14);
    }
    assert!(NegativeBinomial::new(0.0, 0.5).is_err());
    assert!(
        NegativeBinomial::new(1.0, 1.0).is_err() && NegativeBinomial::new(f64::NAN, 0.5).is_err()
    );
}
