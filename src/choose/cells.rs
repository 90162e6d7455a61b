//! Numbers of cells to try in a search for the parameters of least variance.

use alloc::vec::Vec;

/// Which numbers of cells to try.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    pub(super) least: u32,
    pub(super) most: u32,
    /// Of a balanced hash: a number of cells that slots fit without waste is
    /// tried near every other.
    pub(super) elements: Option<u32>,
    /// Where a budget begins to allow more: the numbers of cells there are tried
    /// too, as variances jump.
    pub(super) steps: Vec<u32>,
}

/// Neighbours tried on either side of the best of them.
const NEIGHBOURS: u32 = 6;

impl Cells {
    /// Every small number, then steps of a few per cent.
    pub(super) fn tried(&self) -> Vec<u32> {
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

    /// The neighbourhood of one of them.
    pub(super) fn around(&self, centre: u32) -> impl Iterator<Item = u32> {
        let most = self
            .steps
            .iter()
            .fold(self.most, |most, step| most.max(*step));
        centre.saturating_sub(NEIGHBOURS).max(self.least)..=(centre + NEIGHBOURS).min(most)
    }
}
