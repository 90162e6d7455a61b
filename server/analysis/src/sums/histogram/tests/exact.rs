//! Tests by enumeration, and tests of least squares.

use serde_json::Value;

use super::super::cells::binomial_limit;
use super::super::tree::BinSum;
use super::super::{BinTree, HistogramCountsError, NumberCounts, estimate_cells, estimate_flags};
use super::tree;
use crate::estimate::ConfidenceLevel;
use crate::numeric::binomial::binomial_probability;
use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

/// Calls `add` with every noise histogram of `draws` draws and its probability.
fn for_each_noise(cells: usize, draws: u32, rho: f64, add: &mut impl FnMut(&[u64], f64)) {
    fn next(counts: &mut Vec<u64>, left: u32, p: f64, rho: f64, add: &mut impl FnMut(&[u64], f64)) {
        if left == 0 {
            return add(counts, p);
        }
        next(counts, left - 1, p * (1.0 - rho), rho, add);
        for cell in 0..counts.len() {
            counts[cell] += 1;
            next(counts, left - 1, p * rho / counts.len() as f64, rho, add);
            counts[cell] -= 1;
        }
    }
    next(&mut vec![0; cells], draws, 1.0, rho, add);
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
}

/// Mean and variance n·r·q·(1 − 1/K), for people who all send a set of two or one option.
#[test]
fn estimates_are_unbiased() {
    let confidence = ConfidenceLevel::new(0.95, 1).unwrap();
    for (own, people, own_messages) in [(vec![3_u64, 0, 1], 4, 1), (vec![2, 1, 1, 0], 2, 2)] {
        let (cells, draws, rho) = (own.len(), 4, 0.4);
        let (mut means, mut squares) = (vec![0.0; cells], vec![0.0; cells]);
        let mut error = 0.0;
        for_each_noise(cells, draws, rho, &mut |noise, p| {
            let counts: Vec<u64> = own
                .iter()
                .zip(noise)
                .map(|(own, noise)| own + noise)
                .collect();
            let found = estimate_cells(&counts, people, own_messages, 0, &confidence).unwrap();
            for (cell, found) in found.iter().enumerate() {
                means[cell] += p * found.estimate;
                squares[cell] += p * found.estimate.powi(2);
            }
            error += p * found[0].standard_error.powi(2);
        });
        let k = cells as f64;
        let variance = f64::from(draws) * rho / k * (1.0 - 1.0 / k);
        for cell in 0..cells {
            close(means[cell], own[cell] as f64);
            close(squares[cell] - means[cell].powi(2), variance);
        }
        close(error, variance);
    }
}

/// Flags have half the variance of a cell's noise.
#[test]
fn flags_are_unbiased() {
    let confidence = ConfidenceLevel::new(0.95, 2).unwrap();
    // Three people of whom two and none say yes.
    let own = [1_u64, 2, 3, 0];
    let (draws, rho) = (4, 0.75);
    let (mut means, mut squares) = ([0.0; 2], [0.0; 2]);
    for_each_noise(4, draws, rho, &mut |noise, p| {
        let count = |cell: usize| own[cell] + noise[cell];
        let pairs = [[count(0), count(1)], [count(2), count(3)]];
        for (flag, found) in estimate_flags(&pairs, 3, 0, &confidence)
            .unwrap()
            .iter()
            .enumerate()
        {
            means[flag] += p * found.estimate;
            squares[flag] += p * found.estimate.powi(2);
        }
    });
    for flag in 0..2 {
        close(means[flag], own[2 * flag + 1] as f64);
        let variance = f64::from(draws) * rho / 4.0 / 2.0;
        close(squares[flag] - means[flag].powi(2), variance);
    }
}

/// Shares below an edge and of a bin, from two levels.
#[test]
fn trees_are_unbiased() {
    let tree = tree(&[2, 4]);
    let (bins, draws, rho) = ([1_u64, 0, 2, 1], 5, 0.5);
    let own = [1, 3, 1, 0, 2, 1];
    let confidence = ConfidenceLevel::new(0.95, 1).unwrap();
    let (mut means, mut squares, mut errors) = ([0.0; 3], [0.0; 3], [0.0; 3]);
    for_each_noise(6, draws, rho, &mut |noise, p| {
        let counts: Vec<u64> = own
            .iter()
            .zip(noise)
            .map(|(own, noise)| own + noise)
            .collect();
        let (coarse, fine) = counts.split_at(2);
        let found = NumberCounts::new(&tree, &[coarse, fine], 4, 0).unwrap();
        for (edge, found) in found.below_edges(&confidence).iter().enumerate() {
            means[edge] += p * found.estimate;
            squares[edge] += p * found.estimate.powi(2);
            errors[edge] += p * found.standard_error.powi(2);
        }
    });
    let mut before = 0.0;
    for edge in 0..3 {
        before += bins[edge] as f64;
        close(means[edge], before);
        let unit = f64::from(draws) * rho / 6.0;
        let variance = unit * tree.variance_below(edge as u32 + 1);
        close(squares[edge] - means[edge].powi(2), variance);
        close(errors[edge], variance);
    }
}

#[test]
fn variances_of_trees_are_the_reference() {
    let all = include_str!("../../../../../../tests/reference/histograms-shuffled.json");
    let all: Value = serde_json::from_str(all).unwrap();
    let rows = all["tree"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for row in rows {
        let widths: Vec<u32> = serde_json::from_value(row["widths"].clone()).unwrap();
        let tree = tree(&widths);
        let below: Vec<f64> = (1..tree.bins() as u32)
            .map(|edge| tree.variance_below(edge))
            .collect();
        let mean = below.iter().sum::<f64>() / below.len() as f64;
        let largest = below.iter().copied().fold(0.0, f64::max);
        for (found, field) in [
            (mean, "mean"),
            (largest, "largest"),
            (tree.variance_of_bin(0), "share"),
        ] {
            let known = row[field].as_f64().unwrap();
            assert!((found / known - 1.0).abs() < 1e-9, "{row}: {found}");
        }
        assert_eq!(tree.variance_below(0), 0.0);
    }
}

/// Weights of cells are the linear function that least squares computes, and no change of the bins
/// that keeps their sum has smaller squares.
#[test]
fn least_squares_are_least() {
    for (bins, spans) in [
        (6, &[][..]),
        (6, &[3]),
        (24, &[8, 4]),
        (16, &[8, 4, 2]),
        // The last cells of upper levels cover fewer bins.
        (7, &[3]),
        (23, &[12, 4]),
        (33, &[16, 8, 2]),
    ] {
        let tree = BinTree::new(bins, spans).unwrap();
        let widths: Vec<u32> = tree.widths().map(|width| width as u32).collect();
        let mut number = 1_u64;
        let mut next = || {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (number >> 40) as f64 / 1e5
        };
        // All levels have the same sum, as when the known total of the noise is subtracted.
        let people = 100.0;
        let cells: Vec<Vec<f64>> = widths
            .iter()
            .map(|&width| {
                let mut level: Vec<f64> = (0..width).map(|_| next()).collect();
                let excess = (level.iter().sum::<f64>() - people) / f64::from(width);
                level.iter_mut().for_each(|cell| *cell -= excess);
                level
            })
            .collect();
        let found = tree.least_squares(&cells, people);
        close(found.iter().sum::<f64>() / people, 1.0);
        let bins = found.len();
        let residual = |bin: usize| -> f64 {
            let of = |(level, span): (&Vec<f64>, &u32)| {
                let cell = bin / *span as usize;
                let whole: f64 = found.chunks(*span as usize).nth(cell).unwrap().iter().sum();
                level[cell] - whole
            };
            cells.iter().zip(spans.iter().chain(&[1])).map(of).sum()
        };
        for bin in 1..bins {
            assert!(
                (residual(bin) - residual(0)).abs() < 1e-9,
                "{widths:?}, {bin}"
            );
        }
        for (sum, whole) in (0..bins as u32)
            .map(|bin| (BinSum::One(bin), found[bin as usize]))
            .chain(
                (0..bins as u32)
                    .map(|bin| (BinSum::Before(bin), found[..bin as usize].iter().sum())),
            )
        {
            let weights = tree.weights(sum);
            for (level, &width) in weights.iter().zip(&widths) {
                let counted: f64 = level.iter().map(|(count, _)| count).sum();
                close(counted, f64::from(width));
            }
            let own = dense_weights(&tree, sum);
            // The same number of people in every bin of the root's share is the remainder.
            let even = dense_constant(&tree, sum, people);
            let linear = |(cells, own): (&Vec<f64>, &Vec<f64>)| -> f64 {
                cells.iter().zip(own).map(|(cell, own)| cell * own).sum()
            };
            let from_cells: f64 = cells.iter().zip(&own).map(linear).sum();
            assert!(
                (from_cells + even - whole).abs() < 1e-9,
                "{widths:?}, {sum:?}"
            );
            for (level, dense) in weights.iter().zip(&own) {
                let each = level
                    .iter()
                    .flat_map(|(count, weight)| vec![*weight; *count as usize]);
                each.zip(dense)
                    .for_each(|(found, expected)| close(found, *expected));
                // Few runs, so that tails are fast.
                assert!(level.len() < 16, "{level:?}");
            }
        }
    }
}

fn sum_of(bins: &[f64], sum: BinSum) -> f64 {
    match sum {
        BinSum::One(bin) => bins[bin as usize],
        BinSum::Before(bin) => bins[..bin as usize].iter().sum(),
    }
}

/// Returns what a sum of bins has for empty cells and this number of people.
fn dense_constant(tree: &BinTree, sum: BinSum, people: f64) -> f64 {
    let zero: Vec<Vec<f64>> = tree.widths().map(|width| vec![0.0; width]).collect();
    sum_of(&tree.least_squares(&zero, people), sum)
}

/// Returns the weight of every cell in a sum of bins, by moving each cell by 1.
fn dense_weights(tree: &BinTree, sum: BinSum) -> Vec<Vec<f64>> {
    let zero: Vec<Vec<f64>> = tree.widths().map(|width| vec![0.0; width]).collect();
    let mut all = zero.clone();
    for level in 0..zero.len() {
        for cell in 0..zero[level].len() {
            let mut moved = zero.clone();
            moved[level][cell] = 1.0;
            all[level][cell] = sum_of(&tree.least_squares(&moved, 0.0), sum);
        }
    }
    all
}

/// The exact probability that an interval contains the truth is never below the stated one, and not
/// far above it if there is much noise.
#[test]
fn intervals_of_a_cell_are_exact() {
    for total in [0_u64, 1, 2, 5, 20, 43, 200, 2000] {
        for cells in [2.0, 3.0, 16.0, 1000.0] {
            let p = [1.0 / cells, 1.0 - 1.0 / cells];
            for failure in [0.025, 0.025 / 1000.0] {
                let side = TailThresholds::new(failure);
                let limit = |at| -binomial_limit(total, p, &side, at);
                let [most, least] = [LimitSide::Lower, LimitSide::Upper].map(limit);
                let missed: f64 = (0..=total)
                    .filter(|&noise| (noise as f64) < least || noise as f64 > most)
                    .map(|noise| binomial_probability(noise as f64, total as f64, p))
                    .sum();
                assert!(missed <= 2.0 * failure, "{total}, {cells}: {missed}");
                if total as f64 > 500.0 * cells {
                    assert!(missed > 1.2 * failure, "{total}, {cells}: {missed}");
                }
            }
        }
    }
}

/// Normal intervals for a thousand options fail half as often again as they state, with 43 noise
/// messages in each cell.
#[test]
fn normal_intervals_are_too_narrow() {
    let (cells, mean) = (1000.0, 42.65);
    let (total, p) = (cells * mean, [1.0 / cells, 1.0 - 1.0 / cells]);
    let z = TailThresholds::new(0.025 / cells).normal_quantile();
    let reach = z * (total * p[0] * p[1]).sqrt();
    let missed: f64 = (0..300)
        .map(f64::from)
        .filter(|noise| (noise - mean).abs() > reach)
        .map(|noise| binomial_probability(noise, total, p))
        .sum();
    // The mean number of wrong intervals among all of a batch, which should be 0.05.
    let wrong = cells * missed;
    assert!(wrong > 0.075, "{wrong}");
}

#[test]
fn counts_that_no_batch_has_are_refused() {
    let confidence = ConfidenceLevel::new(0.95, 1).unwrap();
    let error = estimate_cells(&[u64::MAX, u64::MAX], 10, 1, 0, &confidence).unwrap_err();
    assert!(matches!(
        error,
        HistogramCountsError::TooManyMessages { .. }
    ));
    let tree = tree(&[2, 4]);
    for levels in [
        &[&[5, 5][..]][..],
        &[&[5, 5], &[10, 0, 0]],
        &[&[5, 5], &[u64::MAX, 1, 0, 0]],
    ] {
        assert!(
            NumberCounts::new(&tree, levels, 10, 0).is_err(),
            "{levels:?}"
        );
    }
    for (bins, spans) in [
        (1, &[][..]),
        (4097, &[]),
        (8, &[8]),
        (8, &[3, 2]),
        (8, &[2, 4]),
        (8, &[1]),
    ] {
        assert!(BinTree::new(bins, spans).is_err(), "{bins}, {spans:?}");
    }
}

/// Own messages that are missing, and whose number is known, are those of people in any cell.
#[test]
fn limits_are_those_of_all_numbers_of_missing_messages() {
    let confidence = ConfidenceLevel::new(0.95, 3).unwrap();
    let (counts, people) = ([125, 45, 0], 100);
    for missing in [1, 10, 100] {
        let found = estimate_cells(&counts, people, 1, missing, &confidence).unwrap();
        let whole = estimate_cells(&counts, people, 1, 0, &confidence).unwrap();
        for (cell, found) in found.iter().enumerate() {
            let (mut low, mut high) = (f64::MAX, f64::MIN);
            for lost in 0..=missing {
                // Without the lost messages, there are fewer own messages and more noise.
                let left = estimate_cells(&counts, people - lost, 1, 0, &confidence).unwrap();
                let [lower, upper] = left[cell].simultaneous_interval;
                low = low.min(lower);
                high = high.max(upper + lost as f64);
            }
            assert_eq!(found.simultaneous_interval, [low, high]);
            assert_eq!(found.estimate, whole[cell].estimate);
        }
    }
    // No more can be missing than there are.
    let all = |missing| estimate_cells(&counts, people, 1, missing, &confidence).unwrap();
    assert_eq!(all(100), all(u64::MAX));
}

/// Counts that lack messages have estimates, inside of their intervals.
#[test]
fn too_few_messages_are_missing_ones() {
    let confidence = ConfidenceLevel::new(0.95, 2).unwrap();
    let found = estimate_cells(&[5, 4], 10, 1, 0, &confidence).unwrap();
    let of = |cell: usize| (found[cell].estimate, found[cell].interval);
    assert_eq!([of(0), of(1)], [(5.5, [5.0, 6.0]), (4.5, [4.0, 5.0])]);
    let flags = estimate_flags(&[[20, 0], [9, 0]], 10, 0, &confidence).unwrap();
    assert_eq!((flags[1].estimate, flags[1].interval), (0.5, [0.0, 1.0]));
    for widths in [&[2, 4][..], &[4]] {
        let tree = tree(widths);
        let levels = [&[3, 5][..], &[2, 0, 6, 1]];
        let levels = &levels[2 - widths.len()..];
        let found = NumberCounts::new(&tree, levels, 10, 0).unwrap();
        for own in found.in_bins(&confidence) {
            let [low, high] = own.interval;
            let inside = low <= own.estimate && own.estimate <= high;
            assert!(inside && high - low > 0.5, "{own:?}");
        }
        assert_eq!(found.quantiles(&[0.5], &confidence).len(), 1);
    }
}
