//! The loss between all cells, exact, from the threshold that is sampled.

use hushbin::domain::Domain;
use hushbin::mechanism::grid::{Grid, Randomizer};
use num_bigint::BigUint;

use super::{entries, grids, levels};
use crate::support::exact::{Exact, Exp};
use crate::support::{extremes, loss};

/// The probability of the input's cell over that of another.
fn ratio(grid: &Grid, epsilon: f64) -> Exact {
    let inside = BigUint::from(grid.thresholds(epsilon).inside().0);
    let outside = (BigUint::from(1_u8) << 64) - &inside;
    Exact::from_integer(inside) / Exact::new(outside, (grid.cells() - 1).into())
}

/// Between any two cells no report is likelier by more than the effective ε, which is no
/// more than was asked for: all inputs at levels, under one seed, which permutes them.
#[test]
fn cells_hide_in_each_other() {
    let mut sets = 0;
    for grid in grids(128) {
        let domain = Domain::dense(grid.drawn());
        for step in 0..8 {
            let epsilon = 0.011 + 1.637 * f64::from(step);
            sets += 1;
            let effective = grid.thresholds(epsilon).effective_epsilon();
            let [own, other] = grid.thresholds(epsilon).levels();
            let randomizer = Randomizer::new(&grid, &domain, epsilon);
            let rows = (0..grid.cells()).map(|cell| {
                let values = levels(&grid, cell).into_iter();
                let values: Vec<f64> = values.map(|level| grid.value(level)).collect();
                randomizer.probabilities(5, &entries(&values))
            });
            let rows: Vec<Vec<f64>> = rows.collect();
            // Levels that no double is are rounded to by all but 2⁻⁵² or so.
            for [least, most] in extremes(rows.clone()) {
                assert!(least >= other && (least / other - 1.0).abs() < 1e-9);
                assert!(most <= own * (1.0 + 1e-15) && (most / own - 1.0).abs() < 1e-9);
            }
            assert!(loss(rows) <= effective * (1.0 + 1e-12));
            assert!(effective <= epsilon && effective > epsilon - 1e-9);
        }
    }
    assert!(sets > 1000, "{sets}");
}

/// Inputs between levels are mixtures of cells: they lose less.
#[test]
fn values_between_levels_lose_less() {
    for grid in grids(30) {
        let domain = Domain::dense(grid.drawn());
        let epsilon = 2.0;
        let randomizer = Randomizer::new(&grid, &domain, epsilon);
        let inputs = [-1.0, -0.61, -0.2, 0.0, 0.37, 1.0];
        let all = inputs.iter().map(|value| {
            let values = vec![*value; grid.drawn() as usize];
            randomizer.probabilities(9, &entries(&values))
        });
        let effective = grid.thresholds(epsilon).effective_epsilon();
        assert!(loss(all) <= effective * (1.0 + 1e-12), "{grid:?}");
    }
}

/// Of all parameters there are.
#[test]
fn no_grid_spends_more_than_is_asked() {
    let mut sets = 0;
    for grid in grids(Grid::MOST_CELLS) {
        for epsilon in [0.001, 0.1, 1.0, 2.5, 6.0, 12.0] {
            sets += 1;
            let effective = grid.thresholds(epsilon).effective_epsilon();
            let ratio = ratio(&grid, epsilon);
            assert!(effective <= epsilon, "{grid:?}, {epsilon}");
            assert!(
                ratio <= Exp::of(effective).low_ratio(),
                "{grid:?}, {epsilon}"
            );
            assert!(ratio >= Exact::from_integer(1_u8.into()));
            assert!(effective > epsilon - 1e-9, "{grid:?}, {epsilon}");
        }
    }
    assert!(sets > 6000, "{sets}");
}
