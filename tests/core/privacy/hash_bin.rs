//! Exact local differential privacy of hash-bin. Small domains compare all inputs, large ones
//! compare random neighbours, and δ is checked over all signs.
//!
//! A report is a seed and a response. The seed is drawn independently of the input. So privacy
//! under each seed suffices, or with δ under all but a fraction δ of them.

use std::collections::BTreeMap;

use hushbin::hash::HashFamily;
use hushbin::mechanism::hash_bin::{HashBin, PrivacyLevel, RandomisedResponse, SumNoiseKind};
use hushbin::sample::ExpLowerBound;
use hushbin::{Entry, Randomizer, Report};
use num_bigint::BigUint;
use num_traits::One;
use proptest::prelude::*;
use rand_chacha::rand_core::Rng;

use crate::support::exact::{Exact, Exp};
use crate::support::generators::{Scripted, randomize, seeded};
use crate::support::hash_bin::{Model, entries, inputs, rounded};
use crate::support::significance::assert_rates;

const BALANCED: HashFamily = HashFamily::Balanced;
const INDEPENDENT: HashFamily = HashFamily::Independent;
const SEEDS: [u64; 4] = [0, 1, 0x0123_4567_89ab_cdef, u64::MAX];
const EPSILONS: [f64; 4] = [0.001, std::f64::consts::LN_2, 2.3, 12.0];

/// Values on the grid and off it, down to those that are cut off.
const VALUES: [f64; 7] = [
    0.0,
    1.0,
    -1.0,
    1.0 / 3.0,
    -0.8,
    1.0 / (1u64 << 40) as f64,
    1.0 / (1u64 << 43) as f64,
];

fn neighbouring(distance: f64, delta: Option<f64>) -> PrivacyLevel {
    PrivacyLevel::Neighbouring { distance, delta }
}

// Two-point responses.

fn two_point(items: u32, epsilon: f64, clip: f64, grid: u32) -> Model {
    Model {
        items: Some(items),
        sparsity: 1,
        epsilon,
        level: PrivacyLevel::User {
            clip,
            noise: SumNoiseKind::TwoPoint,
        },
        hashing: BALANCED,
        bins: 1,
        grid,
    }
}

/// Clips below a value, between values, at the sum of all, and beyond.
fn two_point_models(items: u32) -> Vec<Model> {
    let clips = [
        (1.0, 1),
        (2.0, 1),
        (0.25, 4),
        (1.75, 4),
        (3.0, 1024),
        (1.5, 1 << 16),
        (17.0, 8),
    ];
    let with = |epsilon: f64| clips.map(|(clip, grid)| two_point(items, epsilon, clip, grid));
    EPSILONS.into_iter().flat_map(with).collect()
}

/// P(plus) and P(minus) of an input, in units of 2⁻⁶⁴ times a step: a mixture over the two steps
/// that its sum is rounded to.
fn signs(model: &Model, sum: i128, lean: &dyn Fn(u32) -> u64) -> [BigUint; 2] {
    let step = model.step();
    let (floor, _) = model.rounding(sum);
    let up = sum.rem_euclid(step);
    let plus = BigUint::from(Model::plus_words(floor, lean)) * (step - up) as u128
        + if up > 0 {
            BigUint::from(Model::plus_words(floor + 1, lean)) * up as u128
        } else {
            BigUint::ZERO
        };
    let minus = (BigUint::from(step as u128) << 64) - &plus;
    [plus, minus]
}

/// Returns the greatest likelihood ratio of either sign between any two inputs, over all seeds.
fn worst_ratio(model: &Model, lean: &dyn Fn(u32) -> u64) -> Exact {
    let mut worst = Exact::one();
    let inputs = inputs(model.items.unwrap(), &VALUES);
    for seed in SEEDS {
        let mut sums: Vec<i128> = inputs
            .iter()
            .map(|values| model.sums(seed, &entries(values))[0])
            .collect();
        sums.sort_unstable();
        sums.dedup();
        let signs: Vec<_> = sums.iter().map(|&sum| signs(model, sum, lean)).collect();
        for sign in 0..2 {
            let most = signs.iter().map(|of| &of[sign]).max().unwrap();
            let least = signs.iter().map(|of| &of[sign]).min().unwrap();
            worst = worst.max(Exact::new_raw(most.clone(), least.clone()));
        }
    }
    worst
}

/// Returns whether inputs are clipped on both sides.
fn clips(model: &Model) -> bool {
    model.level.clipping_bound().unwrap() <= f64::from(model.items.unwrap())
}

#[test]
fn no_sign_tells_more_than_epsilon() {
    let mut attained = 0;
    for model in (1..=3).flat_map(two_point_models) {
        let effective = model.task().achieved_report_epsilon();
        assert!(effective <= model.epsilon, "{model:?}");
        let worst = worst_ratio(&model, &|steps| model.lean(steps));
        assert!(worst <= Exp::of(effective).low_ratio(), "{model:?}");
        assert!(worst <= Exp::of(model.epsilon).low_ratio(), "{model:?}");
        // The bound is attained.
        if clips(&model) {
            let nearly = Exp::of((effective - 1e-12).max(0.0)).high_ratio();
            assert!(worst >= nearly, "{model:?}");
            attained += 1;
        }
    }
    assert!(attained >= 50, "{attained}");
}

/// Computes floor(2⁶⁴ · (e − 1)/(e + 1) · steps/clip) / 2, or one more.
fn lean_of(model: &Model, e: &Exact, steps: u32, up: bool) -> u64 {
    let one = Exact::one;
    let part = Exact::new_raw(steps.into(), model.clip_steps().unwrap().into());
    let exact: Exact = (e - one()) / (e + one()) * part * (BigUint::one() << 63);
    let rounded = if up { exact.ceil() } else { exact.floor() };
    u64::try_from(rounded.to_integer()).unwrap()
}

/// The check can fail: 2⁻⁶⁴ more on either side is too much.
#[test]
fn one_notch_too_high_is_caught() {
    let mut caught = 0;
    for model in two_point_models(3) {
        let exp = Exp::of(model.epsilon);
        let (low, high) = (exp.low_ratio(), exp.high_ratio());
        let right = |steps| lean_of(&model, &low, steps, false);
        assert!(worst_ratio(&model, &right) <= low, "{model:?}");
        if clips(&model) {
            let wrong = |steps| lean_of(&model, &high, steps, true);
            assert!(worst_ratio(&model, &wrong) > high, "{model:?}");
            caught += 1;
        }
        // The released value is at most 2⁻⁵⁵ below the best possible. At small ε only the numerator
        // e − 1 remains of e.
        for steps in [1, model.clip_steps().unwrap()] {
            let (best, ours) = (right(steps), model.lean(steps));
            let slack = 2.0 + best as f64 / 2f64.powi(55) / model.epsilon.min(1.0);
            assert!(ours <= best && (best - ours) as f64 <= slack, "{model:?}");
        }
    }
    assert!(caught >= 20, "{caught}");
}

/// Walks every branch of the sampler's decisions. A word below the sum's remainder rounds up. A
/// word below P(plus) of that step gives a plus.
#[test]
fn the_sampler_draws_from_these_distributions() {
    let mut walks = 0;
    for model in two_point_models(3) {
        let task = model.task();
        let sampling = model
            .hash_bin()
            .response_distribution(model.items, model.epsilon);
        let mut randomizer = Randomizer::new(&task);
        for values in inputs(3, &VALUES) {
            for seed in SEEDS {
                let input = entries(&values);
                let sum = model.sums(seed, &input)[0];
                let (floor, words) = model.rounding(sum);
                let roundings = match words {
                    0 => vec![(floor, None)],
                    _ => vec![(floor + 1, Some(words - 1)), (floor, Some(words))],
                };
                for (steps, rounding) in roundings {
                    let threshold = Model::plus_words(steps, |steps| model.lean(steps));
                    let said = sampling.plus_probability(steps as i32).unwrap();
                    let exactly = threshold as f64 / 2f64.powi(64);
                    assert!((said - exactly).abs() <= 1e-15, "{model:?}");
                    for (word, plus) in [(threshold - 1, true), (threshold, false)] {
                        let mut script = vec![seed];
                        script.extend(rounding);
                        script.push(word);
                        let mut rng = Scripted::new(&script);
                        let made = randomize(&mut randomizer, &input, &mut rng).unwrap();
                        assert_eq!(rng.taken, script.len());
                        assert!(!made.was_sampled_down);
                        let Report::HashBin(report) = made.report else {
                            unreachable!()
                        };
                        assert_eq!(report.seed, seed);
                        assert_eq!(report.response, RandomisedResponse::Sign(plus), "{model:?}");
                        walks += 1;
                    }
                }
            }
        }
    }
    assert!(walks > 10_000, "{walks}");
}

// Bins.

/// A model whose sampler rounds like every model with these bins and grid. Its ε is so small, and
/// its noise so wide, that no bin is cut off.
fn rounding_model(items: Option<u32>, hashing: HashFamily, bins: u32, grid: u32) -> Model {
    Model {
        items,
        sparsity: 1,
        epsilon: 0.001,
        level: PrivacyLevel::Event,
        hashing,
        bins,
        grid,
    }
}

/// Returns the distance between the sampler's bins of two inputs. Each bin is rounded by its worst
/// word among those at which rounding changes.
fn apart(model: &Model, randomizer: &mut Randomizer, seed: u64, pair: [&[Entry]; 2]) -> u64 {
    let words = pair.map(|input| model.rounding_words(&model.sums(seed, input)));
    let lowest = vec![0; words[0].len()];
    let mut worst = vec![0; lowest.len()];
    for words in [&words[0], &words[1], &lowest] {
        let bins = pair.map(|input| rounded(model, randomizer, seed, input, words));
        for (worst, (a, b)) in worst.iter_mut().zip(bins[0].iter().zip(&bins[1])) {
            *worst = a.abs_diff(*b).max(*worst);
        }
    }
    worst.iter().sum()
}

/// Returns the sum of the absolute differences as a double, rounded up, and the number of
/// differences.
fn distance(first: &[f64], second: &[f64]) -> (f64, usize) {
    // Values are multiples of 2⁻⁶⁰ that a double represents exactly.
    let exact = |value: &f64| (value * 2f64.powi(60)) as i128;
    let differences = first.iter().zip(second);
    let differences = differences.map(|(a, b)| (exact(a) - exact(b)).unsigned_abs());
    let (sum, count) = differences
        .filter(|&difference| difference > 0)
        .fold((0, 0), |(sum, count), difference| {
            (sum + difference, count + 1)
        });
    let mut double = sum as f64 / 2f64.powi(60);
    if ((double * 2f64.powi(60)) as u128) < sum {
        double = double.next_up();
    }
    (double, count)
}

/// Checks every pair of inputs, at the least L for which they are neighbours, and at event level if
/// they differ in one item. The sampler's bins differ by at most the noise's sensitivity, and the
/// loss of all bins is at most ε.
#[test]
fn no_bins_tell_more_than_epsilon_between_any_neighbours() {
    let mut worst_event = 0;
    let (mut pairs, mut tight) = (0, 0);
    for (hashing, bins, grid) in [
        (BALANCED, 1, 1),
        (BALANCED, 2, 1024),
        (INDEPENDENT, 3, 2),
        (BALANCED, 3, 1 << 16),
    ] {
        let model = rounding_model(Some(3), hashing, bins, grid);
        let mut randomizer = Randomizer::new(&model.task());
        let inputs = inputs(3, &VALUES[..6]);
        for seed in [1, u64::MAX] {
            for (index, first) in inputs.iter().enumerate().step_by(5) {
                for second in inputs[..index].iter().step_by(3) {
                    let (distance, differing) = distance(first, second);
                    let pair = [&entries(first)[..], &entries(second)];
                    let apart = apart(&model, &mut randomizer, seed, pair);
                    let sums = pair.map(|input| model.sums(seed, input));
                    let mut levels = vec![neighbouring(distance.max(1.0 / 65536.0), None)];
                    if differing == 1 {
                        levels.push(PrivacyLevel::Event);
                        worst_event = worst_event.max(apart * 1024 / u64::from(grid));
                    }
                    for level in levels {
                        let hash_bin = HashBin::new(level, hashing, bins, grid).unwrap();
                        let most = hash_bin.sensitivity();
                        let case = || format!("{model:?}, {first:?}, {second:?}");
                        assert!(apart <= most, "{apart} > {most}: {}", case());
                        tight += u32::from(apart + 1 == most);
                        for epsilon in [0.1, 3.0] {
                            let sampling = hash_bin.response_distribution(Some(3), epsilon);
                            let rate = sampling.laplace_noise().unwrap().rate();
                            let effective = sampling.effective_epsilon();
                            for (a, b) in [(0, 1), (1, 0)] {
                                let loss = model.loss(rate, &sums[a], &sums[b]);
                                assert!(loss <= effective + 1e-9, "{loss}: {}", case());
                            }
                        }
                    }
                    pairs += 1;
                }
            }
        }
    }
    // An item that changes from −1 to 1 moves its bin by the full sensitivity.
    assert_eq!(worst_event, 2048);
    assert!(pairs > 10_000 && tight > 100, "{pairs} {tight}");
}

/// Any two inputs are neighbours at user level.
#[test]
fn no_clipped_sum_tells_more_than_epsilon() {
    let mut attained = 0;
    for (clip, grid) in [(1.0, 1), (0.75, 4), (2.5, 1024), (2.0, 1 << 16)] {
        let level = PrivacyLevel::User {
            clip,
            noise: SumNoiseKind::Laplace,
        };
        let model = Model {
            level,
            ..rounding_model(Some(3), BALANCED, 1, grid)
        };
        let mut randomizer = Randomizer::new(&model.task());
        let hash_bin = model.hash_bin();
        let most = hash_bin.sensitivity();
        assert_eq!(most as f64, 2.0 * clip * f64::from(grid));
        let inputs: Vec<Vec<Entry>> = inputs(3, &VALUES[..6])
            .iter()
            .step_by(2)
            .map(|values| entries(values))
            .collect();
        for seed in SEEDS {
            for (index, first) in inputs.iter().enumerate() {
                for second in inputs[..index].iter().step_by(7) {
                    let apart = apart(&model, &mut randomizer, seed, [first, second]);
                    assert!(apart <= most, "{model:?}: {first:?} {second:?}");
                    attained += u32::from(apart == most);
                    let sums = [first, second].map(|input| model.sums(seed, input));
                    for epsilon in [0.1, 3.0] {
                        let sampling = hash_bin.response_distribution(Some(3), epsilon);
                        let rate = sampling.laplace_noise().unwrap().rate();
                        let loss = model.loss(rate, &sums[0], &sums[1]);
                        assert!(loss <= sampling.effective_epsilon() + 1e-9);
                    }
                }
            }
        }
    }
    assert!(attained > 100, "{attained}");
}

/// Values that a double represents exactly as a multiple of 2⁻⁶⁰: mostly real, sometimes 0, ±1, or
/// tiny.
fn value() -> impl Strategy<Value = f64> {
    let on = |numerator: i64, bits: i32| numerator as f64 / 2f64.powi(bits);
    prop_oneof![
        4 => (-(1i64 << 50)..=1 << 50).prop_map(move |n| on(n, 50)),
        1 => prop_oneof![Just(0.0), Just(1.0), Just(-1.0)],
        1 => (-(1i64 << 20)..=1 << 20).prop_map(move |n| on(n, 60)),
    ]
}

/// Two inputs of many items. The second is the first with some values replaced or moved slightly.
fn neighbours() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let one = prop_oneof![
        3 => value().prop_map(|value| (value, value)),
        1 => (value(), value()),
        3 => (-(1i64 << 50)..=1 << 50, -(1i64 << 12)..=1 << 12).prop_map(|(n, step)| {
            let near = (n + step).clamp(-(1 << 50), 1 << 50);
            (n as f64 / 2f64.powi(50), near as f64 / 2f64.powi(50))
        }),
        1 => value().prop_map(|value| (0.0, value)),
    ];
    proptest::collection::vec(one, 1..200).prop_map(|pairs| pairs.into_iter().unzip())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// People with far more entries than s, in closed and open domains.
    #[test]
    fn rounded_bins_of_neighbours_are_as_near_as_stated(
        (first, second) in neighbours(),
        open in any::<bool>(),
        bins in 1u32..40,
        grid in 0u32..=16,
        seed in any::<u64>(),
        epsilon in 0.001f64..12.0,
    ) {
        let grid = 1 << grid;
        let items = u32::try_from(first.len()).unwrap();
        let (model, key): (_, fn(u64) -> u64) = if open {
            (
                rounding_model(None, INDEPENDENT, bins, grid),
                |item| item.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            )
        } else {
            (
                rounding_model(Some(items), BALANCED, bins.min(items), grid),
                |item| item,
            )
        };
        let keyed = |values: &[f64]| -> Vec<Entry> {
            let entries = entries(values).into_iter();
            entries.map(|Entry { item, value }| Entry { item: key(item), value }).collect()
        };
        let (keyed_first, keyed_second) = (keyed(&first), keyed(&second));
        let mut randomizer = Randomizer::new(&model.task());
        let apart = apart(&model, &mut randomizer, seed, [&keyed_first, &keyed_second]);
        let distance = distance(&first, &second).0.max(1.0 / 65536.0);
        let level = neighbouring(distance, None);
        let hash_bin = HashBin::new(level, model.hashing, model.bins, grid).unwrap();
        prop_assert!(apart <= hash_bin.sensitivity());
        let sampling = hash_bin.response_distribution(Some(3), epsilon);
        let rate = sampling.laplace_noise().unwrap().rate();
        let effective = sampling.effective_epsilon();
        prop_assert!(effective <= epsilon);
        let spent = rate * hash_bin.sensitivity() as f64;
        prop_assert!((spent - effective).abs() <= 1e-15 * effective);
        let loss = model.loss(
            rate,
            &model.sums(seed, &keyed_first),
            &model.sums(seed, &keyed_second),
        );
        prop_assert!(loss <= effective + 1e-9, "{loss} > {effective}");

        // One item's value is replaced.
        let mut other = first.clone();
        let index = seed as usize % other.len();
        other[index] = second[index];
        let hash_bin = HashBin::new(PrivacyLevel::Event, model.hashing, model.bins, grid).unwrap();
        let other = keyed(&other);
        let words: Vec<u64> = model.rounding_words(&model.sums(seed, &keyed_first));
        let bins = [&keyed_first, &other]
            .map(|input| rounded(&model, &mut randomizer, seed, input, &words));
        let apart: u64 = bins[0].iter().zip(&bins[1]).map(|(a, b)| a.abs_diff(*b)).sum();
        prop_assert!(apart <= hash_bin.sensitivity());
    }
}

/// Rounding can cost a step for each bin, and the bound is tight: many tiny changes move every bin
/// by a step.
#[test]
fn rounding_may_move_every_bin() {
    let (items, bins, grid) = (64, 8, 1024);
    let model = rounding_model(Some(items), BALANCED, bins, grid);
    let mut randomizer = Randomizer::new(&model.task());
    let tiny = 2f64.powi(-40);
    let first = entries(&[0.3; 64]);
    let second = entries(&[0.3 + tiny; 64]);
    let distance = 64.0 * tiny;
    assert!(distance * f64::from(grid) < 0.001);
    let most = HashBin::new(neighbouring(1.0 / 65536.0, None), BALANCED, bins, grid)
        .unwrap()
        .sensitivity();
    assert_eq!(most, 1 + u64::from(bins));
    let far = SEEDS.map(|seed| apart(&model, &mut randomizer, seed, [&first, &second]));
    // A bin whose signs cancel does not move.
    assert!(far.iter().all(|&far| far <= most), "{far:?}");
    assert!(far.iter().any(|&far| far >= u64::from(bins) - 2), "{far:?}");
}

/// Shows why nothing is sampled down to s: a tiny further entry would displace another one. If one
/// of two entries is kept, a value of 1 is missing half of the time. That exceeds any L between the
/// values themselves.
#[test]
fn sampling_down_would_tell_neighbours_apart() {
    let tiny = 1.0 / 1024.0;
    let model = Model {
        items: Some(2),
        sparsity: 1,
        epsilon: 1.0,
        level: neighbouring(tiny, None),
        hashing: BALANCED,
        bins: 1,
        grid: 1024,
    };
    let sampling = model.hash_bin().response_distribution(Some(3), 1.0);
    let rate = sampling.laplace_noise().unwrap().rate();
    let alone = entries(&[1.0]);
    let both = entries(&[1.0, tiny]);
    for seed in SEEDS {
        let sums = [&alone, &both].map(|input| model.sums(seed, input));
        let loss = model.loss(rate, &sums[0], &sums[1]);
        assert!(loss <= 1.0 + 1e-9, "{loss}");

        // Half of the reports of `both` keep only the small entry. The other input practically
        // never gives reports near that value.
        let small = model.sums(seed, &both[1..])[0];
        let (near, far) = (model.rounding(small).0, model.rounding(sums[0][0]).0);
        let least_loss = rate * near.abs_diff(far) as f64 - 2f64.ln();
        assert!(least_loss > 500.0, "{least_loss}");
    }
}

// Approximate privacy (δ).

/// Distribution of the total distance between the bins of two inputs, over all signs. `differences`
/// lists each bin's differences in quarters.
fn tails(differences: &[Vec<u32>]) -> BTreeMap<u32, f64> {
    let mut total = BTreeMap::from([(0, 1.0)]);
    for bin in differences {
        let mut sums = BTreeMap::from([(0i64, 1.0)]);
        for &difference in bin {
            let mut next = BTreeMap::new();
            for (sum, probability) in sums {
                for signed in [i64::from(difference), -i64::from(difference)] {
                    *next.entry(sum + signed).or_insert(0.0) += probability / 2.0;
                }
            }
            sums = next;
        }
        let mut next = BTreeMap::new();
        for (&apart, p) in &total {
            for (sum, q) in &sums {
                *next.entry(apart + sum.unsigned_abs() as u32).or_insert(0.0) += p * q;
            }
        }
        total = next;
    }
    total
}

fn beyond(distribution: &BTreeMap<u32, f64>, quarters: f64) -> f64 {
    let far = distribution
        .iter()
        .filter(|(apart, _)| f64::from(**apart) > quarters);
    far.map(|(_, probability)| probability).sum()
}

/// Differences in quarters for b bins, of several shapes.
fn shapes() -> Vec<Vec<Vec<u32>>> {
    let mut shapes = Vec::new();
    for bins in [1usize, 2, 3] {
        // The fewest and greatest possible differences.
        for count in [12, 30, 60, 100] {
            shapes.push(vec![vec![8; count]; bins]);
        }
        // Many small differences with some great ones, and uneven bins.
        shapes.push(vec![[vec![1; 150], vec![8; 15]].concat(); bins]);
        let uneven = (0..bins).map(|bin| vec![8 - bin as u32; 80 >> (2 * bin)]);
        shapes.push(uneven.collect());
        shapes.push(vec![(0..90).map(|i| 1 + i % 8).collect(); bins]);
    }
    shapes
}

/// Enumerates the sums of all sign patterns, as a reference.
#[test]
fn tails_are_those_of_all_signs() {
    let bins = [vec![8u32, 3, 5, 8, 1], vec![2, 7, 7]];
    let distribution = tails(&bins);
    let mut counted: BTreeMap<u32, f64> = BTreeMap::new();
    for pattern in 0..1u32 << 8 {
        let mut bit = 0;
        let mut apart = 0;
        for bin in &bins {
            let mut sum = 0i64;
            for &difference in bin {
                let sign = 1 - 2 * i64::from(pattern >> bit & 1);
                sum += sign * i64::from(difference);
                bit += 1;
            }
            apart += sum.unsigned_abs() as u32;
        }
        *counted.entry(apart).or_default() += 1.0 / 256.0;
    }
    assert_eq!(distribution, counted);
}

#[test]
fn bins_are_further_apart_than_stated_with_probability_delta_at_most() {
    let (mut concentrated, mut half_fails, mut idle) = (0, 0, 0);
    for shape in shapes() {
        let distance = f64::from(shape.iter().flatten().sum::<u32>()) / 4.0;
        let distribution = tails(&shape);
        for delta in [0.01, 1e-4, 1e-9] {
            let bins = shape.len() as u32;
            let level = neighbouring(distance, Some(delta));
            let hash_bin = HashBin::new(level, INDEPENDENT, bins, 1 << 16).unwrap();
            let realised = hash_bin.realised_delta();
            // The part of the noise for rounding, a step per bin, is excluded.
            let steps = (hash_bin.sensitivity() - u64::from(bins)) as f64;
            let quarters = steps * 4.0 / f64::from(1 << 16);
            let chance = beyond(&distribution, quarters);
            assert!(chance <= realised, "{chance:e} > {realised:e}: {shape:?}");
            if realised > 0.0 {
                assert_eq!(realised, delta);
                let bound = 2.0 * (f64::from(bins) * distance).sqrt();
                let bound = bound * (2.0 * f64::from(bins) / delta).ln().sqrt();
                assert!((quarters / 4.0 - bound).abs() < 1e-4, "{quarters}");
                assert!(quarters / 4.0 < distance);
                concentrated += 1;
                half_fails += u32::from(beyond(&distribution, quarters / 2.0) > delta);
            } else {
                assert_eq!(steps, (distance * f64::from(1 << 16)).ceil());
                idle += 1;
            }
        }
    }
    // Both kinds occur, and half the bound would often be too little.
    assert!(concentrated >= 15 && idle >= 10, "{concentrated} {idle}");
    assert!(half_fails >= 5, "{half_fails} of {concentrated}");
}

/// Distances under the signs of real seeds: distributed as with fair signs, and hardly ever beyond
/// the bound.
#[test]
fn hashed_signs_are_apart_as_fair_ones() {
    let n = 200_000;
    let (count, delta) = (24, 0.01);
    // x is all 1, its neighbour all −1.
    let distance = 2.0 * f64::from(count);
    let fair = tails(&[vec![8; count as usize]]);
    let mut rng = seeded(40);
    let mut events = Vec::new();
    for items in [Some(count), Some(1000), None] {
        let hashing = if items.is_some() {
            BALANCED
        } else {
            INDEPENDENT
        };
        let level = neighbouring(distance, Some(delta));
        let model = Model {
            level,
            ..rounding_model(items, hashing, 1, 1024)
        };
        let hash_bin = model.hash_bin();
        assert_eq!(hash_bin.realised_delta(), delta);
        let mut randomizer = hushbin::mechanism::hash_bin::Randomizer::new(
            &hash_bin,
            &model.task().questions()[0].domain(),
            1.0,
        );
        let values: Vec<f64> = vec![1.0; count as usize];
        let ones = entries(&values);
        let minus: Vec<Entry> = ones
            .iter()
            .map(|entry| Entry {
                value: -1.0,
                ..*entry
            })
            .collect();
        // Sums of 24 signs reach 18 in one of 3000 cases, 10 in one of 15.
        let bound = (hash_bin.sensitivity() - 1) as f64 / 1024.0;
        let (mut often, mut seldom) = (0, 0);
        for _ in 0..n {
            let seed = rng.next_u64();
            let bins =
                [&ones, &minus].map(|input| randomizer.bins_before_noise(seed, input)[0] / 1024.0);
            let apart = (bins[0] - bins[1]).abs();
            often += u64::from(apart > 19.0);
            seldom += u64::from(apart > bound);
        }
        let what = format!("d = {items:?}");
        events.push((format!("{what}, 19"), often, beyond(&fair, 4.0 * 19.0)));
        events.push((format!("{what}, Δ"), seldom, beyond(&fair, 4.0 * bound)));
        assert!((seldom as f64) < delta * n as f64);
    }
    assert_rates(n, &events);
}

/// The exp(ε) of the two-point response is the common lower bound.
#[test]
fn the_lean_is_half_of_what_epsilon_allows() {
    for epsilon in EPSILONS {
        let e = epsilon.exp();
        let lean =
            ExpLowerBound::new(epsilon).sign_probability_difference(5, 5) as f64 / 2f64.powi(64);
        assert!((lean - (e - 1.0) / (e + 1.0)).abs() < 1e-15);
    }
}
