//! What an attacker sees of a report.

/// Observation of a report by an attacker who holds two inputs against it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// The logarithm of the first input's likelihood over the second's: the statistic of Neyman and
    /// Pearson, of which a threshold separates best if the randomizer does what it says.
    pub log_ratio: f64,
    /// The seed.
    pub seed: u64,
    /// The bucket reported, where there is one.
    pub bucket: u64,
    /// For either input, which of its entries is the first to lie in it.
    pub first_entries: [usize; 2],
    /// For either input, where it stands among the buckets of its entries; under hash-bin, the only
    /// one if bins hold the input's very sums, rounded to the grid.
    pub places: [Place; 2],
    /// How the seed alone lets the entries of either input fall.
    pub falls: [Fall; 2],
}

impl Observation {
    /// A report that tells nothing of either input, under its seed.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }
}

/// The way in which the entries of an input fall under a seed, whatever is reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fall {
    /// Number of cells (buckets, pairs or bins) that hold an entry.
    pub cells: u32,
    /// Number of entries that push towards plus, where they push.
    pub pluses: u32,
    /// The cell of the first entry, counted from 1; 0 where there is none.
    pub first: u32,
}

impl Fall {
    /// From each entry's cell, and whether it pushes towards plus.
    pub(super) fn new(entries: impl Iterator<Item = (u32, bool)>) -> Self {
        let mut cells = Vec::new();
        let mut pluses = 0;
        for (cell, plus) in entries {
            cells.push(cell);
            pluses += u32::from(plus);
        }
        let first = cells.first().map_or(0, |cell| cell + 1);
        cells.sort_unstable();
        cells.dedup();
        Self {
            cells: cells.len() as u32,
            pluses,
            first,
        }
    }
}

/// The place of a bucket among those that hold the entries of an input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    /// It is none of them.
    #[default]
    Elsewhere,
    /// The only one.
    Only,
    /// The one of the least number.
    Lowest,
    /// The one of the greatest number.
    Highest,
    /// Neither the least nor the greatest.
    Between,
}
