//! Lists in the canonical bytes of tasks that reports answer.

use alloc::vec::Vec;

use super::reader::CanonicalReader;

impl CanonicalReader<'_> {
    /// A list of numbers below 2³², with its length in front.
    #[inline(never)]
    pub(crate) fn list(&mut self) -> Vec<u32> {
        (0..self.count()).map(|_| self.small()).collect()
    }
}
