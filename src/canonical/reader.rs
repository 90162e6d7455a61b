//! Reading canonical bytes.

use crate::error::{Error, error};

/// Reads what `Canonical` wrote. Of anything else it reads zeros and empty texts from
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

    /// A list of numbers below 2³², with its length in front.
    #[cfg(feature = "reports")]
    #[inline(never)]
    pub(crate) fn list(&mut self) -> alloc::vec::Vec<u32> {
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
    /// [`Error::Malformed`] for bytes that `Canonical` did not write; else that of what
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
