//! Reader of canonical bytes.

use crate::error::{Error, error};

/// Reader of the bytes that `CanonicalWriter` writes.
///
/// After a malformed byte, all reads return zeros and empty texts, and [`CanonicalReader::finish_reading`]
/// returns the error. A caller therefore checks only the meaning of the values. Results that were
/// built from such zeros are discarded.
pub(crate) struct CanonicalReader<'a> {
    remaining_bytes: &'a [u8],
    is_malformed: bool,
}

/// Length of a number in bytes, the shortest of all encoded values.
const BYTES_PER_NUMBER: usize = 8;

impl<'a> CanonicalReader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self {
            remaining_bytes: bytes,
            is_malformed: false,
        }
    }

    /// Marks the bytes as malformed and stops reading.
    #[inline(never)]
    pub(crate) fn mark_malformed(&mut self) {
        self.is_malformed = true;
        // Every later read fails too.
        self.remaining_bytes = &[];
    }

    #[inline(never)]
    /// Reads a number of eight bytes, little endian.
    pub(crate) fn read_u64(&mut self) -> u64 {
        if let Some((number, rest)) = self.remaining_bytes.split_first_chunk() {
            self.remaining_bytes = rest;
            return u64::from_le_bytes(*number);
        }
        self.mark_malformed();
        0
    }

    /// Reads a number below 2³².
    #[inline(never)]
    pub(crate) fn read_u32(&mut self) -> u32 {
        u32::try_from(self.read_u64()).unwrap_or_else(|_| {
            self.mark_malformed();
            0
        })
    }

    /// Reads a floating-point number.
    pub(crate) fn read_float(&mut self) -> f64 {
        f64::from_bits(self.read_u64())
    }

    /// Reads the length of a list. A length that needs more bytes than are left is malformed.
    pub(crate) fn read_list_length(&mut self) -> u32 {
        let count = self.read_u32();
        // A forged length must not make a caller allocate more than the input's size.
        if count as usize > self.remaining_bytes.len() / BYTES_PER_NUMBER {
            self.mark_malformed();
            return 0;
        }
        count
    }

    /// Reads a list of numbers below 2³², preceded by its length.
    #[cfg(feature = "reports")]
    #[inline(never)]
    pub(crate) fn read_u32_list(&mut self) -> alloc::vec::Vec<u32> {
        (0..self.read_list_length())
            .map(|_| self.read_u32())
            .collect()
    }

    #[inline(never)]
    /// Reads a text, which is preceded by its length in bytes.
    pub(crate) fn read_text(&mut self) -> &'a str {
        let length = self.read_u32() as usize;
        if let Some((text, rest)) = self.remaining_bytes.split_at_checked(length)
            && let Ok(text) = core::str::from_utf8(text)
        {
            self.remaining_bytes = rest;
            return text;
        }
        self.mark_malformed();
        ""
    }

    /// Unwraps `known`, the value of a number or text. If `known` is `None`, the bytes
    /// are marked as malformed.
    ///
    /// # Errors
    /// [`Error::Malformed`] for `None`. [`CanonicalReader::finish_reading`] then returns the same error.
    pub(crate) fn unwrap_or_mark_malformed<T>(&mut self, known: Option<T>) -> Result<T, Error> {
        known.ok_or_else(|| {
            self.mark_malformed();
            Self::malformed_error()
        })
    }

    /// Ends reading: returns `read` if all bytes were read and were well-formed.
    ///
    /// # Errors
    /// [`Error::Malformed`] for bytes that `CanonicalWriter` did not write. Otherwise the error in
    /// `read`.
    pub(crate) fn finish_reading<T>(&self, read: Result<T, Error>) -> Result<T, Error> {
        if self.is_malformed || (read.is_ok() && !self.remaining_bytes.is_empty()) {
            return Err(Self::malformed_error());
        }
        read
    }

    fn malformed_error() -> Error {
        error!(Malformed {
            what: "task",
            offset: 0,
            reason: "expected the canonical bytes of a task",
        })
    }
}
