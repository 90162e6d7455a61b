//! Searching for the parameters of least variance.

use alloc::vec::Vec;

/// Which numbers of cells to try.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    pub(super) least: u32,
    pub(super) most: u32,
    /// Of a balanced hash: a number of cells that slots fit without waste is
    /// tried near every other.
    pub(super) elements: Option<u32>,
    /// s.
    pub(super) sparsity: u32,
    /// Where a budget begins to allow more: the numbers of cells there are tried
    /// too, as variances jump.
    pub(super) steps: Vec<u32>,
}

/// How many of the ranked are compared exactly.
const FINALISTS: usize = 8;
/// Neighbours tried on either side of the best of them.
const NEIGHBOURS: u32 = 6;
/// Up to this s the grid is ranked with exact sums: approximate ones led to
/// 12 per cent more variance at s = 3 and 7 at s = 5, to nothing at s = 16.
const EXACT_SPARSITY: u32 = 12;

impl Grid {
    /// Every small number, then steps of a few per cent.
    fn cells(&self) -> Vec<u32> {
        let (least, most) = (self.least, self.most);
        let mut cells = self.steps.clone();
        if let Some(elements) = self.elements {
            // Fewer slots in each: beyond the step, but without waste.
            let fits = |step: &u32| {
                let per_cell = elements.div_ceil(*step);
                (per_cell > 1).then(|| elements.div_ceil(per_cell - 1))
            };
            cells.extend(self.steps.iter().filter_map(fits));
        }
        let mut next = least;
        while next <= most {
            cells.push(next);
            if let Some(elements) = self.elements {
                let per_cell = elements.div_ceil(next);
                cells.push(elements.div_ceil(per_cell).clamp(least, most));
            }
            next += 1 + next / 24;
        }
        cells.push(most);
        cells.sort_unstable();
        cells.dedup();
        cells
    }
}

/// The best parameters over a grid. `evaluate` gives, for a number of cells, the
/// best parameters and their variance, exactly or approximately; approximations
/// rank the grid where s is large and they are good, exact values decide.
pub(super) fn best<T>(grid: &Grid, evaluate: impl Fn(u32, bool) -> (T, f64)) -> T {
    let exact = grid.sparsity <= EXACT_SPARSITY;
    let cells = grid.cells();
    let most = cells.last().map_or(grid.most, |last| grid.most.max(*last));
    let mut ranked: Vec<(u32, f64)> = cells
        .into_iter()
        .map(|cells| (cells, evaluate(cells, exact).1))
        .collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let decide = |cells: &mut dyn Iterator<Item = u32>| {
        cells
            .map(|cells| (cells, evaluate(cells, true)))
            .min_by(|a, b| a.1.1.total_cmp(&b.1.1))
            .expect("both the grid and the neighbourhood hold a number")
    };
    let mut finalists = ranked.iter().take(FINALISTS).map(|(cells, _)| *cells);
    let (centre, _) = decide(&mut finalists);
    let mut around =
        centre.saturating_sub(NEIGHBOURS).max(grid.least)..=(centre + NEIGHBOURS).min(most);
    decide(&mut around).1.0
}

/// The candidate of least variance; the first of equals.
///
/// # Panics
/// If there is no candidate.
pub(super) fn minimum<T>(candidates: impl Iterator<Item = T>, variance: impl Fn(&T) -> f64) -> T {
    candidates
        .map(|candidate| (variance(&candidate), candidate))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("there is a candidate")
        .1
}
