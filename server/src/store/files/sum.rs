//! Checksums of what lies on the disk.

use sha2::{Digest, Sha256};

/// The first eight bytes of a SHA-256: a damaged piece passes for a whole one with a chance of
/// 2⁻⁶⁴.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum(pub(super) [u8; Sum::LENGTH]);

impl Sum {
    pub(super) const LENGTH: usize = 8;

    /// That of parts back to back.
    pub(super) fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        let mut sum = [0; Self::LENGTH];
        sum.copy_from_slice(&hash.finalize()[..Self::LENGTH]);
        Self(sum)
    }
}

/// Takes so many bytes off the front.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (front, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*front)
}
