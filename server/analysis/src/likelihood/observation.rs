//! What an attacker sees of a report.

/// Observation of a report by an attacker who holds two inputs against it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The logarithm of the first input's likelihood over the second's: the
    /// statistic of Neyman and Pearson, of which a threshold separates best if
    /// the randomizer does what it says.
    pub log_ratio: f64,
    /// The seed.
    pub seed: u64,
    /// The bucket reported, where there is one.
    pub bucket: u64,
    /// For either input, which of its entries is the first to lie in it.
    pub first_entries: [usize; 2],
    /// For either input, where it stands among the buckets of its entries;
    /// under hash-bin, the only one if bins hold the input's very sums.
    pub places: [Place; 2],
}

/// The place of a bucket among those that hold the entries of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It is none of them.
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
