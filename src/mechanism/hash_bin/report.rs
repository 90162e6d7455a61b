//! Report of hash-bin.

use alloc::vec::Vec;

use crate::codec::{append_signed_varint, append_varint};
use crate::mechanism::contract::EncodeReport;

/// Report of hash-bin: a seed and the randomised sums.
///
/// ```
/// use hushbin::mechanism::hash_bin::{Report, RandomisedResponse};
///
/// let report = Report { seed: 7, response: RandomisedResponse::Bins(vec![-12, 340]) };
/// assert_ne!(report, Report::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct HashBinReport {
    /// Seed of the report's hash functions.
    pub seed: u64,
    /// Randomised response to the sums of the input's values.
    pub response: RandomisedResponse,
}

/// Randomised response to an input's sums: one sign, or one number for each bin.
///
/// ```
/// use hushbin::mechanism::hash_bin::{Report, RandomisedResponse};
///
/// let clipped = Report { seed: 7, response: RandomisedResponse::Sign(true) };
/// assert!(matches!(clipped.response, RandomisedResponse::Sign(plus) if plus));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RandomisedResponse {
    /// Response to one clipped sum: true for plus, false for minus.
    Sign(bool),
    /// Bins with noise, in steps of 1/Γ.
    Bins(Vec<i64>),
}

impl Default for RandomisedResponse {
    fn default() -> Self {
        Self::Sign(false)
    }
}

impl EncodeReport for HashBinReport {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.seed.to_le_bytes());
        match &self.response {
            RandomisedResponse::Sign(plus) => append_varint(bytes, u64::from(*plus)),
            RandomisedResponse::Bins(bins) => bins
                .iter()
                .for_each(|bin| append_signed_varint(bytes, *bin)),
        }
    }
}
