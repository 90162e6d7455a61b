//! Fast hit test of a Collision report under the independent hash.

use hushbin::hash::HashKeys;
use hushbin::mechanism::collision::Report;
use hushbin::mix::mix64;

/// Range of 64-bit hash values that fall into a report's bucket, with the report's hash key.
///
/// It is used to test many keys against one report, as in an open domain. A test takes a third of
/// the time of [`independent_bucket`](hushbin::hash::independent_bucket).
#[derive(Debug, Clone, Copy)]
pub(crate) struct BucketHashRange {
    key: u64,
    first: u64,
    width: u64,
}

impl BucketHashRange {
    /// Computes the range for a report whose hash functions have t buckets each.
    pub(crate) fn new(report: &Report, t: u32) -> Self {
        let keys = HashKeys::for_hash_function(report.seed, report.bucket / t);
        let bucket = report.bucket % t;
        let first = smallest_hash_in_bucket(bucket, t);
        Self {
            key: keys.independent_hash_key,
            first,
            width: smallest_hash_in_bucket(bucket + 1, t).wrapping_sub(first),
        }
    }

    /// Returns true if the report's hash function maps `key` to the reported bucket.
    #[inline]
    pub(crate) const fn contains_hash_of(&self, key: u64) -> bool {
        // One comparison tests first ≤ word < first + width. Subtraction and sum wrap modulo 2⁶⁴.
        mix64(key ^ self.key).wrapping_sub(self.first) < self.width
    }
}

/// Returns the smallest hash value that falls into a bucket, ⌈bucket·2⁶⁴/t⌉.
///
/// [`independent_bucket`](hushbin::hash::independent_bucket) is ⌊word·t/2⁶⁴⌋. The end of the last
/// bucket, 2⁶⁴, wraps to 0.
fn smallest_hash_in_bucket(bucket: u32, t: u32) -> u64 {
    (u128::from(bucket) << 64).div_ceil(u128::from(t)) as u64
}

#[cfg(test)]
mod tests {
    use hushbin::hash::independent_bucket;

    use super::*;

    /// Checks that a bucket's range contains exactly the words that [`independent_bucket`] maps to
    /// the bucket. Both ends of the range are checked, and many keys.
    #[test]
    fn words_of_a_bucket_are_those_that_are_hashed_to_it() {
        for t in [2, 3, 4, 7, 55, 4096, 1 << 22] {
            for bucket in [0, 1, t / 2, t - 1] {
                let [first, end] =
                    [bucket, bucket + 1].map(|bucket| smallest_hash_in_bucket(bucket, t));
                let of = |word: u64| ((u128::from(word) * u128::from(t)) >> 64) as u32;
                assert_eq!((of(first), of(end.wrapping_sub(1))), (bucket, bucket));
                assert!(bucket == 0 || of(first - 1) == bucket - 1);
            }
            for seed in 0..200 {
                let function = (seed % 3) as u32;
                let keys = HashKeys::for_hash_function(seed, function);
                let bucket = (seed as u32 * 7) % t;
                let report = Report {
                    seed,
                    bucket: function * t + bucket,
                };
                let words = BucketHashRange::new(&report, t);
                for key in (0..50).map(mix64) {
                    let expected = independent_bucket(&keys, key, t) == bucket;
                    assert_eq!(words.contains_hash_of(key), expected);
                }
            }
        }
    }
}
