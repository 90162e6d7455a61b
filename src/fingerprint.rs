//! Identities that travel as bytes and are written as hexadecimal digits.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// Identity of a task's parameters: the first 16 bytes of SHA-256 of their
/// [canonical bytes](crate::Task::canonical_bytes). Written as 32 lower-case
/// hexadecimal digits.
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
    pub(crate) fn from_canonical(bytes: &[u8]) -> Self {
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

/// Reads exactly 32 hexadecimal digits of either case.
pub(crate) fn parse_hex(text: &str) -> Option<[u8; 16]> {
    if text.len() != 32 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = (high * 16 + low) as u8;
    }
    Some(bytes)
}

/// A text that is not 32 hexadecimal digits.
///
/// ```
/// use hushbin::{Fingerprint, ParseHexError};
///
/// assert_eq!("settings".parse::<Fingerprint>(), Err(ParseHexError));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected 32 hexadecimal digits")]
pub struct ParseHexError;

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl FromStr for Fingerprint {
    type Err = ParseHexError;

    fn from_str(text: &str) -> Result<Self, ParseHexError> {
        parse_hex(text).map(Self).ok_or(ParseHexError)
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = alloc::string::String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
