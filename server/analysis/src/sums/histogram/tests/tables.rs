//! Tests of predictions against the reference, and against tables of errors.

use serde_json::Value;

use super::super::{
    LotteryErrors, central_gaussian_error, central_geometric_error, local_share_error,
    most_moved_by_one_person,
};
use super::tree;
use crate::accounting::{LotteryBatch, LotteryNoise, calibrate_lottery};

const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-6;

/// Calibrates the noise for nine tenths of `people` honest people.
fn noise(cells: u32, own_messages: u32, people: u64) -> LotteryNoise {
    let batch = LotteryBatch {
        cells,
        own_messages,
        honest_people: people / 10 * 9,
        batches: 1,
    };
    calibrate_lottery(&batch, EPSILON, DELTA).unwrap().noise
}

/// Checks a number of two digits, as printed.
#[track_caller]
fn printed(found: f64, known: f64) {
    let unit = 10_f64.powf(known.log10().floor() - 1.0);
    assert!((found - known).abs() <= 0.51 * unit, "{found}, {known}");
}

#[test]
fn errors_are_the_reference() {
    let all = include_str!("../../../../../../tests/reference/histograms-shuffled.json");
    let all: Value = serde_json::from_str(all).unwrap();
    let rows = all["lottery_task"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    for row in rows {
        let count = |field: &str| row[field].as_u64().unwrap() as u32;
        let noise = LotteryNoise {
            draws: count("draws_a_person"),
            threshold: (row["probability"].as_f64().unwrap() * 2_f64.powi(64)) as u128,
        };
        let cells = count("cells");
        let errors = LotteryErrors::new(row["people"].as_f64().unwrap(), noise, cells);
        let share = errors.share_error(1.0 - 1.0 / f64::from(cells));
        let known = row["standard_error_of_a_share"].as_f64().unwrap();
        assert!((share / known - 1.0).abs() < 1e-9, "{row}: {share}");
        assert_eq!(
            most_moved_by_one_person(count("most_chosen"), noise.draws),
            count("most_one_dishonest_moves")
        );
    }
}

/// Standard errors of a share: options, most chosen options, people; through a shuffler, local, and
/// with a trusted server that adds geometric or Gaussian noise.
const ERRORS: [(u32, u32, u64, [f64; 4]); 6] = [
    (1, 1, 100_000, [4.9e-5, 3.0e-3, 1.4e-5, 4.2e-5]),
    (16, 1, 100_000, [6.7e-5, 5.6e-3, 2.8e-5, 6.0e-5]),
    (1000, 1, 100_000, [6.9e-5, 6.1e-3, 2.8e-5, 6.0e-5]),
    (1000, 1, 10_000, [6.9e-4, 1.9e-2, 2.8e-4, 6.0e-4]),
    (16, 1, 1000, [6.6e-3, 5.6e-2, 2.8e-3, 6.0e-3]),
    (40, 3, 100_000, [1.1e-4, 0.0, 8.5e-5, 1.0e-4]),
];

#[test]
fn the_table_of_errors_is_right() {
    for (options, most, people, [ours, local, geometric, gaussian]) in ERRORS {
        let flag = options == 1;
        let cells = if flag {
            2
        } else if most == 1 {
            options
        } else {
            options + most
        };
        let errors = LotteryErrors::new(people as f64, noise(cells, most, people), cells);
        printed(errors.share_error(1.0 - 1.0 / f64::from(cells)), ours);
        // A flag changes one count, and an option that is replaced two.
        let (changes, people) = (if flag { 1 } else { 2 * most }, people as f64);
        printed(central_geometric_error(changes, EPSILON, people), geometric);
        printed(
            central_gaussian_error(changes, EPSILON, DELTA, people),
            gaussian,
        );
        if local > 0.0 {
            // The table is for rare options. The worst case over answers is up to a fifth more.
            let found = local_share_error(options, most, 1, EPSILON, people).unwrap();
            assert!((0.99..1.25).contains(&(found / local)), "{found}, {local}");
        }
    }
}

/// Root mean squared error of the share below an edge, the error of a bin's share, and the most
/// messages of one person, for 100,000 people.
#[test]
fn the_table_of_numbers_is_right() {
    for (widths, below, bin, messages) in [
        (&[32][..], 1.6e-4, 6.8e-5, 2),
        (&[8, 64], 1.4e-4, 8.6e-5, 3),
        (&[16, 256], 2.1e-4, 8.9e-5, 3),
        (&[32, 1024], 2.9e-4, 9.0e-5, 3),
    ] {
        let tree = tree(widths);
        let (cells, levels) = (widths.iter().sum(), widths.len() as u32);
        let noise = noise(cells, levels, 100_000);
        assert_eq!(levels + noise.draws, messages, "{widths:?}");
        let errors = LotteryErrors::new(1e5, noise, cells);
        let inner = f64::from(tree.bins() as u32 - 1);
        let mean = (1..tree.bins() as u32)
            .map(|edge| tree.variance_below(edge))
            .sum::<f64>()
            / inner;
        printed(errors.share_error(mean), below);
        printed(errors.share_error(tree.variance_of_bin(0)), bin);
    }
}

/// Two levels win from 8 bins on for the distribution function, and from 32 on by much.
#[test]
fn two_levels_are_better_from_eight_bins_on() {
    let mean = |widths: &[u32]| {
        let tree = tree(widths);
        let (cells, levels) = (widths.iter().sum(), widths.len() as u32);
        let errors = LotteryErrors::new(1e5, noise(cells, levels, 100_000), cells);
        let inner = f64::from(tree.bins() as u32 - 1);
        let mean = (1..tree.bins() as u32)
            .map(|edge| tree.variance_below(edge))
            .sum::<f64>()
            / inner;
        errors.share_error(mean)
    };
    assert!(mean(&[4]) < mean(&[2, 4]));
    assert!(mean(&[8]) > mean(&[2, 8]).min(mean(&[4, 8])));
    assert!(mean(&[32]) > 1.25 * mean(&[4, 32]).min(mean(&[8, 32])));
    printed(mean(&[8, 64, 1024]).min(mean(&[16, 128, 1024])), 2.4e-4);
}
