//! Writing canonical bytes.

use alloc::vec::Vec;

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

/// A part of a task that is written as canonical bytes.
pub(crate) trait Written {
    /// Appends what its `read_canonical` reads.
    fn write_canonical(&self, canonical: &mut Canonical);
}
