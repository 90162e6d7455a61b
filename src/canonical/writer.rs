//! Writer of canonical bytes.

use alloc::vec::Vec;

/// Buffer of canonical bytes. Numbers have eight bytes, little endian. Each text is preceded by its
/// length. Different tasks have different bytes.
#[derive(Debug, Default)]
pub(crate) struct CanonicalWriter(Vec<u8>);

impl CanonicalWriter {
    pub(crate) fn write_text(&mut self, text: &str) {
        self.write_u64(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn write_u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Appends the length of a list, followed by its numbers.
    pub(crate) fn write_u32_list(&mut self, numbers: &[u32]) {
        self.write_u64(numbers.len() as u64);
        numbers
            .iter()
            .for_each(|own| self.write_u64(u64::from(*own)));
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Part of a task that can be written as canonical bytes.
pub(crate) trait WriteCanonical {
    /// Appends the bytes that the type's `read_canonical` reads.
    fn write_canonical(&self, canonical: &mut CanonicalWriter);
}
