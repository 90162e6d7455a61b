//! Fast hasher for maps of counts.
//!
//! Hashing a value takes a few multiplications. The standard library's hasher resists attacks, but
//! takes longer than making a report.

use std::hash::{BuildHasherDefault, Hasher};

use hushbin::mix::mix64;

/// Builder of hashers for keys that no attacker chooses.
pub(super) type FastHashBuilder = BuildHasherDefault<FastHasher>;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FastHasher(u64);

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for block in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..block.len()].copy_from_slice(block);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        // Without the added constant, 0 would be a fixed point.
        self.0 = mix64(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ word);
    }
}
