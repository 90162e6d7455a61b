//! The single message on a grid: its numbers against the reference, its privacy, its
//! sampler, and its questions.

mod privacy;
mod question;
mod sampler;

use hushbin::choose::cube;
use hushbin::choose::grid::Draft;
use hushbin::domain::Domain;
use hushbin::mechanism::cube::Cube;
use hushbin::mechanism::grid::{Grid, Randomizer};
use hushbin::{Entry, ErrorCode};
use serde_json::Value;

const REFERENCE: &str = include_str!("../../reference/shuffle-sums.json");

fn rows(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(REFERENCE).unwrap();
    all[key].as_array().unwrap().clone()
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap()
}

fn near(ours: f64, theirs: f64) -> bool {
    (ours / theirs - 1.0).abs() < 1e-9
}

/// All parameters with at most so many cells.
fn grids(most: u32) -> impl Iterator<Item = Grid> {
    let all = Draft::default().candidates(64);
    all.filter(move |grid| grid.cells() <= most)
}

fn entries(values: &[f64]) -> Vec<Entry> {
    let entry = |(item, &value)| Entry { item, value };
    (0..).zip(values).map(entry).collect()
}

/// The cell of these levels, the first lowest.
fn cell(grid: &Grid, levels: &[u32]) -> u32 {
    let levels = levels.iter().rev();
    levels.fold(0, |cell, level| cell * grid.levels() + level)
}

fn levels(grid: &Grid, mut cell: u32) -> Vec<u32> {
    let mut levels = Vec::new();
    for _ in 0..grid.drawn() {
        levels.push(cell % grid.levels());
        cell /= grid.levels();
    }
    levels
}

#[test]
fn rates_are_those_of_the_reference() {
    for row in rows("grid") {
        let (d, k) = (number(&row, "d") as u32, number(&row, "k") as u32);
        let grid = Grid::new(k, number(&row, "r") as u32).unwrap();
        assert_eq!(f64::from(grid.cells()), number(&row, "cells"), "{row}");
        let epsilon = number(&row, "exp_epsilon").ln();
        let rates = grid.rates(&Domain::dense(d), epsilon);
        assert!(near(1.0 - rates.kept, number(&row, "gamma")), "{row}");
        for (value, field) in [(0.0, "variance_at_0"), (0.3, "variance_at_0.3")] {
            assert!(near(rates.variance(value), number(&row, field)), "{row}");
            assert!(near(rates.variance(-value), number(&row, field)), "{row}");
        }
        // The reference tries thousandths.
        let tried = (0..=1000).map(|step| rates.variance(f64::from(step) / 1000.0));
        let worst = tried.fold(0.0, f64::max);
        assert!(near(worst, number(&row, "worst")), "{row}");
        let stated = rates.worst_variance();
        assert!(worst <= stated * (1.0 + 1e-12) && worst > stated * (1.0 - 1e-5));
    }
}

/// The variance of one report's estimate by all roundings and cells that there are, and its
/// greatest over many values.
#[test]
fn variances_are_those_of_all_cells() {
    for (d, k, r, epsilon) in [
        (1, 1, 1, 1.0),
        (1, 1, 7, 4.0),
        (2, 2, 2, 3.0),
        (3, 1, 4, 2.0),
        (5, 2, 3, 5.5),
        (3, 3, 5, 8.0),
    ] {
        let grid = Grid::new(k, r).unwrap();
        let domain = Domain::dense(d);
        let rates = grid.rates(&domain, epsilon);
        let randomizer = Randomizer::new(&grid, &domain, epsilon);
        let mut worst = 0.0_f64;
        for step in -420..=420 {
            let value = f64::from(step) / 420.0;
            worst = worst.max(rates.variance(value));
            if step % 60 != 0 && step != 77 {
                continue;
            }
            // Others do not count.
            let mut values = vec![0.5; d as usize];
            values[0] = value;
            let (mut mean, mut square, mut seeds) = (0.0, 0.0, 0);
            // Seeds until the first of d is drawn k of d times as often.
            let support = grid.support(&domain);
            while seeds < 20 {
                let seed = seeds + 1000 * u64::from(d);
                seeds += 1;
                let mut place = None;
                let mut index = 0;
                support.for_each_attribute(seed, |attribute| {
                    if attribute == 0 {
                        place = Some(index);
                    }
                    index += 1;
                });
                let Some(place) = place else { continue };
                (mean, square) = (0.0, 0.0);
                let row = randomizer.probabilities(seed, &entries(&values));
                for (cell, p) in (0..).zip(row) {
                    let level = levels(&grid, cell)[place];
                    let estimate = grid.value(level) * rates.scale();
                    mean += rates.share * p * estimate;
                    square += rates.share * p * estimate * estimate;
                }
                break;
            }
            let what = format!("{grid:?} of {d} at {value}");
            assert!((mean - value).abs() < 1e-12, "{what}: {mean}");
            let variance = square - mean * mean;
            assert!(near(variance, rates.variance(value)), "{what}: {variance}");
        }
        let stated = rates.worst_variance();
        assert!(
            worst <= stated * (1.0 + 1e-12) && worst > 0.9999 * stated,
            "{grid:?}: {worst}, {stated}"
        );
    }
}

/// With one step it is the cube of which corners favour themselves alone.
#[test]
fn a_step_makes_a_cube() {
    for k in 1..=12 {
        let (grid, cube) = (Grid::new(k, 1).unwrap(), Cube::new(k, k).unwrap());
        for (attributes, epsilon) in [(k, 0.3), (20, 2.0), (64, 7.0)] {
            let domain = Domain::dense(attributes);
            assert_eq!(grid.thresholds(epsilon), cube.thresholds(epsilon));
            let (ours, theirs) = (grid.rates(&domain, epsilon), cube.rates(&domain, epsilon));
            assert!(near(ours.scale(), theirs.scale()));
            for value in [-1.0, 0.0, 0.7] {
                let square = ours.mean_square(ours.rounded_square(value));
                assert!(near(square, theirs.mean_square()));
            }
        }
    }
}

/// Among all k and r none has less variance at the worst; the cube has at the ends, where
/// choosing compares both.
#[test]
fn no_other_grid_is_better() {
    for attributes in [1, 2, 3, 5, 16, 64] {
        let domain = Domain::dense(attributes);
        for epsilon in [0.001, 0.5, 1.0, 1.35, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0] {
            let chosen = Grid::choose(&domain, epsilon, &Draft::default()).unwrap();
            let least = chosen.rates(&domain, epsilon).worst_variance();
            let cube = Cube::choose(&domain, epsilon, &cube::Draft::default()).unwrap();
            let at_ends = cube.rates(&domain, epsilon).mean_square() - 1.0;
            for k in 1..=attributes.min(12) {
                for r in 1..1024 {
                    let Ok(grid) = Grid::new(k, r) else { break };
                    let rates = grid.rates(&domain, epsilon);
                    assert!(
                        least <= rates.worst_variance(),
                        "{attributes}, {epsilon}: {chosen:?} and {grid:?}"
                    );
                    assert!(at_ends <= rates.variance(1.0) * (1.0 + 1e-9), "{grid:?}");
                }
            }
        }
    }
}

/// What levels between the ends are worth, at the worst: in parts of the cube's variance.
#[test]
fn levels_need_fewer_people_at_a_large_epsilon() {
    for (attributes, epsilon, drawn, steps, ratio) in [
        (1, 1.0, 1, 1, 1.0),
        (1, 2.0, 1, 2, 0.5800),
        (1, 4.0, 1, 4, 0.1642),
        (2, 4.0, 2, 2, 0.4085),
        (4, 4.0, 2, 2, 0.9473),
        (4, 8.0, 4, 3, 0.2117),
        (16, 4.0, 4, 1, 1.0),
    ] {
        let domain = Domain::dense(attributes);
        let grid = Grid::choose(&domain, epsilon, &Draft::default()).unwrap();
        let cube = Cube::choose(&domain, epsilon, &cube::Draft::default()).unwrap();
        let ours = grid.rates(&domain, epsilon).worst_variance();
        let found = ours / cube.rates(&domain, epsilon).mean_square();
        assert!(
            (grid.drawn(), grid.steps()) == (drawn, steps) && (found - ratio).abs() < 5e-5,
            "{attributes}, {epsilon}: {grid:?}, {found}"
        );
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    for (drawn, steps, code) in [
        (0, 1, ErrorCode::OutOfRange),
        (65, 1, ErrorCode::OutOfRange),
        (1, 0, ErrorCode::OutOfRange),
        (1, 1024, ErrorCode::OutOfRange),
        (u32::MAX, u32::MAX, ErrorCode::OutOfRange),
        // More than 4096 cells.
        (13, 1, ErrorCode::Combination),
        (2, 64, ErrorCode::Combination),
        (64, 1023, ErrorCode::Combination),
    ] {
        let error = Grid::new(drawn, steps).unwrap_err();
        assert_eq!(error.code(), code, "{drawn}, {steps}: {error}");
    }
    for (drawn, steps) in [(12, 1), (2, 63), (3, 15), (4, 7), (6, 3), (1, 1023)] {
        assert!(Grid::new(drawn, steps).is_ok());
    }
    assert_eq!(grids(4096).count(), 1023 + 63 + 15 + 7 + 4 + 3 + 2 + 6 - 1);
}

#[test]
fn drafts_of_grids_are_kept_to() {
    let domain = Domain::dense(20);
    let choose =
        |drawn, steps, epsilon: f64| Grid::choose(&domain, epsilon, &Draft { drawn, steps });
    assert_eq!(choose(Some(2), None, 6.0).unwrap().drawn(), 2);
    assert_eq!(choose(None, Some(3), 4.0).unwrap().steps(), 3);
    assert_eq!(choose(Some(2), Some(9), 1.0), Ok(Grid::new(2, 9).unwrap()));
    for (drawn, steps, code) in [
        (Some(21), None, ErrorCode::Combination),
        (Some(13), None, ErrorCode::Combination),
        (Some(4), Some(8), ErrorCode::Combination),
        (None, Some(1024), ErrorCode::OutOfRange),
        (Some(0), None, ErrorCode::OutOfRange),
    ] {
        assert_eq!(choose(drawn, steps, 1.0).unwrap_err().code(), code);
    }
    // Few attributes.
    let few = Grid::choose(
        &Domain::dense(1),
        4.0,
        &Draft {
            drawn: Some(2),
            steps: None,
        },
    );
    assert_eq!(few.unwrap_err().code(), ErrorCode::OutOfRange);
}
