//! Tests on small batches whose δ is summed exactly. The bounds contain it, and no change of the
//! input is worse than the claimed worst case.

use super::brute::{binomial, counts, delta, product};
use super::{SCALE, noise, senders};
use crate::accounting::shuffled_sums::{NoiseParameters, ProvenBounds, SenderBatch};

fn hold(found: ProvenBounds, whole: f64, at: &str) {
    let rounded = 1e-12;
    assert!(
        found.lower <= whole * (1.0 + rounded),
        "{at}: {found:?}, {whole}"
    );
    assert!(
        found.upper >= whole * (1.0 - rounded),
        "{at}: {found:?}, {whole}"
    );
}

#[test]
fn one_coordinate_is_its_whole_sum() {
    for levels in [1_usize, 2, 5] {
        for trials in [1_usize, 2, 3, 7, 20, 60] {
            for q in [0.01, 0.125, 0.3, 0.5] {
                let law = binomial(trials, q);
                let most = levels as i32;
                let [up, down] = [most, -most].map(|x| counts(&law, x, levels));
                let own = noise(1, levels as u32, trials as u64, q);
                for epsilon in [0.0, 0.1, 0.7, 1.0, 3.0, 8.0] {
                    let whole = delta(&up, &down, epsilon);
                    let at = format!("L = {levels}, N = {trials}, q = {q}, ε = {epsilon}");
                    let found = own.delta_bounds(epsilon).unwrap();
                    hold(found, whole, &at);
                    let told = 1.0 - law[levels.min(law.len())..].iter().sum::<f64>();
                    if told < 0.2 {
                        assert!(found.upper <= found.lower + 1e-9 * whole + 1e-20, "{at}");
                    }
                    // Exchanging the two inputs does not change δ.
                    let mirrored = delta(&down, &up, epsilon);
                    assert!((whole - mirrored).abs() <= 1e-14, "{at}");
                }
            }
        }
    }
}

/// No change of one coordinate has a larger δ than the change from +L to −L.
#[test]
fn no_change_of_one_coordinate_is_worse() {
    let levels = 3;
    for (trials, q) in [(6, 0.5), (25, 0.25), (40, 0.1)] {
        let law = binomial(trials, q);
        let own = noise(1, levels, trials as u64, q);
        let all: Vec<_> = (-3..=3).map(|x| counts(&law, x, 3)).collect();
        for epsilon in [0.0, 0.3, 1.0, 2.5] {
            let most = own.delta_bounds(epsilon).unwrap().upper;
            for (from, to) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
                assert!(delta(from, to, epsilon) <= most * (1.0 + 1e-12));
            }
        }
    }
}

#[test]
fn two_coordinates_hold_their_whole_sum() {
    for (levels, trials, q) in [
        (1, 4, 0.5),
        (1, 10, 0.25),
        (1, 14, 0.4),
        (1, 20, 0.5),
        (2, 14, 0.5),
        (2, 20, 0.25),
    ] {
        let law = binomial(trials, q);
        let ends = [levels, -levels].map(|x| counts(&law, x, levels as usize));
        let [up, down] = [&ends[0], &ends[1]].map(|one| product(one, one));
        let own = noise(2, levels as u32, trials as u64, q);
        for epsilon in [0.0, 0.2, 1.0, 2.0, 3.5] {
            let whole = delta(&up, &down, epsilon);
            let found = own.delta_bounds(epsilon).unwrap();
            let at = format!("L = {levels}, N = {trials}, q = {q}, ε = {epsilon}");
            hold(found, whole, &at);
            if whole < 0.5 {
                let wide = found.upper / found.lower - 1.0;
                assert!(wide < 0.01, "{at}: {found:?}, {whole}");
            }
            if (1e-9..0.1).contains(&whole) {
                let epsilons = own.epsilon_bounds(whole).unwrap();
                hold(epsilons, epsilon, &at);
            }
        }
    }
}

/// The worst change of two coordinates is from +L to −L in both. A change of three coordinates has
/// an even larger δ.
#[test]
fn no_change_of_two_coordinates_is_worse() {
    let law = binomial(10, 0.3);
    let own = noise(2, 1, 10, 0.3);
    let one: Vec<_> = (-1..=1).map(|x| counts(&law, x, 1)).collect();
    let both: Vec<_> = one
        .iter()
        .flat_map(|a| one.iter().map(move |b| product(a, b)))
        .collect();
    for epsilon in [0.0, 0.5, 1.5] {
        let most = own.delta_bounds(epsilon).unwrap().upper;
        let mut worst: f64 = 0.0;
        for (from, to) in both.iter().flat_map(|a| both.iter().map(move |b| (a, b))) {
            worst = worst.max(delta(from, to, epsilon));
        }
        assert!(worst <= most * (1.0 + 1e-12), "{epsilon}: {worst}, {most}");
        let ends = delta(&both[8], &both[0], epsilon);
        assert!(
            (worst / ends - 1.0).abs() < 1e-12,
            "{epsilon}: {worst}, {ends}"
        );
    }
}

#[test]
fn three_coordinates_hold_their_whole_sum() {
    let law = binomial(6, 0.5);
    let ends = [1, -1].map(|x| counts(&law, x, 1));
    let [up, down] = [&ends[0], &ends[1]].map(|one| product(&product(one, one), one));
    let own = noise(3, 1, 6, 0.5);
    for epsilon in [0.0, 1.0, 3.0] {
        let whole = delta(&up, &down, epsilon);
        hold(
            own.delta_bounds(epsilon).unwrap(),
            whole,
            &format!("{epsilon}"),
        );
    }
}

/// If a person reports one of two coordinates, drawn at random, δ is at most the δ of a single
/// coordinate.
#[test]
fn a_drawn_coordinate_is_covered_by_one() {
    let (people, q) = (12, 0.4);
    let law = binomial(people, q);
    let [up, none, down] = [1, 0, -1].map(|x| counts(&law, x, 1));
    let drawn = |end: &[f64]| -> Vec<f64> {
        let (first, second) = (product(end, &none), product(&none, end));
        first
            .iter()
            .zip(&second)
            .map(|(a, b)| 0.5 * (a + b))
            .collect()
    };
    let (from, to) = (drawn(&up), drawn(&down));
    let own = SenderBatch {
        used: 1,
        ..senders(2, 1, people as u64, 1)
    };
    let any = NoiseParameters {
        threshold: (q * SCALE) as u64,
        most: 4,
    };
    for epsilon in [0.0, 0.5, 1.5] {
        let most = own.delta_bounds(any, epsilon).unwrap().upper;
        assert!(delta(&from, &to, epsilon) <= most);
    }
}

/// Returns the joint distribution of the noise of people who draw their noise messages again if
/// there are more than B = `most`.
fn cut(people: usize, repeats: usize, q: f64, most: usize) -> Vec<Vec<f64>> {
    let one = binomial(repeats, q);
    let pair = |i: usize, j: usize| if i + j <= most { one[i] * one[j] } else { 0.0 };
    let kept: f64 = (0..=repeats)
        .flat_map(|i| (0..=repeats).map(move |j| pair(i, j)))
        .sum();
    let mut all = vec![vec![1.0]];
    for _ in 0..people {
        let size = all.len() + repeats;
        let mut next = vec![vec![0.0; size]; size];
        for (i, row) in all.iter().enumerate() {
            for (j, p) in row.iter().enumerate() {
                for a in 0..=repeats {
                    for b in 0..=repeats {
                        next[i + a][j + b] += p * pair(a, b) / kept;
                    }
                }
            }
        }
        all = next;
    }
    all
}

#[test]
fn noise_that_is_cut_is_accounted_for() {
    for (people, repeats, q) in [
        (3_usize, 2_usize, 0.3),
        (5, 4, 0.1),
        (6, 3, 0.5),
        (8, 2, 0.05),
    ] {
        let own = senders(1, 1, people as u64, repeats as u32);
        for most in repeats..=2 * repeats {
            let law = cut(people, repeats, q, most);
            let size = law.len() + 1;
            let moved = |by: [usize; 2]| {
                let mut counts = vec![0.0; size * size];
                for (i, row) in law.iter().enumerate() {
                    for (j, p) in row.iter().enumerate() {
                        counts[(i + by[0]) * size + j + by[1]] = *p;
                    }
                }
                counts
            };
            let (up, down) = (moved([1, 0]), moved([0, 1]));
            let noise = NoiseParameters {
                threshold: (q * SCALE) as u64,
                most: most as u64,
            };
            for epsilon in [0.0, 0.5, 1.0, 2.0] {
                let whole = delta(&up, &down, epsilon);
                let found = own.delta_bounds(noise, epsilon).unwrap();
                hold(found, whole, &format!("{own:?}, {noise:?}, {epsilon}"));
            }
            for given in [0.1, 1e-3] {
                let found = own.epsilon_bounds(noise, given).unwrap();
                if found.upper < 50.0 {
                    assert!(delta(&up, &down, found.upper) <= given * (1.0 + 1e-9));
                }
                if found.lower > 0.0 {
                    let below = found.lower.min(50.0) * (1.0 - 1e-9);
                    assert!(delta(&up, &down, below) >= given * (1.0 - 1e-9));
                }
            }
        }
    }
}
