//! Hash functions of a report, computed together.

use alloc::vec::Vec;

use super::family::ElementHash;
use super::keys::HashKeys;
#[cfg(feature = "collector")]
use super::lanes::RoundKeys;
#[cfg(not(feature = "collector"))]
use super::sequential::EmptyRoundKeys as RoundKeys;

/// R hash functions of one family, under the seed of a report. The seed can be replaced for each
/// report. The buckets of an element under all functions are computed together.
///
/// ```
/// use hushbin::hash::{HashFunctions, HashFamily, HashKeys, independent_bucket};
///
/// // Two functions of 8 buckets, under the seed 7.
/// let functions = HashFunctions::from_seed(HashFamily::Independent, None, 8, 2, 7);
/// let mut buckets = [0; 2];
/// functions.fill_buckets(&[functions.prepare_element(99)], &mut buckets);
/// assert_eq!(buckets[0], independent_bucket(&HashKeys::new(7), 99, 8));
/// assert_eq!(buckets[1], independent_bucket(&functions.function_keys(1), 99, 8));
/// ```
#[derive(Debug, Clone)]
pub struct HashFunctions {
    element_hash: ElementHash,
    /// Seed of each function.
    pub(super) function_seeds: Vec<u64>,
    round_keys: RoundKeys,
}

impl HashFunctions {
    pub(crate) fn new(hash: ElementHash, count: u32, seed: u64) -> Self {
        let mut functions = Self {
            element_hash: hash,
            function_seeds: alloc::vec![0; count as usize],
            round_keys: RoundKeys::default(),
        };
        functions.reseed(seed);
        functions
    }

    /// Number of functions R.
    #[must_use]
    pub fn function_count(&self) -> usize {
        self.function_seeds.len()
    }

    /// Replaces the functions by the ones that another report's seed determines.
    pub(crate) fn reseed(&mut self, seed: u64) {
        for (function, own) in (0..).zip(&mut self.function_seeds) {
            *own = HashKeys::function_seed(seed, function);
        }
        self.round_keys
            .reseed(&self.element_hash, &self.function_seeds);
    }

    /// Prepares an element for hashing: computes the part that does not depend on the function or
    /// the seed.
    #[must_use]
    pub const fn prepare_element(&self, element: u64) -> u64 {
        self.element_hash.prepare_element(element)
    }

    /// Fills `buckets` with the buckets of [prepared](HashFunctions::prepare_element) elements.
    /// First come the buckets of the first element, one for each function. Then come those of the
    /// second element, and so on.
    pub fn fill_buckets(&self, placed: &[u64], buckets: &mut [u32]) {
        // A single bucket needs no hash.
        if self.element_hash.bucket_count() == 1 || buckets.is_empty() {
            buckets.fill(0);
            return;
        }
        self.round_keys
            .fill_buckets(&self.element_hash, &self.function_seeds, placed, buckets);
    }
}
