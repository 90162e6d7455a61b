//! What only tasks of reports have in their canonical bytes.

use alloc::vec::Vec;

use super::{CanonicalReader, NUMBER};

impl CanonicalReader<'_> {
    /// Whether this number follows, which is read then.
    pub(crate) fn takes(&mut self, number: u32) -> bool {
        let follows = self.rest.starts_with(&u64::from(number).to_le_bytes());
        if follows {
            self.rest = &self.rest[NUMBER..];
        }
        follows
    }

    /// Numbers below 2³², behind how many there are.
    #[inline(never)]
    pub(crate) fn list(&mut self) -> Vec<u32> {
        (0..self.count()).map(|_| self.small()).collect()
    }
}
