//! Reading what was encoded, strictly.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::error::{Error, error};

/// A number of any width in the same encoding, by postcard's own way.
pub fn append_wide<T: Serialize>(bytes: &mut Vec<u8>, number: &T) {
    // Seven bits to a byte: 128 take 19.
    let written = postcard::to_slice(number, &mut [0; 19]).map(|written| bytes.extend(&*written));
    written.expect("no number has more than 128 bits");
}

/// What is left of the bytes to decode, and where that begins.
///
/// ```
/// use hushbin::codec::{Cursor, append};
///
/// let mut bytes = Vec::new();
/// append(&mut bytes, 300);
/// let mut cursor = Cursor::new("a number", &bytes);
/// assert_eq!(cursor.take("expected a number"), Ok(300_u64));
/// assert!(cursor.end("expected the end").is_ok());
/// ```
pub struct Cursor<'a> {
    what: &'static str,
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    /// From the first byte of `what`, as errors call it.
    pub const fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Self {
            what,
            bytes,
            offset: 0,
        }
    }

    pub(crate) const fn malformed(&self, reason: &'static str) -> Error {
        error!(Malformed {
            what: self.what,
            offset: self.offset,
            reason,
        })
    }

    /// How many bytes have been read.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// How many bytes are left.
    pub(crate) const fn rest(&self) -> usize {
        self.bytes.len() - self.offset
    }

    /// The check that nothing is left.
    ///
    /// # Errors
    /// [`Error::Malformed`] where bytes are left.
    pub fn end(&self, reason: &'static str) -> Result<(), Error> {
        if self.rest() == 0 {
            Ok(())
        } else {
            Err(self.malformed(reason))
        }
    }

    /// The next bytes, which are still to be read.
    pub(crate) fn peek<const N: usize>(&self, reason: &'static str) -> Result<[u8; N], Error> {
        let found = self.bytes[self.offset..].first_chunk::<N>();
        found.copied().ok_or_else(|| self.malformed(reason))
    }

    pub fn array<const N: usize>(&mut self, reason: &'static str) -> Result<[u8; N], Error> {
        let array = self.peek(reason)?;
        self.offset += N;
        Ok(array)
    }

    /// The next bytes, so many.
    pub(crate) fn bytes(&mut self, count: usize, reason: &'static str) -> Result<&'a [u8], Error> {
        let rest = &self.bytes[self.offset..];
        let bytes = rest.get(..count).ok_or_else(|| self.malformed(reason))?;
        self.offset += count;
        Ok(bytes)
    }

    /// A value in postcard's encoding, refused where the same value has a shorter one.
    pub fn take<T>(&mut self, reason: &'static str) -> Result<T, Error>
    where
        T: Serialize + for<'de> Deserialize<'de>,
    {
        let rest = &self.bytes[self.offset..];
        let (value, after) =
            postcard::take_from_bytes::<T>(rest).map_err(|_| self.malformed(reason))?;
        let used = rest.len() - after.len();
        let shortest = postcard::experimental::serialized_size(&value);
        if shortest != Ok(used) {
            return Err(self.malformed("expected the shortest encoding of a number"));
        }
        self.offset += used;
        Ok(value)
    }
}
