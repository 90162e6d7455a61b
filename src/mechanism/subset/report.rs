//! The report of a mechanism that draws one bucket.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::codec::{Cursor, append, fixed_u64};
use crate::error::Error;
use crate::mechanism::contract::Encode;

/// One randomised message of a mechanism that draws a bucket.
///
/// ```
/// use hushbin::mechanism::BucketReport;
///
/// let report = BucketReport { seed: 7, bucket: 5 };
/// assert!(report.bucket < 12);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BucketReport {
    /// Fixes the hash functions of this report.
    #[serde(with = "fixed_u64")]
    pub seed: u64,
    /// The bucket drawn, below R·t: bucket k of hash function r, both counted from
    /// 0, is r·t + k.
    pub bucket: u32,
}

impl Encode for BucketReport {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.seed.to_le_bytes());
        append(bytes, self.bucket.into());
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

impl BucketReport {
    /// The next report, with a bucket below `buckets`.
    ///
    /// # Errors
    /// [`Error::Malformed`] where the bucket is not one of `buckets`.
    pub(crate) fn decode(cursor: &mut Cursor<'_>, buckets: u32) -> Result<Self, Error> {
        let report: Self = cursor.take("expected a seed and a bucket")?;
        if report.bucket < buckets {
            Ok(report)
        } else {
            Err(cursor.malformed("expected a bucket below the task's number of buckets"))
        }
    }
}
