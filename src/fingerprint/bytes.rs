//! Fingerprint of a task, and hexadecimal output of bytes.

use core::fmt;

use sha2::{Digest, Sha256};

/// Identity of a task's parameters: the first 16 bytes of the SHA-256 of the [canonical
/// bytes](crate::Task::canonical_bytes). It is written as 32 lower-case hexadecimal digits.
///
/// ```
/// use hushbin::Fingerprint;
///
/// let fingerprint: Fingerprint = "000102030405060708090a0b0c0d0e0f".parse()?;
/// assert_eq!(fingerprint.0[15], 15);
/// assert_eq!(fingerprint.to_string(), "000102030405060708090a0b0c0d0e0f");
/// # Ok::<(), hushbin::ParseHexError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub [u8; 16]);

impl Fingerprint {
    pub(crate) fn hash_canonical_bytes(bytes: &[u8]) -> Self {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        let mut first = [0; 16];
        first.copy_from_slice(&digest[..16]);
        Self(first)
    }
}

/// Writes bytes as lower-case hexadecimal digits.
pub(crate) fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}
