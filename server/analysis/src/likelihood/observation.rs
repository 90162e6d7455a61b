//! Observation: what an attacker learns from a report about two possible inputs.

/// Observation of a report by an attacker who compares two inputs. Besides the likelihood ratio, it
/// contains features that show errors of an incorrect randomizer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// Logarithm of the report's likelihood ratio. The ratio is the likelihood under the first
    /// input, divided by the likelihood under the second. If the randomizer is correct, a threshold
    /// on this ratio is the best test (Neyman–Pearson lemma).
    pub log_likelihood_ratio: f64,
    /// Seed of the report.
    pub seed: u64,
    /// Reported bucket, or 0 if reports do not name a bucket.
    pub reported_bucket: u64,
    /// Index of the first entry in the reported bucket, for each input. If no entry is in that
    /// bucket, this is the number of entries.
    pub bucket_first_entry_indices: [usize; 2],
    /// Rank of the reported bucket among the buckets of the entries, for each input. Under
    /// hash-bin, the rank is `ContainsAllEntries` if the reported bins are the input's exact sums, rounded to the
    /// grid.
    pub bucket_ranks_by_input: [BucketRank; 2],
    /// Cells in which the seed places the entries, for each input.
    pub cell_summaries_by_input: [EntryCellSummary; 2],
}

impl Observation {
    /// Creates the observation of a report that reveals nothing but its seed.
    #[must_use]
    pub fn from_seed_only(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }
}

/// Summary of the cells to which a seed's hash functions map the entries of an input. The summary
/// does not depend on the reported bucket or bins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntryCellSummary {
    /// Number of cells (buckets, pairs or bins) that contain an entry.
    pub occupied_cell_count: u32,
    /// Number of entries whose push is positive, or 0 if the mechanism has no pushes.
    pub positive_push_count: u32,
    /// Cell of the first entry, counted from 1, or 0 if there are no entries.
    pub first_entry_cell: u32,
}

impl EntryCellSummary {
    /// Creates the summary from the bucket of each entry. Each cell has this number of sides.
    pub(super) fn for_buckets(buckets: &[u32], sides_per_cell: u32) -> Self {
        let is_positive = |bucket| bucket % sides_per_cell == 0 && sides_per_cell > 1;
        let side = |&bucket: &u32| (bucket / sides_per_cell, is_positive(bucket));
        Self::new(buckets.iter().map(side))
    }

    /// Creates the summary from one pair for each entry: the entry's cell, and true if the entry's
    /// push is positive.
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
            occupied_cell_count: cells.len() as u32,
            positive_push_count: pluses,
            first_entry_cell: first,
        }
    }
}

/// Rank of a bucket among the buckets that contain the entries of an input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BucketRank {
    /// The bucket contains no entry.
    #[default]
    ContainsNoEntry,
    /// The bucket contains all entries of the input.
    ContainsAllEntries,
    /// Several buckets contain entries, and this one has the smallest index of them.
    LowestOccupiedBucket,
    /// Several buckets contain entries, and this one has the greatest index of them.
    HighestOccupiedBucket,
    /// Some buckets that contain entries have a smaller index, and some have a greater one.
    MiddleOccupiedBucket,
}
