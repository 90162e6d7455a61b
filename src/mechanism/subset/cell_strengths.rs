//! Strengths of the cells of all hash functions, from the pushes of an input's elements.
//!
//! A hash function has T cells of two sides each. An element pushes to one side of its cell: it
//! adds 1 to the cell's count for the plus side, and subtracts 1 for the minus side. A positive
//! count is the strength of the plus side. The absolute value of a negative count is the strength
//! of the minus side. Sides are ranked by falling strength, then by number. The sides of cell k are
//! 2k (plus) and 2k + 1 (minus).
//!
//! Few cells have any strength, so only these cells are listed. The side of a given rank is found
//! by counting, so that only the sides of one block need to be sorted.

use alloc::vec::Vec;

use crate::sort::sort_keys;

/// Sides that have a strength, for one seed and input.
#[derive(Debug, Clone)]
pub(in crate::mechanism) struct CellStrengths {
    /// Number of cells T of each hash function.
    cells_per_function: u32,
    /// Number of hash functions R.
    function_count: usize,
    /// Counts of the cells of the current hash function. If each function has one cell, `counts`
    /// has the counts of all functions instead. All counts are 0 between calls.
    net_push_by_cell: Vec<i32>,
    /// Cells that have a strength, block by block. Each entry is one number that holds a cell and
    /// its count. Entries at or after the end of the last block are stale.
    pub(super) packed_cells: Vec<u64>,
    /// End of each block in `packed_cells`.
    block_ends: Vec<u32>,
    /// Number of cells for each count from −s to s, where s is the number of elements.
    cell_tally_by_count: Vec<u32>,
    /// Reused memory for sorting the cells of one block.
    sort_buffer: Vec<u64>,
}

/// Number of hash functions that form one block, if each function has one cell.
const SINGLE_CELL_FUNCTIONS_PER_BLOCK: u32 = 16;

const fn pack_cell_and_count(cell: u32, count: i32) -> u64 {
    (cell as u64) << 32 | count.cast_unsigned() as u64
}

const fn unpack_cell(held: u64) -> u32 {
    (held >> 32) as u32
}

const fn unpack_count(held: u64) -> i32 {
    (held as u32).cast_signed()
}

pub(super) const fn unpack_strength(held: u64) -> u32 {
    unpack_count(held).unsigned_abs()
}

/// Returns the side that has a strength, for a cell that is packed with its count.
pub(super) const fn unpack_side(held: u64) -> u32 {
    2 * unpack_cell(held) + (unpack_count(held) < 0) as u32
}

impl CellStrengths {
    /// Creates counts of 0 for `functions` hash functions with `cells` cells each. Inputs have
    /// `elements` elements, at most 1024.
    pub(in crate::mechanism) fn new(cells: u32, functions: u32, elements: u32) -> Self {
        Self {
            cells_per_function: cells,
            function_count: functions as usize,
            net_push_by_cell: alloc::vec![0; if cells == 1 { functions } else { cells } as usize],
            packed_cells: alloc::vec![0; (functions * elements) as usize],
            block_ends: Vec::new(),
            cell_tally_by_count: alloc::vec![0; 2 * elements as usize + 1],
            sort_buffer: Vec::with_capacity(elements.max(SINGLE_CELL_FUNCTIONS_PER_BLOCK) as usize),
        }
    }

    /// Number of cells in a block. A block is one function, or several functions of one cell each.
    /// The last block may have fewer cells.
    const fn cells_per_block(&self) -> u32 {
        if self.has_several_cells() {
            self.cells_per_function
        } else {
            SINGLE_CELL_FUNCTIONS_PER_BLOCK
        }
    }

    /// Returns true if each hash function has more than one cell. A single cell is possible only in
    /// CoCo.
    const fn has_several_cells(&self) -> bool {
        !cfg!(feature = "complete") || self.cells_per_function > 1
    }

    /// Counts the pushes. `sides` is ordered by element. For each element, it lists the sides that
    /// the element pushes to, one under each function.
    pub(in crate::mechanism) fn count_pushes(&mut self, sides: &[u32]) {
        self.block_ends.clear();
        self.cell_tally_by_count.fill(0);
        let cell = |side: u32| (side / 2) as usize;
        let added = |side: u32| 1 - 2 * (side % 2) as i32;
        let elements = sides.chunks_exact(self.function_count);
        if self.has_several_cells() {
            for function in 0..self.function_count {
                let sides = elements.clone().map(|sides| sides[function]);
                for side in sides.clone() {
                    self.net_push_by_cell[cell(side)] += added(side);
                }
                self.collect_nonzero_counts(
                    function as u32 * self.cells_per_function,
                    sides.map(cell),
                );
            }
            return;
        }
        // Counting all functions at once takes a third of the time of counting one after the other.
        for sides in elements {
            for (count, &side) in self.net_push_by_cell.iter_mut().zip(sides) {
                *count += added(side);
            }
        }
        let functions = 0..self.function_count;
        for first in functions
            .clone()
            .step_by(SINGLE_CELL_FUNCTIONS_PER_BLOCK as usize)
        {
            let block = first
                ..functions
                    .end
                    .min(first + SINGLE_CELL_FUNCTIONS_PER_BLOCK as usize);
            self.collect_nonzero_counts(0, block);
        }
    }

    /// Moves the nonzero counts of a block's cells to `packed_cells`, and sets these counts to 0. `cells`
    /// are indices in `counts`. The cell at index i gets the number `first` + i.
    #[inline(always)]
    fn collect_nonzero_counts(&mut self, first: u32, cells: impl Iterator<Item = usize>) {
        let mut len = self.strong_side_count() as usize;
        let zero = self.cell_tally_by_count.len() / 2;
        for cell in cells {
            // A cell may come several times; the first visit takes the count and leaves 0.
            let count = core::mem::take(&mut self.net_push_by_cell[cell]);
            self.packed_cells[len] = pack_cell_and_count(first + cell as u32, count);
            // No branch: an entry without strength is overwritten by the next.
            len += usize::from(count != 0);
            // The tally of 0 also counts repeated visits. It is never read.
            self.cell_tally_by_count[zero.wrapping_add_signed(count as isize)] += 1;
        }
        self.block_ends.push(len as u32);
    }

    /// Number of sides that have a strength.
    pub(in crate::mechanism) fn strong_side_count(&self) -> u32 {
        self.block_ends.last().copied().unwrap_or(0)
    }

    /// Maximum possible strength: the number of elements.
    pub(super) fn max_possible_strength(&self) -> usize {
        self.cell_tally_by_count.len() / 2
    }

    /// Number of sides of this strength. `strength` is at least 1.
    pub(super) fn side_count_of_strength(&self, strength: usize) -> u32 {
        let zero = self.max_possible_strength();
        self.cell_tally_by_count[zero + strength] + self.cell_tally_by_count[zero - strength]
    }

    /// Returns the side with the given rank, which is below [`CellStrengths::strong_side_count`].
    /// Rank 0 is the strongest side.
    pub(in crate::mechanism) fn side_of_rank(&mut self, rank: u32) -> u32 {
        // Find the strength of this rank by counting down from the greatest.
        let mut index = rank;
        let mut strength = self.max_possible_strength();
        while index >= self.side_count_of_strength(strength) {
            index -= self.side_count_of_strength(strength);
            strength -= 1;
        }
        let alike = |held: &u64| unpack_strength(*held) as usize == strength;
        let mut begin = 0;
        for &end in &self.block_ends {
            let held = &self.packed_cells[begin..end as usize];
            let count = held.iter().filter(|held| alike(held)).count() as u32;
            if index < count {
                self.sort_buffer.clear();
                self.sort_buffer
                    .extend(held.iter().filter(|held| alike(held)));
                break;
            }
            index -= count;
            begin = end as usize;
        }
        sort_keys(&mut self.sort_buffer);
        unpack_side(self.sort_buffer[index as usize])
    }

    /// Returns a side of a cell without strength. All such sides are in ascending order, and
    /// `index` is a position in this order, counted from 0.
    pub(in crate::mechanism) fn side_without_strength(&mut self, index: u32) -> u32 {
        // Find the block by counting its cells without strength.
        let mut cell = index / 2;
        let (mut begin, mut first) = (0, 0);
        for &end in &self.block_ends {
            let weak = self.cells_per_block() - (end - begin);
            if cell < weak {
                self.sort_buffer.clear();
                let held = &self.packed_cells[begin as usize..end as usize];
                self.sort_buffer.extend(held);
                break;
            }
            cell -= weak;
            first += self.cells_per_block();
            begin = end;
        }
        sort_keys(&mut self.sort_buffer);
        cell += first;
        // Skip the cells with strength: each one at or before the result moves it by one.
        for &held in &self.sort_buffer {
            if unpack_cell(held) > cell {
                break;
            }
            cell += 1;
        }
        2 * cell + index % 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix64;

    /// Two functions of five cells. In the first, cell 4 has the count 2, cell 1 has −1, and the
    /// pushes to cell 0 cancel. In the second, cells 3 and 2 have the count 1, and cell 0 has −3.
    fn cells() -> CellStrengths {
        let mut cells = CellStrengths::new(5, 2, 5);
        for _ in 0..2 {
            // The second time must give the same result as the first.
            cells.count_pushes(&[8, 6, 1, 1, 3, 4, 8, 1, 0, 1]);
        }
        cells
    }

    #[test]
    fn sides_are_ranked_by_strength_then_number() {
        let mut cells = cells();
        let levels = [1, 2, 3, 4, 5].map(|strength| cells.side_count_of_strength(strength));
        assert_eq!((cells.strong_side_count(), levels), (5, [3, 1, 1, 0, 0]));
        let ranked: Vec<u32> = (0..5).map(|rank| cells.side_of_rank(rank)).collect();
        // Plus sides are even; the second function begins at 10.
        assert_eq!(ranked, [11, 8, 3, 14, 16]);
    }

    #[test]
    fn cells_without_strength_are_counted_in_order() {
        let mut cells = cells();
        let weak: Vec<u32> = (0..10)
            .map(|index| cells.side_without_strength(index))
            .collect();
        assert_eq!(weak, [0, 1, 4, 5, 6, 7, 12, 13, 18, 19]);
    }

    /// Compares ranks and sides with those of a plain count and sort.
    #[test]
    fn any_number_of_functions_is_counted() {
        for (t, functions) in [(1, 1), (1, 15), (1, 16), (1, 37), (2, 37), (9, 5)] {
            for elements in 1..8 {
                let mut cells = CellStrengths::new(t, functions, elements);
                let drawn = |index: u32| (mix64(index.into()) % u64::from(2 * t)) as u32;
                let sides: Vec<u32> = (0..elements * functions).map(drawn).collect();
                cells.count_pushes(&sides);
                let mut counts = alloc::vec![0i32; (t * functions) as usize];
                for (index, side) in (0..).zip(&sides) {
                    let cell = index % functions * t + side / 2;
                    counts[cell as usize] += 1 - 2 * (side % 2).cast_signed();
                }
                let (mut ranked, mut weak) = (Vec::new(), Vec::new());
                for (plus, &count) in (0..).step_by(2).zip(&counts) {
                    match count {
                        0 => weak.extend([plus, plus + 1]),
                        _ => ranked.push((-count.abs(), plus + u32::from(count < 0))),
                    }
                }
                ranked.sort_unstable();
                assert_eq!(cells.strong_side_count() as usize, ranked.len());
                let levels = (1..=cells.max_possible_strength())
                    .map(|strength| cells.side_count_of_strength(strength));
                assert_eq!(levels.sum::<u32>(), cells.strong_side_count());
                for (rank, &(_, side)) in (0..).zip(&ranked) {
                    assert_eq!(
                        cells.side_of_rank(rank),
                        side,
                        "{functions} of {t}, {elements}"
                    );
                }
                for (index, &side) in (0..).zip(&weak) {
                    assert_eq!(
                        cells.side_without_strength(index),
                        side,
                        "{functions} of {t}, {elements}"
                    );
                }
            }
        }
    }
}
