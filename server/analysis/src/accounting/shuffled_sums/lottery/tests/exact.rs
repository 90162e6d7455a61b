//! Tests on small batches, by sums over all histograms.

use std::collections::HashMap;

use super::super::batch::poisson_factor;
use super::super::pair::{CountPair, PairTotal};
use super::{batch, noise};
use crate::accounting::composition::ComposedPart;
use crate::accounting::shuffled_sums::ProvenBounds;
use crate::accounting::shuffled_sums::identifying_part::IdentifyingPart;
use crate::accounting::shuffled_sums::lottery::LotteryBatch;
use crate::numeric::binomial::{binomial_probability, poisson_probability};

/// Distribution over outcomes: here histograms of messages by cell.
type Law = HashMap<Vec<u8>, f64>;

/// Returns the distribution of the noise of `draws` draws, one draw after the other.
fn noise_law(cells: usize, draws: u32, rho: f64) -> Law {
    let mut law = Law::from([(vec![0; cells], 1.0)]);
    for _ in 0..draws {
        let mut next = Law::new();
        for (counts, p) in law {
            *next.entry(counts.clone()).or_default() += p * (1.0 - rho);
            for cell in 0..cells {
                let mut more = counts.clone();
                more[cell] += 1;
                *next.entry(more).or_default() += p * rho / cells as f64;
            }
        }
        law = next;
    }
    law
}

/// Returns the distribution of the counts of a person whose own messages are about these cells.
fn counts(noise: &Law, own: &[usize]) -> Law {
    let moved = |(counts, p): (&Vec<u8>, &f64)| {
        let mut counts = counts.clone();
        own.iter().for_each(|&cell| counts[cell] += 1);
        (counts, *p)
    };
    noise.iter().map(moved).collect()
}

fn delta(from: &Law, to: &Law, epsilon: f64) -> f64 {
    let over = |(outcome, p): (&Vec<u8>, &f64)| {
        (p - epsilon.exp() * to.get(outcome).unwrap_or(&0.0)).max(0.0)
    };
    from.iter().map(over).sum()
}

fn product(one: &Law, other: &Law) -> Law {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
    pairs
        .map(|((a, p), (b, q))| ([&a[..], b].concat(), p * q))
        .collect()
}

#[track_caller]
fn contains(found: ProvenBounds, whole: f64) {
    assert!(
        found.lower <= whole * (1.0 + 1e-12) && whole <= found.upper * (1.0 + 1e-12) + 1e-15,
        "{found:?}, {whole}"
    );
}

const EPSILONS: [f64; 6] = [0.0, 0.1, 0.7, 1.0, 3.0, 8.0];

#[test]
fn a_choice_is_its_whole_sum() {
    for cells in 2..=4_usize {
        for people in 1..=4_u64 {
            for draws in 1..=2 {
                for rho in [0.125, 0.5, 0.9, 1.0] {
                    let law = noise_law(cells, people as u32 * draws, rho);
                    let from = counts(&law, &[0]);
                    let own = batch(cells as u32, 1, people);
                    for epsilon in EPSILONS {
                        let found = own.delta_bounds(noise(draws, rho), epsilon).unwrap();
                        for other in 1..cells {
                            let whole = delta(&from, &counts(&law, &[other]), epsilon);
                            contains(found, whole);
                            assert!(found.upper - found.lower <= 1e-11, "{found:?}");
                        }
                    }
                }
            }
        }
    }
}

/// The numbers of messages of all people reveal nothing beyond the counts.
#[test]
fn upload_sizes_reveal_nothing() {
    let (cells, people, draws, rho) = (3, 3, 2, 0.6);
    // An outcome is the histogram, followed by the number of noise messages of each person.
    let mut law = Law::from([(vec![0; cells + people], 1.0)]);
    for person in 0..people {
        let mut next = Law::new();
        for (outcome, p) in &law {
            for (counts, q) in &noise_law(cells, draws, rho) {
                let mut more = outcome.clone();
                for (cell, count) in counts.iter().enumerate() {
                    more[cell] += count;
                    more[cells + person] += count;
                }
                *next.entry(more).or_default() += p * q;
            }
        }
        law = next;
    }
    let own = batch(cells as u32, 1, people as u64);
    for epsilon in EPSILONS {
        let whole = delta(&counts(&law, &[0]), &counts(&law, &[1]), epsilon);
        let found = own.delta_bounds(noise(draws, rho), epsilon).unwrap();
        contains(found, whole);
        assert!(found.upper - found.lower <= 1e-11, "{found:?}, {whole}");
    }
}

/// Returns all sets of `size` of the cells.
fn sets(cells: usize, size: usize) -> Vec<Vec<usize>> {
    let members = |bits: u32| (0..cells).filter(|cell| bits >> cell & 1 == 1).collect();
    let all = (0..1_u32 << cells).filter(|bits| bits.count_ones() as usize == size);
    all.map(members).collect()
}

/// The worst change of a set is that of all its cells, and the bounds contain it.
#[test]
fn no_change_of_a_set_is_worse() {
    for (cells, size, draws, rho) in [
        (4, 2, 6, 0.5),
        (4, 2, 7, 1.0),
        (5, 2, 6, 0.9),
        (6, 2, 6, 0.25),
        (6, 3, 6, 0.5),
        (6, 3, 5, 1.0),
    ] {
        let law = noise_law(cells, draws, rho);
        let own = batch(cells as u32, size as u32, u64::from(draws));
        let inputs = sets(cells, size);
        let laws: Vec<Law> = inputs.iter().map(|set| counts(&law, set)).collect();
        for epsilon in [0.0, 0.7, 2.0] {
            let mut worst = 0.0_f64;
            let mut disjoint = 0.0;
            for (a, from) in inputs.iter().zip(&laws) {
                for (b, to) in inputs.iter().zip(&laws) {
                    let whole = delta(from, to, epsilon);
                    worst = worst.max(whole);
                    if a.iter().all(|cell| !b.contains(cell)) {
                        disjoint = whole;
                    }
                }
            }
            assert!((worst - disjoint).abs() < 1e-13, "{worst}, {disjoint}");
            contains(own.delta_bounds(noise(1, rho), epsilon).unwrap(), worst);
        }
    }
}

/// A tree of 2 and 4 nodes: the worst change is of both levels.
#[test]
fn a_tree_is_bounded_like_a_set() {
    let law = noise_law(6, 6, 0.75);
    let leaf = |leaf: usize| counts(&law, &[leaf / 2, 2 + leaf]);
    let own = batch(6, 2, 6);
    for epsilon in [0.0, 0.7, 2.0] {
        let whole = |a, b| delta(&leaf(a), &leaf(b), epsilon);
        let found = own.delta_bounds(noise(1, 0.75), epsilon).unwrap();
        contains(found, whole(0, 3));
        assert!(whole(0, 1) <= whole(0, 3) + 1e-15);
    }
}

/// Bounds for sets are close to the true δ even if half of all draws are about cells that change.
#[test]
fn bounds_for_sets_are_close() {
    let (draws, rho) = (30, 0.5);
    let law = noise_law(4, draws, rho);
    let [from, to] = [[0, 1], [2, 3]].map(|set| counts(&law, &set));
    for epsilon in [0.5, 1.0] {
        let whole = delta(&from, &to, epsilon);
        let own = batch(4, 2, u64::from(draws));
        let found = own.delta_bounds(noise(1, rho), epsilon).unwrap();
        contains(found, whole);
        assert!(found.upper <= 1.6 * whole, "{found:?}, {whole}");
        assert!(found.lower >= whole / 1.6, "{found:?}, {whole}");
    }
}

#[test]
fn two_batches_hold_their_whole_sum() {
    for (cells, size, draws, rho) in [(3, 1, 4, 0.8), (2, 1, 6, 1.0), (4, 2, 3, 0.5)] {
        let law = noise_law(cells, draws, rho);
        let ends = [0, 1].map(|end| {
            let set: Vec<usize> = (0..size).map(|i| end * size + i).collect();
            counts(&law, &set)
        });
        let [from, to] = [0, 1].map(|end| product(&ends[end], &ends[end]));
        let own = LotteryBatch {
            batches: 2,
            ..batch(cells as u32, size as u32, u64::from(draws))
        };
        for epsilon in [0.2, 1.0, 2.5] {
            let whole = delta(&from, &to, epsilon);
            contains(own.delta_bounds(noise(1, rho), epsilon).unwrap(), whole);
            if whole < 0.1 {
                let found = own.epsilon_bounds(noise(1, rho), whole).unwrap();
                contains(found, epsilon);
            }
        }
    }
}

/// The ratio R is the largest one, and near (1 − p)^(−1/2), but √(2πM) if every draw hits.
#[test]
fn the_factor_is_the_largest_ratio() {
    for (draws, p) in [
        (1, 0.5),
        (4, 0.25),
        (9, 0.9),
        (50, 0.02),
        (50, 0.999),
        (200, 0.6),
    ] {
        let (n, pair) = (f64::from(draws), [p, 1.0 - p]);
        let ratio = |m: i32| {
            let m = f64::from(m);
            binomial_probability(m, n, pair) / poisson_probability(m, n * p)
        };
        let largest = (0..=draws).map(ratio).fold(0.0, f64::max);
        let found = poisson_factor(n, pair);
        assert!(
            found >= largest && found <= largest * (1.0 + 1e-11),
            "{draws}, {p}"
        );
    }
    let near = poisson_factor(1e6, [0.3, 0.7]);
    assert!((near * 0.7_f64.sqrt() - 1.0).abs() < 1e-5, "{near}");
    let always = poisson_factor(1e4, [1.0, 0.0]);
    assert!((always / (std::f64::consts::TAU * 1e4).sqrt() - 1.0).abs() < 1e-4);
}

/// δ given the total m does not increase with m. Lower bounds rely on it.
#[test]
fn a_larger_total_hides_more() {
    for epsilon in [0.0, 0.3, 1.0, 4.0] {
        let mut before = 1.0;
        for m in 0..300 {
            let total = PairTotal::Binomial {
                draws: f64::from(m),
                hit: [1.0, 0.0],
            };
            let pair = CountPair::new(total, 120.0);
            let [least, most] = pair.identifying_bounds();
            let whole = 0.5_f64.powi(m);
            assert!(least <= whole && whole <= most);
            let rest = if m == 0 {
                0.0
            } else {
                (1.0 - whole) * pair.delta_bounds(epsilon).1
            };
            assert!(whole + rest <= before * (1.0 + 1e-12), "{epsilon}, {m}");
            before = whole + rest;
        }
    }
}
