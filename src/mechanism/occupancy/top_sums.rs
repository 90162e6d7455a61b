//! Exact expected sums over the strongest cells.

use alloc::vec;
use alloc::vec::Vec;

/// Expected sums over the c strongest cells.
///
/// ```
/// use hushbin::mechanism::occupancy::{CellOccupancyModel, StrengthMeasure};
///
/// let occupancy = CellOccupancyModel { element_count: 3, cell_count: 12, slots_per_cell: Some(7) };
/// let top = occupancy.strongest_cell_sums(StrengthMeasure::Count, 1, 3).sums_over_strongest_cells(2);
/// assert!(top.squared_strength_sum >= top.strength_sum && top.element_load == top.strength_sum);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrongestCellSums {
    /// Sum G(c) of the strengths of these cells.
    pub strength_sum: f64,
    /// Sum of the squared strengths of these cells.
    pub squared_strength_sum: f64,
    /// Approximate number of elements in these cells. Each cell contributes the mean number of
    /// elements of all cells with the same strength. Under CoCo, c may exceed the number of cells
    /// that have a strength. The c strongest sides then include sides of cells without strength.
    pub element_load: f64,
}

/// Expected sums over the c strongest cells, for each c up to a maximum.
///
/// ```
/// use hushbin::mechanism::occupancy::{CellOccupancyModel, StrengthMeasure};
///
/// let occupancy = CellOccupancyModel { element_count: 3, cell_count: 12, slots_per_cell: Some(7) };
/// let top = occupancy.strongest_cell_sums(StrengthMeasure::Count, 1, 3);
/// assert!(top.sums_over_strongest_cells(1).strength_sum < top.sums_over_strongest_cells(2).strength_sum);
/// // The best of the cells of four functions is better than that of one.
/// let of_four = occupancy.strongest_cell_sums(StrengthMeasure::Count, 4, 1);
/// let [of_one, of_four] = [top, of_four].map(|sums| sums.sums_over_strongest_cells(1).strength_sum);
/// assert!(of_four > of_one);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StrongestCellSumsTable {
    sums_by_cell_count: Vec<StrongestCellSums>,
    /// Expected number of cells with any strength among the c strongest, for each c.
    nonzero_cells_among_top: Vec<f64>,
    /// Expected number of elements in a cell of strength 0.
    zero_strength_mean_elements: f64,
}

impl StrongestCellSumsTable {
    /// Returns the sums over the c strongest cells. If `c` exceeds the maximum that the sums were
    /// computed for, that maximum is used instead. Only the load is computed with `c` itself.
    #[must_use]
    pub fn sums_over_strongest_cells(&self, c: u32) -> StrongestCellSums {
        let last = (c as usize).min(self.sums_by_cell_count.len() - 1);
        let top = self.sums_by_cell_count[last];
        StrongestCellSums {
            element_load: top.element_load
                + (f64::from(c) - self.nonzero_cells_among_top[last])
                    * self.zero_strength_mean_elements,
            ..top
        }
    }

    /// Computes the sums for c up to `most`. K_v is the number of cells of strength v or more. For
    /// v = 1, 2, …, `tails` yields the list of P(K_v ≥ j) over j. `loads` are the expected numbers
    /// of elements in a cell of strength 0, 1, ….
    pub(super) fn new(tails: impl Iterator<Item = Vec<f64>>, loads: &[f64], most: usize) -> Self {
        let none = StrongestCellSums {
            strength_sum: 0.0,
            squared_strength_sum: 0.0,
            element_load: 0.0,
        };
        let mut top = Self {
            sums_by_cell_count: vec![none; most + 1],
            nonzero_cells_among_top: vec![0.0; most + 1],
            zero_strength_mean_elements: loads[0],
        };
        for (v, at_least) in (1..).zip(tails) {
            let step = mean_element_increase(v, loads);
            // E[min(c, K)] = Σ_{j=1..c} P(K ≥ j).
            let mut mean = 0.0;
            for c in 1..=most {
                mean += at_least.get(c).copied().unwrap_or(0.0);
                top.sums_by_cell_count[c].add_strength_contribution(v, step, mean);
                if v == 1 {
                    top.nonzero_cells_among_top[c] = mean;
                }
            }
        }
        top
    }
}

/// Returns the increase of a cell's expected number of elements from strength v − 1 to v. For v =
/// 1, returns the expected number at strength 1. So the increases up to any strength sum to the
/// expected number at that strength.
pub(super) fn mean_element_increase(v: usize, loads: &[f64]) -> f64 {
    if v == 1 {
        loads[1]
    } else {
        loads[v] - loads[v - 1]
    }
}

impl StrongestCellSums {
    /// Adds the contribution of strength v to each sum, if `cells` cells reach v. `step` is the
    /// result of [`mean_element_increase`].
    pub(super) fn add_strength_contribution(&mut self, v: usize, step: f64, cells: f64) {
        // A strength X is Σ_{v ≤ X} 1, and X² is Σ_{v ≤ X} (2v − 1).
        self.strength_sum += cells;
        self.squared_strength_sum += (2 * v - 1) as f64 * cells;
        self.element_load += step * cells;
    }
}
