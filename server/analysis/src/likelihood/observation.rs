//! Information that a report gives an attacker.

/// Observation of a report by an attacker who compares two inputs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// Log-likelihood ratio of the first input over the second. By the Neyman–Pearson lemma, a
    /// threshold on it is the best test if the randomizer is correct.
    pub log_ratio: f64,
    /// Seed of the report.
    pub seed: u64,
    /// Reported bucket. 0 if the report is no bucket.
    pub bucket: u64,
    /// Index, per input, of the first entry in the reported bucket. The number of entries if there
    /// is none.
    pub first_entries: [usize; 2],
    /// Rank, per input, of the reported bucket among the buckets of the entries. Under hash-bin:
    /// `Only` if the bins are the input's exact sums, rounded to the grid.
    pub places: [BucketRank; 2],
    /// Placement of each input's entries by the seed alone.
    pub falls: [SeedPlacement; 2],
}

impl Observation {
    /// Creates the observation of a report that reveals only its seed.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }
}

/// Summary of how a seed places the entries of an input, independent of the reported value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SeedPlacement {
    /// Number of cells (buckets, pairs or bins) that contain an entry.
    pub cells: u32,
    /// Number of entries that push towards plus. 0 if the mechanism has no pushes.
    pub pluses: u32,
    /// Cell of the first entry, counted from 1. 0 if there are no entries.
    pub first: u32,
}

impl SeedPlacement {
    /// Summarises (cell, pushes towards plus) pairs, one for each entry.
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

/// Rank of a bucket among the buckets that contain the entries of an input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BucketRank {
    /// The bucket contains no entry.
    #[default]
    Elsewhere,
    /// The bucket is the only one.
    Only,
    /// The bucket has the smallest number of several.
    Lowest,
    /// The bucket has the greatest number of several.
    Highest,
    /// The bucket lies between two occupied ones.
    Between,
}
