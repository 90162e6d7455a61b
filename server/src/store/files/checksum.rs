//! Checksums of data on the disk.

use sha2::{Digest, Sha256};

/// Checksum: the first eight bytes of a SHA-256. Damaged data has the right checksum with
/// probability 2⁻⁶⁴.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Checksum(pub(super) [u8; Checksum::LENGTH]);

impl Checksum {
    pub(super) const LENGTH: usize = 8;

    /// Computes the checksum of concatenated parts.
    pub(super) fn compute(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        let mut sum = [0; Self::LENGTH];
        sum.copy_from_slice(&hash.finalize()[..Self::LENGTH]);
        Self(sum)
    }
}

/// Removes the first `N` bytes and returns them, or returns `None` if there are fewer.
pub(super) fn take_array_from_slice<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (front, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*front)
}
