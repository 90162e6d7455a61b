//! Identities that travel as bytes and are written as hexadecimal digits, and
//! the canonical bytes that a task's identity is the hash of.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::error::{Error, error};

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

/// Parameters as canonical bytes: numbers of eight bytes, little endian, and
/// texts preceded by their length, so that no two tasks are written alike.
#[derive(Debug, Default)]
pub(crate) struct Canonical(Vec<u8>);

impl Canonical {
    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Behind how many there are.
    pub(crate) fn list(&mut self, numbers: &[u32]) {
        self.number(numbers.len() as u64);
        numbers.iter().for_each(|own| self.number(u64::from(*own)));
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Reads what [`Canonical`] wrote. Of anything else it reads zeros and empty texts from
/// where that begins, and [`CanonicalReader::end`] refuses it: a caller has nothing to
/// check but what the values mean, and what it makes of such zeros is thrown away.
pub(crate) struct CanonicalReader<'a> {
    rest: &'a [u8],
    failed: bool,
}

/// Bytes of a number, the least that anything takes.
const NUMBER: usize = 8;

impl<'a> CanonicalReader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            failed: false,
        }
    }

    /// Refuses the bytes, for what was read last.
    #[inline(never)]
    pub(crate) fn fail(&mut self) {
        self.failed = true;
        self.rest = &[];
    }

    #[inline(never)]
    pub(crate) fn number(&mut self) -> u64 {
        if let Some((number, rest)) = self.rest.split_first_chunk() {
            self.rest = rest;
            return u64::from_le_bytes(*number);
        }
        self.fail();
        0
    }

    /// A number below 2³².
    #[inline(never)]
    pub(crate) fn small(&mut self) -> u32 {
        u32::try_from(self.number()).unwrap_or_else(|_| {
            self.fail();
            0
        })
    }

    /// Whether this number follows, which is read then.
    pub(crate) fn takes(&mut self, number: u32) -> bool {
        let follows = self.rest.starts_with(&u64::from(number).to_le_bytes());
        if follows {
            self.rest = &self.rest[NUMBER..];
        }
        follows
    }

    /// A floating-point number.
    pub(crate) fn float(&mut self) -> f64 {
        f64::from_bits(self.number())
    }

    /// How many things follow, of which there are no more than the bytes can hold.
    pub(crate) fn count(&mut self) -> u32 {
        let count = self.small();
        if count as usize > self.rest.len() / NUMBER {
            self.fail();
            return 0;
        }
        count
    }

    /// Numbers below 2³², behind how many there are.
    #[inline(never)]
    pub(crate) fn list(&mut self) -> Vec<u32> {
        (0..self.count()).map(|_| self.small()).collect()
    }

    #[inline(never)]
    pub(crate) fn text(&mut self) -> &'a str {
        let length = self.small() as usize;
        if let Some((text, rest)) = self.rest.split_at_checked(length)
            && let Ok(text) = core::str::from_utf8(text)
        {
            self.rest = rest;
            return text;
        }
        self.fail();
        ""
    }

    /// What a number or text that was read stands for, if it stands for anything.
    ///
    /// # Errors
    /// [`Error::Malformed`], as [`CanonicalReader::end`] then says, too.
    pub(crate) fn known<T>(&mut self, known: Option<T>) -> Result<T, Error> {
        known.ok_or_else(|| {
            self.fail();
            Self::malformed()
        })
    }

    /// What was read, if it was all of the bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] for bytes that [`Canonical`] did not write; else that of what
    /// was read.
    pub(crate) fn end<T>(&self, read: Result<T, Error>) -> Result<T, Error> {
        if self.failed || (read.is_ok() && !self.rest.is_empty()) {
            return Err(Self::malformed());
        }
        read
    }

    fn malformed() -> Error {
        error!(Malformed {
            what: "task",
            offset: 0,
            reason: "expected the canonical bytes of a task",
        })
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
