//! Hash functions of a report, computed together.

use alloc::vec::Vec;

use super::family::Hash;
use super::keys::Keys;
#[cfg(feature = "collector")]
use super::lanes::Prepared;
#[cfg(not(feature = "collector"))]
use super::single::Prepared;

/// R hash functions of a family. The seed can be replaced for each report. The buckets of an
/// element under all functions are computed together.
///
/// ```
/// use hushbin::hash::{Functions, Hashing, Keys, independent_bucket};
///
/// // Two functions of 8 buckets, under the seed 7.
/// let functions = Functions::of_seed(Hashing::Independent, None, 8, 2, 7);
/// let mut buckets = [0; 2];
/// functions.buckets_of(&[functions.place(99)], &mut buckets);
/// assert_eq!(buckets[0], independent_bucket(&Keys::new(7), 99, 8));
/// assert_eq!(buckets[1], independent_bucket(&functions.keys(1), 99, 8));
/// ```
#[derive(Debug, Clone)]
pub struct Functions {
    hash: Hash,
    /// Seed of each function.
    pub(super) seeds: Vec<u64>,
    prepared: Prepared,
}

impl Functions {
    pub(crate) fn new(hash: Hash, count: u32, seed: u64) -> Self {
        let mut functions = Self {
            hash,
            seeds: alloc::vec![0; count as usize],
            prepared: Prepared::default(),
        };
        functions.take_seed(seed);
        functions
    }

    /// Number of functions R.
    #[must_use]
    pub fn count(&self) -> usize {
        self.seeds.len()
    }

    /// Replaces the functions by those of another report's seed.
    pub(crate) fn take_seed(&mut self, seed: u64) {
        for (function, own) in (0..).zip(&mut self.seeds) {
            *own = Keys::function_seed(seed, function);
        }
        self.prepared.take_seeds(&self.hash, &self.seeds);
    }

    /// Prepares an element for hashing: the part of the work that no function or seed changes.
    #[must_use]
    pub const fn place(&self, element: u64) -> u64 {
        self.hash.place(element)
    }

    /// Fills `buckets` with the buckets of [placed](Functions::place) elements. The buckets of the
    /// first element under each function come first, then those of the second element, and so on.
    pub fn buckets_of(&self, placed: &[u64], buckets: &mut [u32]) {
        // A single bucket needs no hash.
        if self.hash.buckets() == 1 || buckets.is_empty() {
            buckets.fill(0);
            return;
        }
        self.prepared.fill(&self.hash, &self.seeds, placed, buckets);
    }
}
