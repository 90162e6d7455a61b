//! Numbers of cells to try in the search for minimum variance.

use alloc::vec::Vec;

/// Numbers of cells that a search for parameters tries.
#[derive(Debug, Clone)]
pub(super) struct CandidateCellCounts {
    pub(super) min_cell_count: u32,
    pub(super) max_cell_count: u32,
    /// Number of elements if the hash is balanced, else `None`. Under a balanced hash, the search
    /// also tries the minimum number of cells with equally many slots per cell. That number leaves
    /// the fewest slots empty.
    pub(super) balanced_element_count: Option<u32>,
    /// Numbers of cells at which the budget begins to allow more favoured buckets. The search also
    /// tries these numbers, because the variance jumps there.
    pub(super) min_cells_by_favoured_count: Vec<u32>,
}

/// Number of neighbours to try on each side of the best number of cells.
const NEARBY_CELL_COUNTS_PER_SIDE: u32 = 6;

impl CandidateCellCounts {
    /// Returns the numbers of cells to try: every number below 24, then steps of about 4 per cent.
    pub(super) fn cell_counts_to_try(&self) -> Vec<u32> {
        let (least, most) = (self.min_cell_count, self.max_cell_count);
        let mut cells = self.min_cells_by_favoured_count.clone();
        if let Some(elements) = self.balanced_element_count {
            // One slot fewer in each cell: more cells than the step, but few empty slots.
            let fits = |step: &u32| {
                let per_cell = elements.div_ceil(*step);
                (per_cell > 1).then(|| elements.div_ceil(per_cell - 1))
            };
            cells.extend(self.min_cells_by_favoured_count.iter().filter_map(fits));
        }
        let mut next = least;
        while next <= most {
            cells.push(next);
            if let Some(elements) = self.balanced_element_count {
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

    /// Returns the numbers of cells near `centre`.
    pub(super) fn cell_counts_near(&self, centre: u32) -> impl Iterator<Item = u32> {
        let most = self
            .min_cells_by_favoured_count
            .iter()
            .fold(self.max_cell_count, |most, step| most.max(*step));
        centre
            .saturating_sub(NEARBY_CELL_COUNTS_PER_SIDE)
            .max(self.min_cell_count)..=(centre + NEARBY_CELL_COUNTS_PER_SIDE).min(most)
    }
}
