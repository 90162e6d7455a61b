use hushbin::TaskDraft;
use hushbin::choose::{Objective, Population};
use hushbin::hash::Hashing;
use hushbin::mechanism::{coco, collision};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::json;

use super::enumerated::{Enumerated, inputs};
use super::levels::Levels;
use super::one_entry::OneEntry;
use super::told::{Cost, Told};
use super::{BoundKind, Distance, Question, distance, least};

const BOTH: Objective = Objective {
    mean: 1.0,
    frequency: 2.0,
};
const OBJECTIVES: [Objective; 3] = [Objective::MEAN, Objective::FREQUENCY, BOTH];
const WEIGHTS: [[f64; 2]; 5] = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 3.0], [5.0, 1.0]];

fn question(items: u32, entries: u32, epsilon: f64, objective: &Objective) -> Question {
    Question::new(items, entries, epsilon, objective)
}

/// Every input of a domain.
fn all(items: u32, entries: u32) -> Vec<Vec<f64>> {
    inputs(items, entries, 10_000)
        .expect("there are fewer")
        .into_iter()
        .map(|input| input.into_iter().map(f64::from).collect())
        .collect()
}

/// A₁ and A₂ of a mechanism whose likelihoods of one report are these; the other
/// reports are that one, turned.
fn told_by(inputs: &[Vec<f64>], entries: u32, likelihoods: &[f64]) -> Told {
    let (items, all) = (inputs[0].len(), inputs.len() as f64);
    let share = f64::from(entries) / items as f64;
    let mass = likelihoods.iter().sum::<f64>() / all;
    let square = |of: &dyn Fn(f64) -> f64| -> f64 {
        (0..items)
            .map(|item| {
                let terms = inputs.iter().zip(likelihoods);
                let sum: f64 = terms.map(|(input, q)| q * of(input[item])).sum();
                (sum / all / mass).powi(2)
            })
            .sum()
    };
    Told {
        sign: square(&|x| x),
        presence: square(&|x| x.abs() - share),
    }
}

/// The same of e on a set of inputs and 1 elsewhere.
fn told_by_set(
    inputs: &[Vec<f64>],
    entries: u32,
    excess: f64,
    set: impl Fn(usize) -> bool,
) -> Told {
    let q = |index| 1.0 + if set(index) { excess } else { 0.0 };
    let likelihoods: Vec<f64> = (0..inputs.len()).map(q).collect();
    told_by(inputs, entries, &likelihoods)
}

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a / b - 1.0).abs() < relative
}

/// Least E‖g‖² for means that directions of one level or two reach, to a unit.
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
        let found = question(256, entries, epsilon, &Objective::MEAN).directions();
        assert_eq!(found.round(), value, "{entries}, {epsilon}");
    }
}

/// Subset selection among n elements of which an input has one: k are reported, with
/// the input's own among them e times as likely. The sum of all variances, by Ye and
/// Barg, "Optimal Schemes for Discrete Distribution Estimation under Locally
/// Differential Privacy" (2018), is least for some k, and least of all mechanisms.
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
            let question = question(items, 1, epsilon, &Objective::FREQUENCY);
            let (cost, kind) = question.reached();
            let found = question.variance(cost);
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

/// What each set of inputs tells, once.
fn every_set(items: u32, entries: u32, excess: f64) -> Vec<Told> {
    let all = all(items, entries);
    let mut sets: Vec<Told> = (0_u32..1 << all.len())
        .map(|set| told_by_set(&all, entries, excess, |index| set >> index & 1 == 1))
        .collect();
    let order = |a: &Told, b: &Told| {
        a.sign
            .total_cmp(&b.sign)
            .then(a.presence.total_cmp(&b.presence))
    };
    sets.sort_by(order);
    sets.dedup_by(|a, b| {
        (a.sign - b.sign).abs() < 1e-13 && (a.presence - b.presence).abs() < 1e-13
    });
    sets
}

#[test]
fn all_sets_of_tiny_domains_are_those_enumerated() {
    for (items, entries) in TINY {
        for epsilon in [0.1, 1.0, 3.0] {
            let excess = f64::exp_m1(epsilon);
            let sets = every_set(items, entries, excess);
            let enumerated = Enumerated::new(items, entries, excess).unwrap();
            let alone = OneEntry::new(items, excess);
            let levels = Levels::new(items, entries, excess);
            for weights in WEIGHTS {
                let best = sets.iter().map(|told| told.weighed(weights));
                let best = best.fold(0.0, f64::max);
                let what = format!("{items}, {entries}, {epsilon}, {weights:?}");
                if best < 1e-12 {
                    continue;
                }
                let found = enumerated.most(weights).weighed(weights);
                assert!(close(found, best, 1e-12), "{what}: {found}, {best}");
                if entries == 1 {
                    let found = alone.most(weights).weighed(weights);
                    assert!(close(found, best, 1e-12), "{what}: {found}, {best}");
                }
                let found = levels.most(weights).weighed(weights);
                assert!(found <= best * (1.0 + 1e-12), "{what}: {found}, {best}");
            }
        }
    }
}

/// No mixture of two sets is cheaper than the least, and one of them as cheap.
#[test]
fn the_least_cost_is_that_of_the_best_mixture() {
    for (items, entries) in TINY.into_iter().filter(|(d, s)| d > s) {
        for epsilon in [0.1, 1.0, 3.0] {
            let excess = f64::exp_m1(epsilon);
            let sets = every_set(items, entries, excess);
            let enumerated = Enumerated::new(items, entries, excess).unwrap();
            let dominated = |a: &Told| {
                sets.iter()
                    .any(|b| b.sign > a.sign && b.presence > a.presence)
            };
            let frontier: Vec<&Told> = sets.iter().filter(|a| !dominated(a)).collect();
            for (sign, presence) in [(1.0, 1.0), (1.0, 0.2), (0.3, 1.0), (1.0, 0.0)] {
                let cost = Cost { sign, presence };
                let found = cost.least(|weights| enumerated.most(weights));
                let mut least = f64::INFINITY;
                for (a, b) in frontier
                    .iter()
                    .flat_map(|a| frontier.iter().map(move |b| (a, b)))
                {
                    for part in (0..=200).map(|i| f64::from(i) / 200.0) {
                        let mix = |a: f64, b: f64| a + part * (b - a);
                        least = least.min(cost.of(Told {
                            sign: mix(a.sign, b.sign),
                            presence: mix(a.presence, b.presence),
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

#[test]
fn levels_are_nearly_the_best_of_tiny_domains() {
    for (items, entries) in [(2, 2), (3, 2), (3, 3), (4, 4)] {
        for epsilon in [0.1, 1.0, 3.0] {
            for objective in OBJECTIVES {
                let question = question(items, entries, epsilon, &objective);
                let (least, kind) = question.reached();
                assert_eq!(kind, BoundKind::Exact);
                let more = question.directions() / least;
                let what = format!("{items}, {entries}, {epsilon}, {objective:?}: {more}");
                assert!((1.0 - 1e-9..1.01).contains(&more), "{what}");
            }
        }
    }
}

/// Likelihoods between those that are extreme tell no more.
#[test]
fn no_random_mechanism_tells_more() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut uniform = || rng.next_u32() as f64 / 2_f64.powi(32);
    for (items, entries) in [(2, 1), (2, 2), (3, 1), (3, 2), (4, 4)] {
        let all = all(items, entries);
        for epsilon in [0.1_f64, 1.0, 3.0] {
            let excess = epsilon.exp_m1();
            let sets = Enumerated::new(items, entries, excess).unwrap();
            for _ in 0..300 {
                let sharp = 1.0 + 20.0 * uniform();
                let likelihoods: Vec<f64> = (0..all.len())
                    .map(|_| (0.5 + sharp * (uniform() - 0.5)).clamp(0.0, 1.0))
                    .map(|part| 1.0 + excess * part)
                    .collect();
                let told = told_by(&all, entries, &likelihoods);
                for weights in WEIGHTS {
                    let most = sets.most(weights).weighed(weights);
                    assert!(told.weighed(weights) <= most * (1.0 + 1e-12));
                }
            }
        }
    }
}

/// All permutations of items with all flips of their signs.
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

/// A set of inputs, turned at random, is a mechanism with unbiased estimates that cost
/// s²/A₁ and V²/A₂.
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
            // Of the reports "in S" and "not in S" the first alone is counted: with a
            // complement of its own kind, all reports are like it.
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
                            s * sign / told.sign,
                            if told.presence > 1e-12 {
                                spread * presence / told.presence
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
            if told.sign > 1e-12 {
                assert!(close(square[0], s * s / told.sign, 1e-9));
                for (x, means) in inputs.iter().zip(&means) {
                    assert!(
                        x.iter()
                            .zip(means)
                            .all(|(x, mean)| (mean[0] - x).abs() < 1e-9)
                    );
                }
            }
            if told.presence > 1e-12 {
                let spread = s * (d - s) / d;
                assert!(close(square[1], spread * spread / told.presence, 1e-9));
                for (x, means) in inputs.iter().zip(&means) {
                    let right =
                        |(x, mean): (&f64, &[f64; 2])| (mean[1] - (x.abs() - share)).abs() < 1e-9;
                    assert!(x.iter().zip(means).all(right));
                }
            }
        }
    }
}

/// The best threshold for k items that weigh the same, over all inputs one by one.
#[test]
fn one_level_is_the_best_threshold() {
    for (items, entries) in [(3, 2), (5, 3), (6, 2), (6, 6), (7, 4)] {
        let all = all(items, entries);
        for epsilon in [0.1, 1.0, 2.5] {
            let excess = f64::exp_m1(epsilon);
            let levels = Levels::new(items, entries, excess);
            for k in 1..=items {
                let sum = |x: &Vec<f64>| x[..k as usize].iter().sum::<f64>();
                let thresholds = (-1..=entries as i32).map(|t| {
                    let set = |index: usize| sum(&all[index]) > f64::from(t);
                    told_by_set(&all, entries, excess, set).sign
                });
                let best = thresholds.fold(0.0, f64::max);
                let found = levels.one_level(k, [1.0, 0.0]).sign;
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
            let levels = Levels::new(items, entries, f64::exp_m1(epsilon));
            for weights in [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
                let of = |k| levels.one_level(k, weights).weighed(weights);
                let best = (1..=items).map(of).fold(0.0, f64::max);
                let found = levels.most(weights).weighed(weights);
                assert!(
                    found > best * (1.0 - 1e-4),
                    "{items}, {entries}, {epsilon}: {found}, {best}"
                );
            }
        }
    }
}

/// The most told by any direction, over inputs one by one: the set and the direction in
/// turn, from each of some first directions.
fn most_of_any(
    inputs: &[Vec<f64>],
    share: f64,
    excess: f64,
    weights: [f64; 2],
    first: &[Vec<f64>],
) -> Told {
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
    let mut best = Told::NOTHING;
    for start in first {
        let (mut w, mut told, mut value) = (start.clone(), Told::NOTHING, 0.0);
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
            told = Told {
                sign: part(signs, weights[0]),
                presence: part(presences, weights[1]),
            };
        }
        best = best.or(told, weights);
    }
    best
}

/// What more is found by any directions at all than by levels.
#[test]
fn directions_in_general_find_little_more() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for (items, entries) in [(4, 2), (5, 3), (6, 2), (6, 3), (8, 2)] {
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
        for epsilon in [0.25, 0.5, 1.0, 2.0, 3.0] {
            let excess = f64::exp_m1(epsilon);
            let levels = Levels::new(items, entries, excess);
            for (objective, limit) in [(Objective::MEAN, 0.984), (Objective::FREQUENCY, 0.985)] {
                let question = question(items, entries, epsilon, &objective);
                let found = question.cost().least(|weights| {
                    most_of_any(&all, share, excess, weights, &first)
                        .or(levels.most(weights), weights)
                });
                let less = found / question.directions();
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
    let levels = Levels::new(64, 32, f64::exp_m1(0.5));
    let one = (1..=64).map(|k| levels.one_level(k, [1.0, 0.0]).sign);
    let gain = levels.most([1.0, 0.0]).sign / one.fold(0.0, f64::max);
    assert!((1.03..1.05).contains(&gain), "{gain}");
}

#[test]
fn what_is_proven_is_below_what_is_reached() {
    for items in [1, 2, 3, 5, 16, 200, 1 << 20] {
        for entries in [1, 2, 3, 16, 64, 1024] {
            if entries > items {
                continue;
            }
            for objective in OBJECTIVES {
                let mut before = f64::INFINITY;
                for epsilon in [0.001, 0.1, 0.5, 1.0, 1.09, 1.1, 2.0, 4.0, 12.0] {
                    let question = question(items, entries, epsilon, &objective);
                    let (cost, _) = question.reached();
                    let what = format!("{items}, {entries}, {epsilon}, {objective:?}");
                    let [proven, reached] = [question.proven(), cost].map(|c| question.variance(c));
                    assert!(
                        proven > 0.0 && proven <= reached * (1.0 + 1e-9),
                        "{what}: {proven}, {reached}"
                    );
                    assert!(reached < before, "{what}: {reached}, {before}");
                    before = reached;
                }
            }
        }
    }
}

/// Over a grid neither what we choose nor what we could have chosen is below the bound.
#[test]
fn no_mechanism_of_ours_is_below() {
    for items in [2_u32, 3, 4, 16, 64] {
        for entries in [1, 2, 3, 4, 8, 32] {
            if entries > items {
                continue;
            }
            for epsilon in [0.1, 0.5, 1.0, 2.0, 4.0] {
                let draft: TaskDraft = serde_json::from_value(json!({
                    "id": "grid", "items": items, "sparsity": entries, "epsilon": epsilon,
                    "value": "sign",
                }))
                .unwrap();
                let domain = draft.resolve().unwrap().domain();
                let means = coco::Coco::choose(
                    &domain,
                    epsilon,
                    coco::RuleName::Strongest,
                    None,
                    Hashing::Balanced,
                    None,
                );
                let both = collision::Collision::choose(
                    &domain,
                    epsilon,
                    collision::RuleName::Heaviest,
                    None,
                    Hashing::Balanced,
                    None,
                );
                for mechanism in [means.unwrap().into(), both.unwrap().into()] {
                    for objective in OBJECTIVES {
                        let Some(found) = distance(&domain, &mechanism, epsilon, &objective) else {
                            continue;
                        };
                        let what =
                            format!("{items}, {entries}, {epsilon}, {mechanism:?}, {found:?}");
                        assert!(found.times_bound > 1.0 - 1e-9, "{what}");
                        assert!(found.at_most > found.times_bound * (1.0 - 1e-9), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn one_random_sign_is_optimal_for_one_entry_up_to_three() {
    for items in [1_u32, 5, 64, 1000] {
        for epsilon in [0.1, 1.0, 1.09] {
            let task = hushbin_tests::contest::task(
                items,
                1,
                epsilon,
                &json!({ "name": "coco", "buckets": 2 }),
            );
            let found =
                distance(&task.domain(), task.mechanism(), epsilon, &Objective::MEAN).unwrap();
            assert_eq!(found.bound, BoundKind::Exact);
            assert!((found.times_bound - 1.0).abs() < 1e-9, "{found:?}");
            assert!((found.at_most - 1.0).abs() < 1e-9, "{found:?}");
        }
    }
}

#[test]
fn the_bound_is_of_whole_inputs_without_bias() {
    let task = |items, mechanism| {
        let draft: TaskDraft = serde_json::from_value(json!({
            "id": "some", "items": items, "sparsity": 4, "epsilon": 1.0, "value": "real",
            "mechanism": mechanism,
        }))
        .unwrap();
        draft.resolve().unwrap()
    };
    let of = |items: serde_json::Value, mechanism, objective| {
        let task = task(items, mechanism);
        distance(&task.domain(), task.mechanism(), 1.0, &objective)
    };
    let user = |clip| json!({ "name": "hash-bin", "noise": "two-point", "clip": clip });
    assert!(of(json!(40), json!("auto"), Objective::MEAN).is_some());
    assert!(of(json!(40), json!("collision"), BOTH).is_some());
    assert!(of(json!(40), json!("coco"), BOTH).is_none());
    assert!(of(json!("open"), json!("auto"), Objective::MEAN).is_none());
    assert!(of(json!(40), user(4.0), Objective::MEAN).is_some());
    assert!(of(json!(40), user(2.0), Objective::MEAN).is_none());
    let event = json!({ "name": "hash-bin", "level": "event" });
    assert!(of(json!(40), event, Objective::MEAN).is_none());
    let near = json!({ "name": "hash-bin", "level": "neighbouring", "distance": 2.0 });
    assert!(of(json!(40), near, Objective::MEAN).is_none());
    let open = task(json!("open"), json!("auto"));
    assert_eq!(least(&open.domain(), 1.0, &Objective::MEAN), None);
}

/// It is a ratio of what is predicted of either.
#[test]
fn the_distance_is_of_what_is_predicted() {
    let task = hushbin_tests::contest::task(64, 4, 2.0, &json!("collision"));
    let people = Population::even(1000.0, 4);
    let predicted = task.mechanism().predict(&task.domain(), 2.0, &people);
    for objective in OBJECTIVES {
        let bound = least(&task.domain(), 2.0, &objective).unwrap();
        let found = distance(&task.domain(), task.mechanism(), 2.0, &objective).unwrap();
        let variance = objective.weigh(&predicted).unwrap().variance * 1000.0;
        assert!(close(found.times_bound * bound.variance, variance, 1e-12));
        assert!(close(found.at_most * bound.proven, variance, 1e-12));
    }
}

#[test]
fn distances_are_worded_by_what_is_known() {
    for (times, at_most, bound, words) in [
        (
            1.0,
            1.0,
            BoundKind::Exact,
            "takes no more people than the best possible mechanism would",
        ),
        (
            1.042,
            1.3,
            BoundKind::Exact,
            "takes 4% more people than the best possible mechanism would",
        ),
        (
            2.31,
            2.4,
            BoundKind::Exact,
            "takes 2.3 times as many people as the best possible mechanism would",
        ),
        (
            1.042,
            1.215,
            BoundKind::Directions,
            "takes 4% more people than the best mechanism known would, and at most 22% more people than the best possible",
        ),
        (
            1.017,
            1.0171,
            BoundKind::Directions,
            "takes 2% more people than the best possible mechanism would",
        ),
    ] {
        assert_eq!(Distance::new(times, at_most, bound).text, words);
    }
}
