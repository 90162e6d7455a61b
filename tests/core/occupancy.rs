//! G(c) and its counterpart for squares against a reference. The reference is a dynamic program
//! over the cells. Its state is the number of remaining elements and the number of cells so far
//! with strength v or more.

use hushbin::mechanism::occupancy::{CellOccupancyModel, StrengthMeasure};

/// P(count = n) of the next cell for each n, with `left` elements left for this cell and `others`
/// further ones.
fn next_cell(per_cell: Option<u32>, others: u32, left: usize) -> Vec<f64> {
    if others == 0 {
        let mut certain = vec![0.0; left + 1];
        certain[left] = 1.0;
        return certain;
    }
    // Terms C(left, n)·others^(left − n), or C(m, n)·C(m·others, left − n), up to a factor. Each
    // term is computed from the previous one.
    let mut law = vec![0.0; left + 1];
    let others = f64::from(others);
    let (first, ratio): (usize, Box<dyn Fn(f64) -> f64>) = match per_cell {
        None => (0, Box::new(|n| (left as f64 - n) / (n + 1.0) / others)),
        Some(m) => {
            let m = f64::from(m);
            let rest = m * others;
            let least = (left as f64 - rest).max(0.0);
            let ratio = move |n: f64| {
                let stay = left as f64 - n;
                (m - n) / (n + 1.0) * stay / (rest - stay + 1.0)
            };
            (least as usize, Box::new(ratio))
        }
    };
    law[first] = 1.0;
    for n in first..left {
        law[n + 1] = law[n] * ratio(n as f64).max(0.0);
    }
    let total: f64 = law.iter().sum();
    law.iter().map(|p| p / total).collect()
}

/// P(strength ≥ v) of a cell with n elements.
fn strong(strength: StrengthMeasure, n: usize, v: usize) -> f64 {
    match strength {
        StrengthMeasure::Count => f64::from(n >= v),
        StrengthMeasure::SignedSum => {
            // C(n, k)/2ⁿ, with k elements pushing to the minus side.
            let mut p = 0.5f64.powi(n as i32);
            let mut sum = 0.0;
            for k in 0..=n {
                if n.abs_diff(2 * k) >= v {
                    sum += p;
                }
                p *= (n - k) as f64 / (k + 1) as f64;
            }
            sum
        }
    }
}

/// P(K_v = k) for each k.
fn reaching(
    occupancy: &CellOccupancyModel,
    strength: StrengthMeasure,
    v: usize,
    laws: &[Vec<Vec<f64>>],
) -> Vec<f64> {
    let s = occupancy.element_count as usize;
    let most = s / v;
    let strong: Vec<f64> = (0..=s).map(|n| strong(strength, n, v)).collect();
    // Indices: state[left][k].
    let mut state = vec![vec![0.0; most + 1]; s + 1];
    state[s][0] = 1.0;
    for cell in laws {
        let mut next = vec![vec![0.0; most + 1]; s + 1];
        for (left, row) in state.iter().enumerate() {
            for (k, &p) in row.iter().enumerate().filter(|&(_, &p)| p > 0.0) {
                for (n, &q) in cell[left].iter().enumerate().filter(|&(_, &q)| q > 0.0) {
                    next[left - n][k] += p * q * (1.0 - strong[n]);
                    if strong[n] > 0.0 {
                        next[left - n][k + 1] += p * q * strong[n];
                    }
                }
            }
        }
        state = next;
    }
    state.swap_remove(0)
}

/// Distribution of the sum of `numbers` independent numbers.
fn sum_of(law: &[f64], numbers: u32) -> Vec<f64> {
    let mut sum = vec![1.0];
    for _ in 0..numbers {
        let mut next = vec![0.0; sum.len() + law.len() - 1];
        for (i, p) in sum.iter().enumerate() {
            for (j, q) in law.iter().enumerate() {
                next[i + j] += p * q;
            }
        }
        sum = next;
    }
    sum
}

/// Returns G(c) and its counterpart for squares, for c from 0 to `most` and several functions.
fn reference(
    occupancy: &CellOccupancyModel,
    strength: StrengthMeasure,
    functions: u32,
    most: u32,
) -> Vec<(f64, f64)> {
    let s = occupancy.element_count as usize;
    let laws: Vec<Vec<Vec<f64>>> = (0..occupancy.cell_count)
        .rev()
        .map(|others| {
            (0..=s)
                .map(|left| next_cell(occupancy.slots_per_cell, others, left))
                .collect()
        })
        .collect();
    let mut sums = vec![(0.0, 0.0); most as usize + 1];
    for v in 1..=s {
        let law = sum_of(&reaching(occupancy, strength, v, &laws), functions);
        for (c, (sum, squares)) in sums.iter_mut().enumerate() {
            let capped = law.iter().enumerate().map(|(k, p)| k.min(c) as f64 * p);
            let mean: f64 = capped.sum();
            *sum += mean;
            *squares += (2 * v - 1) as f64 * mean;
        }
    }
    sums
}

fn grid(elements: &[u32], cells: &[u32], per_cell: &[Option<u32>]) -> Vec<CellOccupancyModel> {
    let mut grid = Vec::new();
    for &elements in elements {
        for &cells in cells {
            for &per_cell in per_cell {
                // Every domain has more slots than an input has elements.
                if per_cell.is_none_or(|m| u64::from(m) * u64::from(cells) > u64::from(elements)) {
                    grid.push(CellOccupancyModel {
                        element_count: elements,
                        cell_count: cells,
                        slots_per_cell: per_cell,
                    });
                }
            }
        }
    }
    grid
}

#[test]
fn sums_are_those_of_the_dynamic_program() {
    let slots = [
        None,
        Some(1),
        Some(2),
        Some(3),
        Some(7),
        Some(40),
        Some(2000),
    ];
    let grid = grid(&[1, 2, 3, 6, 17, 40], &[1, 2, 3, 7, 20, 60], &slots);
    assert!(grid.len() > 150, "{}", grid.len());
    for occupancy in grid {
        let most = occupancy.cell_count.min(occupancy.element_count);
        for strength in [StrengthMeasure::Count, StrengthMeasure::SignedSum] {
            let ours = occupancy.strongest_cell_sums(strength, 1, most);
            for (c, (sum, squares)) in (0..).zip(reference(&occupancy, strength, 1, most)) {
                let close = |ours: f64, exact: f64| (ours - exact).abs() <= 1e-11 * exact;
                assert!(
                    close(ours.sums_over_strongest_cells(c).strength_sum, sum),
                    "G({c}) is {}, not {sum}: {strength:?} of {occupancy:?}",
                    ours.sums_over_strongest_cells(c).strength_sum
                );
                assert!(
                    close(
                        ours.sums_over_strongest_cells(c).squared_strength_sum,
                        squares
                    ),
                    "the squares of {c} are {}, not {squares}: {strength:?} of {occupancy:?}",
                    ours.sums_over_strongest_cells(c).squared_strength_sum
                );
            }
        }
    }
}

#[test]
fn all_cells_together_hold_all() {
    let slots = [None, Some(1), Some(3), Some(5000)];
    for occupancy in grid(&[1, 5, 64, 300], &[2, 9, 100, 5000], &slots) {
        let s = occupancy.element_count;
        // At most s cells contain anything.
        let top = occupancy.strongest_cell_sums(StrengthMeasure::Count, 1, occupancy.cell_count);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-11 * b;
        assert!(
            close(
                top.sums_over_strongest_cells(occupancy.cell_count)
                    .strength_sum,
                f64::from(s)
            ),
            "{occupancy:?}"
        );
        let squares = top
            .sums_over_strongest_cells(occupancy.cell_count)
            .squared_strength_sum;
        assert!(
            close(squares, occupancy.expected_sum_of_squares()),
            "{occupancy:?}"
        );
        // In expectation the squares of signed sums add up to s, for all collisions.
        let signed =
            occupancy.strongest_cell_sums(StrengthMeasure::SignedSum, 1, occupancy.cell_count);
        let squares = signed
            .sums_over_strongest_cells(occupancy.cell_count)
            .squared_strength_sum;
        assert!(close(squares, f64::from(s)), "{squares}: {occupancy:?}");
        assert!(
            signed
                .sums_over_strongest_cells(occupancy.cell_count)
                .strength_sum
                <= f64::from(s) * (1.0 + 1e-11)
        );
        if occupancy.slots_per_cell == Some(1) {
            let c = occupancy.cell_count.min(s).div_ceil(2);
            assert!(
                close(top.sums_over_strongest_cells(c).strength_sum, f64::from(c)),
                "{occupancy:?}"
            );
            assert!(
                close(
                    signed.sums_over_strongest_cells(c).strength_sum,
                    f64::from(c)
                ),
                "{occupancy:?}"
            );
        }
    }
}

#[test]
fn sums_stay_in_range_at_the_greatest_sparsity() {
    let slots = [None, Some(2), Some(1600), Some(1 << 21)];
    for occupancy in grid(&[1024], &[2, 40, 1500, 1 << 22], &slots) {
        let most = 16.min(occupancy.cell_count);
        let signed = occupancy.strongest_cell_sums(StrengthMeasure::SignedSum, 1, most);
        assert!(
            signed.sums_over_strongest_cells(1).strength_sum >= 1.0 - 1e-12
                && signed
                    .sums_over_strongest_cells(most)
                    .strength_sum
                    .is_finite()
        );
        assert!(
            signed.sums_over_strongest_cells(most).squared_strength_sum <= 1024.0 * (1.0 + 1e-9)
        );
        let top = occupancy.strongest_cell_sums(StrengthMeasure::Count, 1, most);
        let mean = f64::from(occupancy.element_count) / f64::from(occupancy.cell_count);
        for c in 1..=most {
            let step = top.sums_over_strongest_cells(c).strength_sum
                - top.sums_over_strongest_cells(c - 1).strength_sum;
            assert!(
                top.sums_over_strongest_cells(c).strength_sum.is_finite()
                    && top
                        .sums_over_strongest_cells(c)
                        .squared_strength_sum
                        .is_finite()
            );
            // The c-th fullest cell contains no more than the previous one, and the fullest at
            // least the mean.
            if c == 1 {
                assert!(step >= mean.max(1.0) * (1.0 - 1e-12), "{occupancy:?}");
            } else {
                let before = top.sums_over_strongest_cells(c - 1).strength_sum
                    - top.sums_over_strongest_cells(c - 2).strength_sum;
                assert!(
                    step <= before * (1.0 + 1e-9) && step >= 0.0,
                    "{occupancy:?}"
                );
            }
        }
        assert!(
            top.sums_over_strongest_cells(most).strength_sum
                <= f64::from(occupancy.element_count) * (1.0 + 1e-12)
        );
    }
}

#[test]
fn sums_over_several_functions_are_those_of_the_dynamic_program() {
    let slots = [None, Some(1), Some(3), Some(40)];
    let grid = grid(&[1, 2, 5, 9], &[1, 2, 6, 20], &slots);
    for occupancy in grid {
        for functions in [2, 3, 16, 64] {
            let most = occupancy.cell_count.min(occupancy.element_count) * functions;
            for strength in [StrengthMeasure::Count, StrengthMeasure::SignedSum] {
                let ours = occupancy.strongest_cell_sums(strength, functions, most);
                let reference = reference(&occupancy, strength, functions, most);
                for (c, (sum, squares)) in (0..).zip(reference) {
                    let close = |ours: f64, exact: f64| (ours - exact).abs() <= 1e-12 * exact;
                    let top = ours.sums_over_strongest_cells(c);
                    assert!(
                        close(top.strength_sum, sum) && close(top.squared_strength_sum, squares),
                        "{top:?} of {c}, not {sum} and {squares}: {strength:?}, {functions} of \
                         {occupancy:?}"
                    );
                }
            }
        }
    }
}
