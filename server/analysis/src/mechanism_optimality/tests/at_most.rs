//! Tests of the smallest variance for sets of at most s items, against all mechanisms over tiny
//! domains.

use hushbin::choose::Objective;
use hushbin::domain::Domain;

use super::super::at_most_search::{SearchWithEmptyInput, report_mixture_information};
use super::super::{BoundKind, least_variance};
use super::close;

/// Returns every subset of the items that has one of these sizes, as a bit mask.
fn subsets(items: u32, sizes: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = (0..1 << items)
        .filter(|set: &u32| sizes.contains(&set.count_ones()))
        .collect();
    all.sort_by_key(|set| set.count_ones());
    all
}

/// Returns a proven lower bound on the variance of every mechanism for sets of these sizes, summed
/// over the items. The bound is on the variance for sets of the last size, s.
///
/// Let q be the likelihoods of a report, and f its estimate. Let a_j be the mean of q over the sets
/// of size j. Let V = Σ_j E_j\[(α_j·(x − j/d) + β_j)·q\], with multipliers α_j, β_j and ν_j such
/// that ‖V‖² ≤ a_s·Σ_j ν_j·a_j for all likelihoods. Then
///
/// a_s‖f‖² ≥ 2⟨f, V⟩ − Σ_j ν_j·a_j
///
/// for any f. Summed over the reports of an unbiased mechanism, this is a lower bound on E‖f‖²,
/// because the a_j of all reports sum to 1. The condition is convex in each likelihood, so it is
/// enough to check likelihoods of 1 and e. All of these are tried here, and ν_s is increased by the
/// deficit.
fn certified(items: u32, epsilon: f64, multipliers: &[(u32, [f64; 3])]) -> f64 {
    let sizes: Vec<u32> = multipliers.iter().map(|(size, _)| *size).collect();
    let all = subsets(items, &sizes);
    let (d, excess) = (f64::from(items), epsilon.exp_m1());
    let of_size = |size: u32| all.iter().filter(|set| set.count_ones() == size).count() as f64;
    let last = sizes[sizes.len() - 1];
    let mut missing = 0.0_f64;
    for inside in 0_u32..1 << all.len() {
        let mut value = vec![0.0; items as usize];
        let [mut mass, mut own] = [0.0; 2];
        for &(size, [alpha, beta, nu]) in multipliers {
            for (index, &set) in all.iter().enumerate() {
                if set.count_ones() != size {
                    continue;
                }
                let q = 1.0
                    + if inside >> index & 1 == 1 {
                        excess
                    } else {
                        0.0
                    };
                let part = q / of_size(size);
                mass += nu * part;
                own += if size == last { part } else { 0.0 };
                for (item, value) in value.iter_mut().enumerate() {
                    let has = f64::from(set >> item & 1);
                    *value += part * (alpha * (has - f64::from(size) / d) + beta);
                }
            }
        }
        let square: f64 = value.iter().map(|v| v * v).sum();
        missing = missing.max((square - mass * own) / (own * own));
    }
    let terms = multipliers.iter().map(|&(size, [alpha, beta, nu])| {
        let j = f64::from(size);
        2.0 * (alpha * j * (d - j) / d + beta * j) - nu
    });
    terms.sum::<f64>() - missing - f64::from(last)
}

/// Multipliers that a cone programme found certify that no mechanism is better. For four items,
/// only the empty set matters in addition to sets of two. For five items, sets of one item matter
/// as well.
#[test]
fn no_mechanism_for_at_most_two_items_has_less_variance() {
    let few = [
        (0, [0.0, -1.17903, -4.14471]),
        (2, [14.90261, 1.67903, 22.40535]),
    ];
    let four = [
        (0, [0.0, -28.24286, -112.97146]),
        (1, [0.04357, 0.0, 0.00001]),
        (2, [200.87171, 28.74286, 371.36157]),
    ];
    let five = [
        (0, [0.0, -1.18575, -3.31122]),
        (1, [1.23617, -0.01029, -2.40144]),
        (2, [16.11879, 1.59604, 29.22592]),
    ];
    let least_of_five = [
        (0, [0.0, -17.38832, -90.96292]),
        (1, [55.53968, -11.10794, -122.47404]),
        (2, [238.30788, 28.89625, 590.52265]),
    ];
    for (items, epsilon, multipliers, value, reached) in [
        (4, 1.0, few.as_slice(), 16.2607, 1.0042),
        (4, 0.25, &four, 256.390, 1.0001),
        (5, 1.0, &five, 21.5133, 0.985),
        (5, 0.25, &least_of_five, 375.086, 0.951),
    ] {
        let found = certified(items, epsilon, multipliers);
        assert!(close(found, value, 1e-4), "{items}, {epsilon}: {found}");
        let domain = Domain::of_unrated_items(Some(items), 2);
        let least = least_variance(&domain, epsilon, &Objective::FREQUENCY_ONLY).unwrap();
        let ratio = least.variance * f64::from(items) / found;
        assert!(close(ratio, reached, 2e-3), "{items}, {epsilon}: {ratio}");
        assert!(least.proven_lower_bound * f64::from(items) < found);
        assert_eq!(least.kind, BoundKind::Directions);
    }
}

/// The smallest variance for exactly s items is smaller, because estimates need not be unbiased for
/// the empty set.
#[test]
fn the_empty_set_costs_something() {
    for (items, entries) in [(3, 1), (8, 1), (8, 2), (16, 4), (16, 8), (300, 20)] {
        let mut before = f64::INFINITY;
        for epsilon in [0.1, 0.5, 1.0, 2.0, 4.0, 8.0] {
            let [exact, at_most] = [
                Domain::with_exact_entry_count(items, entries),
                Domain::of_unrated_items(Some(items), entries),
            ]
            .map(|domain| least_variance(&domain, epsilon, &Objective::FREQUENCY_ONLY).unwrap());
            let what = format!("{items}, {entries}, {epsilon}: {exact:?}, {at_most:?}");
            let ratio = at_most.variance / exact.variance;
            assert!((1.0..2.0).contains(&ratio), "{what}");
            assert!(
                close(at_most.proven_lower_bound, exact.proven_lower_bound, 1e-12),
                "{what}"
            );
            assert!(at_most.variance < before, "{what}");
            before = at_most.variance;
        }
    }
}

/// Report z, as its ratio ρ and the conditional mean E\[n − s/d | z\].
type Known = (f64, Vec<f64>);

/// Returns all permutations of the items.
fn orders(items: u32) -> Vec<Vec<u32>> {
    let mut found: Vec<Vec<u32>> = vec![Vec::new()];
    for _ in 0..items {
        let longer = found.iter().flat_map(|order| {
            let free = (0..items).filter(|item| !order.contains(item));
            free.map(|item| order.iter().copied().chain([item]).collect())
        });
        found = longer.collect();
    }
    found
}

/// Two sets of inputs, one with the empty input and one without, define a mechanism if they are
/// permuted at random.
///
/// Its estimates are unbiased, also for the empty input, and have the predicted cost.
#[test]
fn a_pair_of_sets_is_a_mechanism_for_the_empty_set_too() {
    let (items, entries, epsilon) = (4_u32, 2_u32, 1.0_f64);
    let (d, s, e) = (f64::from(items), f64::from(entries), epsilon.exp());
    let inputs = subsets(items, &[entries]);
    // Set of the inputs that have at least `hits` of the first `favoured` items.
    let chosen = |favoured: u32, hits: u32| -> Vec<u32> {
        let first = (1 << favoured) - 1;
        let has = |set: &u32| (set & first).count_ones() >= hits;
        inputs.iter().copied().filter(has).collect()
    };
    for (low, high) in [
        (chosen(1, 1), chosen(1, 1)),
        (chosen(1, 1), chosen(2, 2)),
        (chosen(2, 1), chosen(2, 2)),
    ] {
        let all = inputs.len() as f64;
        let likelihood = |inside: &[u32], set: u32| if inside.contains(&set) { e } else { 1.0 };
        let [first, second] = [&low, &high].map(|inside| {
            inputs
                .iter()
                .map(|set| likelihood(inside, *set))
                .sum::<f64>()
                / all
        });
        let [below, above] = [1.0 / first, e / second];
        let part = (1.0 - below) / (above - below);
        // Two kinds of report: proportion of the mixture, set S, mean likelihood over all inputs,
        // and likelihood for the empty input. It is outside the first set and inside the second.
        let kinds = [(1.0 - part, &low, first, 1.0), (part, &high, second, e)];
        let told: Vec<Known> = kinds
            .iter()
            .map(|(_, inside, weight, empty)| {
                let of = |item: u32| {
                    let terms = inputs
                        .iter()
                        .map(|set| likelihood(inside, *set) * (f64::from(set >> item & 1) - s / d));
                    terms.sum::<f64>() / all / weight
                };
                (empty / weight, (0..items).map(of).collect())
            })
            .collect();
        let average = |of: &dyn Fn(&Known) -> f64| {
            kinds
                .iter()
                .zip(&told)
                .map(|(kind, told)| kind.0 * of(told))
                .sum::<f64>()
        };
        let which = average(&|(_, eta)| eta.iter().map(|v| v * v).sum());
        let many = average(&|(ratio, _)| (ratio - 1.0).powi(2));
        let spread = s * (d - s) / d;
        let cost = spread * spread / which + s * s / d * (1.0 + 1.0 / many);
        // Estimate of one item from a report.
        let estimate = |(ratio, eta): &Known, item: usize| {
            spread / which * eta[item] + s / d * (1.0 - (ratio - 1.0) / many)
        };
        let turns = orders(items);
        for input in subsets(items, &[0, entries]) {
            let mut mass = 0.0;
            let mut square = 0.0;
            let mut mean = vec![0.0; items as usize];
            for order in &turns {
                let place = |item: u32| order[item as usize];
                let turned = (0..items).filter(|item| input >> place(*item) & 1 == 1);
                let turned = turned.map(|item| 1 << item).sum::<u32>();
                for ((share, inside, weight, empty), told) in kinds.iter().zip(&told) {
                    let q = if input == 0 {
                        *empty
                    } else {
                        likelihood(inside, turned)
                    };
                    let probability = share / weight * q / turns.len() as f64;
                    mass += probability;
                    for item in 0..items as usize {
                        let estimate = estimate(told, item);
                        mean[place(item as u32) as usize] += probability * estimate;
                        square += probability * estimate * estimate;
                    }
                }
            }
            assert!((mass - 1.0).abs() < 1e-12, "{mass}");
            for (item, mean) in mean.iter().enumerate() {
                let truth = f64::from(input >> item & 1);
                assert!((mean - truth).abs() < 1e-12, "{input:b}, {item}: {mean}");
            }
            assert!(input == 0 || close(square, cost, 1e-12), "{square}, {cost}");
        }
        let bound = least_variance(
            &Domain::of_unrated_items(Some(items), entries),
            epsilon,
            &Objective::FREQUENCY_ONLY,
        );
        assert!(
            (cost - s) / d >= bound.unwrap().variance * (1.0 - 1e-9),
            "{cost}"
        );
    }
}

/// No pair of sets has more weighted information than the pair that the multipliers find.
#[test]
fn the_most_told_is_that_of_the_best_pair() {
    for (items, entries, epsilon) in [(4, 2, 1.0), (8, 3, 0.3), (16, 4, 2.0), (16, 8, 4.0)] {
        let sets = SearchWithEmptyInput::new(items, entries, f64::exp_m1(epsilon));
        for weights in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.1, 20.0], [30.0, 1.0]] {
            let report = |[weight, presence]: [f64; 2], odds: f64| [odds / weight, presence];
            let pair = |low, high| {
                report_mixture_information([report(low, 1.0), report(high, sets.exp_epsilon)])
            };
            let all = sets.weight_and_presence_of_sets.iter();
            let pairs = all.flat_map(|low| {
                sets.weight_and_presence_of_sets
                    .iter()
                    .map(|high| pair(*low, *high))
            });
            let best = pairs.map(|told| told.weighted_component_sum(weights));
            let best = best.fold(0.0, f64::max);
            let found = sets
                .max_information(weights)
                .weighted_component_sum(weights);
            assert!(
                close(found, best, 1e-9),
                "{items}, {entries}: {found}, {best}"
            );
        }
    }
}
