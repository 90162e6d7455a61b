//! Strict decoder: it rejects every encoding that the encoder would not produce.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::error::{Error, error};

/// Appends a number of up to 128 bits in postcard's encoding. It calls postcard's own encoder.
pub fn append_varint_u128<T: Serialize>(bytes: &mut Vec<u8>, number: &T) {
    // 128 bits take 19 bytes, because each byte encodes seven bits.
    let written = postcard::to_slice(number, &mut [0; 19]).map(|written| bytes.extend(&*written));
    written.expect("no number has more than 128 bits");
}

/// Bytes that are being decoded, with the offset of the next byte.
///
/// ```
/// use hushbin::codec::{Cursor, append_varint};
///
/// let mut bytes = Vec::new();
/// append_varint(&mut bytes, 300);
/// let mut cursor = Cursor::new("a number", &bytes);
/// assert_eq!(cursor.read_value("expected a number"), Ok(300_u64));
/// assert!(cursor.expect_end("expected the end").is_ok());
/// ```
pub struct Cursor<'a> {
    content_name: &'static str,
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    /// Starts reading `bytes`. Error messages call the bytes `what`.
    pub const fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Self {
            content_name: what,
            bytes,
            offset: 0,
        }
    }

    pub(crate) const fn malformed_error(&self, reason: &'static str) -> Error {
        error!(Malformed {
            what: self.content_name,
            offset: self.offset,
            reason,
        })
    }

    /// Returns the number of bytes that have been read.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the number of bytes that are left.
    pub(crate) const fn remaining(&self) -> usize {
        self.bytes.len() - self.offset
    }

    /// Checks that no bytes are left.
    ///
    /// # Errors
    /// [`Error::Malformed`] if bytes are left.
    pub fn expect_end(&self, reason: &'static str) -> Result<(), Error> {
        if self.remaining() == 0 {
            Ok(())
        } else {
            Err(self.malformed_error(reason))
        }
    }

    /// Returns the next `N` bytes without consuming them.
    pub(crate) fn peek_array<const N: usize>(
        &self,
        reason: &'static str,
    ) -> Result<[u8; N], Error> {
        let found = self.bytes[self.offset..].first_chunk::<N>();
        found.copied().ok_or_else(|| self.malformed_error(reason))
    }

    /// Reads the next `N` bytes.
    pub fn read_array<const N: usize>(&mut self, reason: &'static str) -> Result<[u8; N], Error> {
        let array = self.peek_array(reason)?;
        self.offset += N;
        Ok(array)
    }

    /// Reads the next `count` bytes.
    pub(crate) fn read_bytes(
        &mut self,
        count: usize,
        reason: &'static str,
    ) -> Result<&'a [u8], Error> {
        let rest = &self.bytes[self.offset..];
        let bytes = rest
            .get(..count)
            .ok_or_else(|| self.malformed_error(reason))?;
        self.offset += count;
        Ok(bytes)
    }

    /// Reads a value in postcard's encoding. An encoding that is longer than necessary is rejected.
    pub fn read_value<T>(&mut self, reason: &'static str) -> Result<T, Error>
    where
        T: Serialize + for<'de> Deserialize<'de>,
    {
        let rest = &self.bytes[self.offset..];
        let (value, after) =
            postcard::take_from_bytes::<T>(rest).map_err(|_| self.malformed_error(reason))?;
        let used = rest.len() - after.len();
        // A varint padded with zeros decodes to the same value. Accepting it would give one value
        // two encodings.
        let shortest = postcard::experimental::serialized_size(&value);
        if shortest != Ok(used) {
            return Err(self.malformed_error("expected the shortest encoding of a number"));
        }
        self.offset += used;
        Ok(value)
    }
}
