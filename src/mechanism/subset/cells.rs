//! What the elements of an input do to the buckets of all hash functions: how
//! strongly each is pushed to.
//!
//! A function has T cells, of one bucket or of two sides each. An element adds 1
//! to the count of its cell, or takes 1 away; a count above 0 is the strength of
//! the cell's bucket or plus side, one below 0 that of its minus side. Buckets
//! are ranked by falling strength, equals by their number. Few have any
//! strength, so that only these are listed, and what is drawn is found by
//! counting: nothing is sorted but the buckets of one function.

use alloc::vec::Vec;

use crate::sort::sort;

/// The buckets that have a strength, for one seed and input.
#[derive(Debug, Clone)]
pub(in crate::mechanism) struct Cells {
    /// T of each function.
    cells: u32,
    /// 1, or 2 where cells have a plus and a minus side.
    sides: u32,
    /// By cell, of the function at work; else all 0.
    counts: Vec<i16>,
    /// A bucket and its strength in one number, function by function. Those behind
    /// the last are left over.
    held: Vec<u64>,
    /// Where the buckets of each function end.
    ends: Vec<u32>,
    /// How many buckets have a strength of 0 (none), 1, 2, ….
    levels: Vec<u32>,
    /// Memory for the buckets of one function, ascending.
    sorted: Vec<u64>,
}

const fn pack(bucket: u32, strength: u32) -> u64 {
    (bucket as u64) << 32 | strength as u64
}

const fn bucket_of(held: u64) -> u32 {
    (held >> 32) as u32
}

const fn strength_of(held: u64) -> u32 {
    held as u32
}

impl Cells {
    /// For inputs of so many elements, at most 1024.
    pub(in crate::mechanism) fn new(cells: u32, sides: u32, functions: u32, elements: u32) -> Self {
        Self {
            cells,
            sides,
            counts: alloc::vec![0; cells as usize],
            held: alloc::vec![0; (functions * elements) as usize],
            ends: Vec::with_capacity(functions as usize),
            levels: alloc::vec![0; elements as usize + 1],
            sorted: Vec::with_capacity(elements as usize),
        }
    }

    /// Begins anew.
    pub(in crate::mechanism) fn clear(&mut self) {
        self.ends.clear();
        self.levels.fill(0);
    }

    /// Adds the next function: which bucket of it each element falls into, every
    /// `step`-th of these.
    pub(in crate::mechanism) fn add(&mut self, buckets: &[u32], step: usize) {
        let minus = self.sides - 1;
        let cell = |bucket: u32| (bucket >> minus) as usize;
        let added = |bucket: u32| 1 - 2 * (bucket & minus) as i16;
        let buckets = buckets.iter().step_by(step);
        // Whoever comes first takes the count; none is left for others.
        let mut takers = buckets.len();
        if self.cells == 1 {
            // One addition after the other in memory would take three times as long.
            self.counts[0] = buckets.clone().map(|&bucket| added(bucket)).sum();
            takers = 1;
        } else {
            for &bucket in buckets.clone() {
                self.counts[cell(bucket)] += added(bucket);
            }
        }
        let first = self.ends.len() as u32 * self.cells;
        let mut len = self.len() as usize;
        for &bucket in buckets.take(takers) {
            let count = core::mem::take(&mut self.counts[cell(bucket)]);
            let bucket = self.sides * (first + cell(bucket) as u32) + u32::from(count < 0);
            let strength = u32::from(count.unsigned_abs());
            self.held[len] = pack(bucket, strength);
            len += usize::from(count != 0);
            self.levels[strength as usize] += 1;
        }
        self.ends.push(len as u32);
    }

    /// How many buckets have a strength.
    pub(in crate::mechanism) fn len(&self) -> u32 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// How many buckets have each strength, from 1 on, weakest first.
    pub(super) fn levels(&self) -> &[u32] {
        &self.levels[1..]
    }

    /// The buckets with their strengths, in no particular order.
    #[cfg(feature = "analysis")]
    pub(in crate::mechanism) fn strengths(&self) -> impl Iterator<Item = (u32, u32)> {
        let held = self.held[..self.len() as usize].iter();
        held.map(|&held| (bucket_of(held), strength_of(held)))
    }

    /// The bucket of a rank below [`Cells::len`].
    pub(in crate::mechanism) fn ranked(&mut self, rank: u32) -> u32 {
        let mut index = rank;
        let mut strength = self.levels.len() - 1;
        while index >= self.levels[strength] {
            index -= self.levels[strength];
            strength -= 1;
        }
        let alike = |held: &u64| strength_of(*held) as usize == strength;
        let mut begin = 0;
        for &end in &self.ends {
            let held = &self.held[begin..end as usize];
            let count = held.iter().filter(|held| alike(held)).count() as u32;
            if index < count {
                self.sorted.clear();
                self.sorted.extend(held.iter().filter(|held| alike(held)));
                break;
            }
            index -= count;
            begin = end as usize;
        }
        sort(&mut self.sorted);
        bucket_of(self.sorted[index as usize])
    }

    /// The `index`-th of the sides, or buckets, of all cells without strength,
    /// ascending.
    pub(in crate::mechanism) fn weak(&mut self, index: u32) -> u32 {
        let mut cell = index / self.sides;
        let (mut begin, mut first) = (0, 0);
        for &end in &self.ends {
            let weak = self.cells - (end - begin);
            if cell < weak {
                self.sorted.clear();
                let held = &self.held[begin as usize..end as usize];
                self.sorted.extend(held);
                break;
            }
            cell -= weak;
            first += self.cells;
            begin = end;
        }
        sort(&mut self.sorted);
        cell += first;
        for &held in &self.sorted {
            if bucket_of(held) / self.sides > cell {
                break;
            }
            cell += 1;
        }
        self.sides * cell + index % self.sides
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two functions of five cells with two sides each: of the first, cells 4 and
    /// 1 have strengths 2 and −1 and cell 0 is in balance; of the second cells 3
    /// and 2 have strength 1 and cell 0 has −2.
    fn cells() -> Cells {
        let mut cells = Cells::new(5, 2, 2, 5);
        for _ in 0..2 {
            // The second time as if it were the first.
            cells.clear();
            cells.add(&[8, 1, 3, 8, 0], 1);
            // Every other is none of it.
            cells.add(&[6, 9, 1, 9, 4, 9, 1], 2);
        }
        cells
    }

    #[test]
    fn buckets_are_ranked_by_strength_then_number() {
        let mut cells = cells();
        assert_eq!((cells.len(), cells.levels()), (5, &[3, 2, 0, 0, 0][..]));
        let ranked: Vec<u32> = (0..5).map(|rank| cells.ranked(rank)).collect();
        // Plus sides are even; the second function begins at 10.
        assert_eq!(ranked, [8, 11, 3, 14, 16]);
    }

    #[test]
    fn cells_without_strength_are_counted_in_order() {
        let mut cells = cells();
        let weak: Vec<u32> = (0..10).map(|index| cells.weak(index)).collect();
        assert_eq!(weak, [0, 1, 4, 5, 6, 7, 12, 13, 18, 19]);
    }
}
