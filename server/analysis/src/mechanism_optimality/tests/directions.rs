//! Tests of the search over directions of one and two levels, against known values and arbitrary
//! directions.

use hushbin::choose::Objective;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::super::BoundKind;
use super::super::direction_search::DirectionSearch;
use super::super::information::Information;
use super::{OBJECTIVES, all, close, question, told_by_set};

/// Compares the smallest E‖g‖² that directions of one or two levels attain for means with known
/// values, rounded to integers.
#[test]
fn known_values() {
    for (entries, epsilon, value) in [
        (4, 1.0, 5_826.0),
        (16, 0.5, 100_273.0),
        (16, 1.0, 25_131.0),
        (16, 1.5, 10_688.0),
        (16, 3.0, 1_750.0),
        (64, 0.25, 1_636_148.0),
        (64, 1.0, 98_516.0),
        (64, 2.0, 20_775.0),
    ] {
        let found = question(256, entries, epsilon, &Objective::MEAN_ONLY).cost_by_directions();
        assert_eq!(found.round(), value, "{entries}, {epsilon}");
    }
}

#[test]
fn levels_are_nearly_the_best_of_tiny_domains() {
    for (items, entries) in [(2, 2), (3, 2), (3, 3), (4, 4)] {
        for epsilon in [0.1, 1.0, 3.0] {
            for objective in OBJECTIVES {
                let question = question(items, entries, epsilon, &objective);
                let (least, kind) = question.smallest_found_cost();
                assert_eq!(kind, BoundKind::Exact);
                let more = question.cost_by_directions() / least;
                let what = format!("{items}, {entries}, {epsilon}, {objective:?}: {more}");
                assert!((1.0 - 1e-9..1.01).contains(&more), "{what}");
            }
        }
    }
}

/// For k items of equal weight, the search finds the best threshold. It is compared with a sum over
/// all inputs.
#[test]
fn one_level_is_the_best_threshold() {
    for (items, entries) in [(3, 2), (5, 3), (6, 2), (6, 6), (7, 4)] {
        let all = all(items, entries);
        for epsilon in [0.1, 1.0, 2.5] {
            let excess = f64::exp_m1(epsilon);
            let levels = DirectionSearch::new(items, entries, excess);
            for k in 1..=items {
                let sum = |x: &Vec<f64>| x[..k as usize].iter().sum::<f64>();
                let thresholds = (-1..=entries as i32).map(|t| {
                    let set = |index: usize| sum(&all[index]) > f64::from(t);
                    told_by_set(&all, entries, excess, set).sign_information
                });
                let best = thresholds.fold(0.0, f64::max);
                let found = levels
                    .best_one_level_information(k, [1.0, 0.0])
                    .sign_information;
                assert!(
                    close(found, best, 1e-12),
                    "{items}, {entries}, {k}: {found}, {best}"
                );
            }
        }
    }
}

#[test]
fn no_k_is_better_than_those_searched() {
    for (items, entries) in [(16, 8), (100, 3), (256, 16), (300, 40), (1000, 2)] {
        for epsilon in [0.05, 0.7, 1.0, 2.0, 4.0] {
            let levels = DirectionSearch::new(items, entries, f64::exp_m1(epsilon));
            for weights in [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
                let of = |k| {
                    levels
                        .best_one_level_information(k, weights)
                        .weighted_component_sum(weights)
                };
                let best = (1..=items).map(of).fold(0.0, f64::max);
                let found = levels
                    .max_information(weights)
                    .weighted_component_sum(weights);
                assert!(
                    found > best * (1.0 - 1e-4),
                    "{items}, {entries}, {epsilon}: {found}, {best}"
                );
            }
        }
    }
}

/// Returns the most information found with arbitrary directions. The set of inputs and the
/// direction are improved in turn, from several starting directions.
fn most_of_any(
    inputs: &[Vec<f64>],
    share: f64,
    excess: f64,
    weights: [f64; 2],
    first: &[Vec<f64>],
) -> Information {
    let [sign, presence] = weights.map(f64::sqrt);
    let vectors: Vec<Vec<f64>> = inputs
        .iter()
        .map(|x| {
            let signs = x.iter().map(|x| sign * x);
            signs
                .chain(x.iter().map(|x| presence * (x.abs() - share)))
                .collect()
        })
        .collect();
    let square = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>();
    let mut best = Information::ZERO;
    for start in first {
        let (mut w, mut told, mut value) = (start.clone(), Information::ZERO, 0.0);
        loop {
            let threshold = value * square(&w).sqrt();
            let score =
                |v: &&Vec<f64>| v.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>() > threshold;
            let set: Vec<&Vec<f64>> = vectors.iter().filter(score).collect();
            let scale = excess / (inputs.len() as f64 + excess * set.len() as f64);
            w = (0..w.len())
                .map(|i| scale * set.iter().map(|v| v[i]).sum::<f64>())
                .collect();
            let next = square(&w).sqrt();
            if next <= value * (1.0 + 1e-12) {
                break;
            }
            value = next;
            let (signs, presences) = w.split_at(w.len() / 2);
            let part = |w: &[f64], weight: f64| {
                if weight > 0.0 {
                    square(w) / weight
                } else {
                    0.0
                }
            };
            told = Information {
                sign_information: part(signs, weights[0]),
                presence_information: part(presences, weights[1]),
            };
        }
        best = best.max_by_weight(told, weights);
    }
    best
}

/// A mechanism that favours the 20 of 80 inputs with 2x₁ + 2x₂ + x₅ ≥ 3 has a variance below 5.226,
/// the smallest that directions of one level attain.
#[test]
fn a_mechanism_by_two_levels_is_known() {
    let (items, entries, epsilon) = (5, 4, 2.0);
    let excess = f64::exp_m1(epsilon);
    let all = all(items, entries);
    let score = |x: &[f64]| 2.0 * x[0] + 2.0 * x[1] + x[4];
    let set = |index: usize| score(&all[index]) >= 3.0;
    assert_eq!(
        ((0..all.len()).filter(|&own| set(own)).count(), all.len()),
        (20, 80)
    );
    let question = question(items, entries, epsilon, &Objective::MEAN_ONLY);
    let variance =
        |sign: f64| question.variance_from_cost(question.information_cost().sign_numerator / sign);
    let explicit = variance(told_by_set(&all, entries, excess, set).sign_information);
    assert!(close(explicit, 5.076, 1e-4), "{explicit}");
    let levels = DirectionSearch::new(items, entries, excess);
    let one = (1..=items).map(|k| {
        levels
            .best_one_level_information(k, [1.0, 0.0])
            .sign_information
    });
    let one = variance(one.fold(0.0, f64::max));
    assert!(close(one, 5.226, 1e-4), "{one}");
    let (found, kind) = question.smallest_found_cost();
    assert_eq!(kind, BoundKind::Directions);
    assert!(
        close(question.variance_from_cost(found), explicit, 1e-9),
        "{found}"
    );
}

/// Arbitrary directions find hardly more information than directions of one or two levels.
#[test]
fn directions_in_general_find_little_more() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for (items, entries) in [
        (4, 2),
        (5, 2),
        (5, 3),
        (5, 4),
        (6, 2),
        (6, 3),
        (7, 6),
        (8, 2),
    ] {
        let all = all(items, entries);
        let share = f64::from(entries) / f64::from(items);
        let first: Vec<Vec<f64>> = (0..40)
            .map(|_| {
                let some = 1 + rng.next_u32() % items;
                let both = rng.next_u32() % 3;
                let mut weight = |on: bool| {
                    if on {
                        1.0 + f64::from(rng.next_u32() % 1000)
                    } else {
                        0.0
                    }
                };
                let signs: Vec<f64> = (0..items)
                    .map(|item| weight(item < some && both != 0))
                    .collect();
                let presences = (0..items).map(|item| weight(item < some && both != 1));
                signs.iter().copied().chain(presences).collect()
            })
            .collect();
        for epsilon in [0.25, 0.5, 1.0, 2.0, 3.0, 4.0] {
            let excess = f64::exp_m1(epsilon);
            let levels = DirectionSearch::new(items, entries, excess);
            for (objective, limit) in [
                (Objective::MEAN_ONLY, 0.984),
                (Objective::FREQUENCY_ONLY, 0.984),
            ] {
                let question = question(items, entries, epsilon, &objective);
                let found = question
                    .information_cost()
                    .smallest_over_mixtures(|weights| {
                        most_of_any(&all, share, excess, weights, &first)
                            .max_by_weight(levels.max_information(weights), weights)
                    });
                let less = found / question.cost_by_directions();
                assert!(
                    less > limit,
                    "{items}, {entries}, {epsilon}, {objective:?}: {less}"
                );
            }
        }
    }
}

#[test]
fn two_levels_find_more_where_half_of_the_items_are_had() {
    let levels = DirectionSearch::new(64, 32, f64::exp_m1(0.5));
    let one = (1..=64).map(|k| {
        levels
            .best_one_level_information(k, [1.0, 0.0])
            .sign_information
    });
    let gain = levels.max_information([1.0, 0.0]).sign_information / one.fold(0.0, f64::max);
    assert!((1.03..1.05).contains(&gain), "{gain}");
}
