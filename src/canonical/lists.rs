//! Lists in the canonical bytes of tasks that reports answer.

use alloc::vec::Vec;

use super::reader::{CanonicalReader, NUMBER};

impl CanonicalReader<'_> {
    /// Reads this number where it follows, and tells whether it did.
    pub(crate) fn takes(&mut self, number: u32) -> bool {
        let follows = self.rest.starts_with(&u64::from(number).to_le_bytes());
        if follows {
            self.rest = &self.rest[NUMBER..];
        }
        follows
    }

    /// A list of numbers below 2³², with its length in front.
    #[inline(never)]
    pub(crate) fn list(&mut self) -> Vec<u32> {
        (0..self.count()).map(|_| self.small()).collect()
    }
}
