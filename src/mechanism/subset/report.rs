//! Report of a mechanism that draws one bucket.

use alloc::vec::Vec;

use crate::codec::append_varint;
use crate::mechanism::contract::EncodeReport;

/// Report of a mechanism that draws one bucket: a seed and that bucket.
///
/// ```
/// use hushbin::mechanism::BucketReport;
///
/// let report = BucketReport { seed: 7, bucket: 5 };
/// assert!(report.bucket < 12);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct BucketReport {
    /// Seed of the report's hash functions.
    pub seed: u64,
    /// Drawn bucket, below R·t, for R hash functions of t buckets each. Bucket k of hash function r
    /// has the number r·t + k, with k and r counted from 0.
    pub bucket: u32,
}

impl EncodeReport for BucketReport {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.seed.to_le_bytes());
        append_varint(bytes, self.bucket.into());
    }
}
