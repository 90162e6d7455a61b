//! The report of a mechanism that draws one bucket.

use alloc::vec::Vec;

use crate::codec::append;
use crate::mechanism::contract::Encode;

/// One randomised message of a mechanism that draws a bucket.
///
/// ```
/// use hushbin::mechanism::BucketReport;
///
/// let report = BucketReport { seed: 7, bucket: 5 };
/// assert!(report.bucket < 12);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct BucketReport {
    /// Fixes the hash functions of this report.
    pub seed: u64,
    /// The bucket drawn, below R·t: bucket k of hash function r, both counted from 0, is r·t + k.
    pub bucket: u32,
}

impl Encode for BucketReport {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.seed.to_le_bytes());
        append(bytes, self.bucket.into());
    }
}
