//! Hashing of elements and functions one after the other, in the modules that pages download.

use super::family::ElementHash;
use super::keys::HashKeys;

/// Empty stand-in for round keys. In the modules that pages download, keys are expanded from the
/// seeds on demand.
#[derive(Debug, Clone, Default)]
pub(super) struct EmptyRoundKeys {}

impl EmptyRoundKeys {
    pub(super) const fn reseed(&mut self, _: &ElementHash, _: &[u64]) {}

    /// Fills `buckets` with the buckets of prepared elements. First come the buckets of the first
    /// element, one for each function. Then come those of the second element, and so on.
    pub(super) fn fill_buckets(
        &self,
        hash: &ElementHash,
        seeds: &[u64],
        placed: &[u64],
        buckets: &mut [u32],
    ) {
        for (function, &seed) in seeds.iter().enumerate() {
            let keys = HashKeys::new(seed);
            let buckets = buckets[function..].iter_mut().step_by(seeds.len());
            for (bucket, &placed) in buckets.zip(placed) {
                *bucket = hash.bucket_of_prepared_element(&keys, placed);
            }
        }
    }
}
