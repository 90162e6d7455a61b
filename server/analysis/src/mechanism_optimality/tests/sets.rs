//! Tests of sets of inputs against exhaustive search, and of the mechanisms that they define.

use hushbin::choose::Objective;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::super::BoundKind;
use super::super::direction_search::DirectionSearch;
use super::super::exhaustive_search::AllInputSetsSearch;
use super::super::information::{Information, InformationCost};
use super::super::one_entry_search::OneEntrySearch;
use super::{all, close, question, told_by, told_by_set};

const WEIGHTS: [[f64; 2]; 5] = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 3.0], [5.0, 1.0]];

/// Compares the search with subset selection for inputs of one element out of n. A report of subset
/// selection is a set of k elements. Sets that contain the input's element are e times as probable.
///
/// With the best k, subset selection has the smallest variance of all mechanisms (Ye and Barg,
/// "Optimal Schemes for Discrete Distribution Estimation under Locally Differential Privacy",
/// 2018).
#[test]
fn subset_selection_is_optimal_for_one_entry() {
    for items in [1_u32, 2, 3, 7, 64, 500] {
        for epsilon in [0.05, 0.5, 1.0, 2.0, 3.7, 8.0] {
            let (n, e) = (2.0 * f64::from(items), f64::exp(epsilon));
            let of = |k: u32| {
                let k = f64::from(k);
                let (own, other) = {
                    let inside = k * e / (k * e + n - k);
                    let with = (k - 1.0) / (n - 1.0);
                    let without = k / (n - 1.0);
                    (inside, inside * with + (1.0 - inside) * without)
                };
                let variance = |p: f64| p * (1.0 - p) / (own - other).powi(2);
                (variance(own) + (n - 1.0) * variance(other)) / n
            };
            let expected = (1..2 * items).map(of).fold(f64::INFINITY, f64::min);
            let question = question(items, 1, epsilon, &Objective::FREQUENCY_ONLY);
            let (cost, kind) = question.smallest_found_cost();
            let found = question.variance_from_cost(cost);
            assert_eq!(kind, BoundKind::Exact);
            assert!(
                close(found, expected, 1e-6),
                "{items}, {epsilon}: {found}, {expected}"
            );
        }
    }
}

const TINY: [(u32, u32); 8] = [
    (1, 1),
    (2, 1),
    (2, 2),
    (3, 1),
    (3, 2),
    (3, 3),
    (4, 1),
    (5, 1),
];

/// Returns the information of each distinct set of inputs.
fn every_set(items: u32, entries: u32, excess: f64) -> Vec<Information> {
    let all = all(items, entries);
    let mut sets: Vec<Information> = (0_u32..1 << all.len())
        .map(|set| told_by_set(&all, entries, excess, |index| set >> index & 1 == 1))
        .collect();
    let order = |a: &Information, b: &Information| {
        a.sign_information
            .total_cmp(&b.sign_information)
            .then(a.presence_information.total_cmp(&b.presence_information))
    };
    sets.sort_by(order);
    sets.dedup_by(|a, b| {
        (a.sign_information - b.sign_information).abs() < 1e-13
            && (a.presence_information - b.presence_information).abs() < 1e-13
    });
    sets
}

#[test]
fn all_sets_of_tiny_domains_are_those_enumerated() {
    for (items, entries) in TINY {
        for epsilon in [0.1, 1.0, 3.0] {
            let excess = f64::exp_m1(epsilon);
            let sets = every_set(items, entries, excess);
            let enumerated = AllInputSetsSearch::new(items, entries, excess).unwrap();
            let alone = OneEntrySearch::new(items, excess);
            let levels = DirectionSearch::new(items, entries, excess);
            for weights in WEIGHTS {
                let best = sets.iter().map(|told| told.weighted_component_sum(weights));
                let best = best.fold(0.0, f64::max);
                let what = format!("{items}, {entries}, {epsilon}, {weights:?}");
                if best < 1e-12 {
                    continue;
                }
                let found = enumerated
                    .max_set_information(weights)
                    .weighted_component_sum(weights);
                assert!(close(found, best, 1e-12), "{what}: {found}, {best}");
                if entries == 1 {
                    let found = alone
                        .max_information(weights)
                        .weighted_component_sum(weights);
                    assert!(close(found, best, 1e-12), "{what}: {found}, {best}");
                }
                let found = levels
                    .max_information(weights)
                    .weighted_component_sum(weights);
                assert!(found <= best * (1.0 + 1e-12), "{what}: {found}, {best}");
            }
        }
    }
}

/// No mixture of two sets has a smaller cost than the search finds, and one of them attains it.
#[test]
fn the_least_cost_is_that_of_the_best_mixture() {
    for (items, entries) in TINY.into_iter().filter(|(d, s)| d > s) {
        for epsilon in [0.1, 1.0, 3.0] {
            let excess = f64::exp_m1(epsilon);
            let sets = every_set(items, entries, excess);
            let enumerated = AllInputSetsSearch::new(items, entries, excess).unwrap();
            let dominated = |a: &Information| {
                sets.iter().any(|b| {
                    b.sign_information > a.sign_information
                        && b.presence_information > a.presence_information
                })
            };
            let frontier: Vec<&Information> = sets.iter().filter(|a| !dominated(a)).collect();
            for (sign, presence) in [(1.0, 1.0), (1.0, 0.2), (0.3, 1.0), (1.0, 0.0)] {
                let cost = InformationCost {
                    sign_numerator: sign,
                    presence_numerator: presence,
                };
                let found =
                    cost.smallest_over_mixtures(|weights| enumerated.max_set_information(weights));
                let mut least = f64::INFINITY;
                for (a, b) in frontier
                    .iter()
                    .flat_map(|a| frontier.iter().map(move |b| (a, b)))
                {
                    for part in (0..=200).map(|i| f64::from(i) / 200.0) {
                        let mix = |a: f64, b: f64| a + part * (b - a);
                        least = least.min(cost.squared_error(Information {
                            sign_information: mix(a.sign_information, b.sign_information),
                            presence_information: mix(
                                a.presence_information,
                                b.presence_information,
                            ),
                        }));
                    }
                }
                let what = format!("{items}, {entries}, {epsilon}: {found}, {least}");
                assert!(found <= least * (1.0 + 1e-9), "{what}");
                assert!(found >= least * (1.0 - 1e-3), "{what}");
            }
        }
    }
}

/// Likelihoods between 1 and e give no more information than likelihoods of 1 and e.
#[test]
fn no_random_mechanism_tells_more() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut uniform = || rng.next_u32() as f64 / 2_f64.powi(32);
    for (items, entries) in [(2, 1), (2, 2), (3, 1), (3, 2), (4, 4)] {
        let all = all(items, entries);
        for epsilon in [0.1_f64, 1.0, 3.0] {
            let excess = epsilon.exp_m1();
            let sets = AllInputSetsSearch::new(items, entries, excess).unwrap();
            for _ in 0..300 {
                let sharp = 1.0 + 20.0 * uniform();
                let likelihoods: Vec<f64> = (0..all.len())
                    .map(|_| (0.5 + sharp * (uniform() - 0.5)).clamp(0.0, 1.0))
                    .map(|part| 1.0 + excess * part)
                    .collect();
                let told = told_by(&all, entries, &likelihoods);
                for weights in WEIGHTS {
                    let most = sets
                        .max_set_information(weights)
                        .weighted_component_sum(weights);
                    assert!(told.weighted_component_sum(weights) <= most * (1.0 + 1e-12));
                }
            }
        }
    }
}

/// Returns all permutations of the items, combined with all sign flips.
fn turns(items: usize) -> Vec<Vec<(usize, f64)>> {
    let mut found: Vec<Vec<(usize, f64)>> = vec![Vec::new()];
    for _ in 0..items {
        let longer = found.iter().flat_map(|turn| {
            let free = (0..items).filter(|item| turn.iter().all(|(used, _)| used != item));
            free.flat_map(|item| [(item, 1.0), (item, -1.0)])
                .map(|next| turn.iter().copied().chain([next]).collect())
        });
        found = longer.collect();
    }
    found
}

/// Every set of inputs, permuted at random, defines a mechanism. Its estimates are unbiased and
/// have the costs s²/A₁ and V²/A₂.
#[test]
fn every_set_is_a_mechanism() {
    for (items, entries) in [(2_u32, 1_u32), (2, 2), (3, 1), (3, 2)] {
        let inputs = all(items, entries);
        let excess = f64::exp_m1(1.3);
        let (d, s, all) = (f64::from(items), f64::from(entries), inputs.len() as f64);
        let share = s / d;
        for set in [1_u32, 2, 3, 5, 6, 11] {
            let inside = |index: usize| set >> index & 1 == 1;
            let count = (0..inputs.len()).filter(|index| inside(*index)).count() as f64;
            let told = told_by_set(&inputs, entries, excess, inside);
            let average = 1.0 + excess * count / all;
            let turns = turns(items as usize);
            let mut square = [0.0; 2];
            let mut means = vec![vec![[0.0; 2]; items as usize]; inputs.len()];
            for turn in &turns {
                let turned =
                    |x: &[f64]| -> Vec<f64> { turn.iter().map(|(i, sign)| sign * x[*i]).collect() };
                let is_inside = |x: &[f64]| {
                    let x = turned(x);
                    inside(inputs.iter().position(|other| *other == x).unwrap())
                };
                let likelihood =
                    |x: &[f64]| (1.0 + if is_inside(x) { excess } else { 0.0 }) / average;
                let expected: Vec<[f64; 2]> = (0..items as usize)
                    .map(|item| {
                        let sum = |of: &dyn Fn(f64) -> f64| {
                            inputs
                                .iter()
                                .map(|x| likelihood(x) * of(x[item]))
                                .sum::<f64>()
                                / all
                        };
                        [sum(&|x| x), sum(&|x| x.abs() - share)]
                    })
                    .collect();
                let spread = s * (d - s) / d;
                for (index, x) in inputs.iter().enumerate() {
                    let weight = likelihood(x) / turns.len() as f64;
                    for (item, [sign, presence]) in expected.iter().enumerate() {
                        let estimates = [
                            s * sign / told.sign_information,
                            if told.presence_information > 1e-12 {
                                spread * presence / told.presence_information
                            } else {
                                0.0
                            },
                        ];
                        for part in 0..2 {
                            square[part] += weight * estimates[part].powi(2) / all;
                            means[index][item][part] += weight * estimates[part];
                        }
                    }
                }
            }
            if told.sign_information > 1e-12 {
                assert!(close(square[0], s * s / told.sign_information, 1e-9));
                for (x, means) in inputs.iter().zip(&means) {
                    assert!(
                        x.iter()
                            .zip(means)
                            .all(|(x, mean)| (mean[0] - x).abs() < 1e-9)
                    );
                }
            }
            if told.presence_information > 1e-12 {
                let spread = s * (d - s) / d;
                assert!(close(
                    square[1],
                    spread * spread / told.presence_information,
                    1e-9
                ));
                for (x, means) in inputs.iter().zip(&means) {
                    let right =
                        |(x, mean): (&f64, &[f64; 2])| (mean[1] - (x.abs() - share)).abs() < 1e-9;
                    assert!(x.iter().zip(means).all(right));
                }
            }
        }
    }
}
