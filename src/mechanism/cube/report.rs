//! The report of the cube.

use alloc::vec::Vec;

use crate::mechanism::contract::Encode;

/// The report of a mechanism that draws a corner of a cube.
///
/// ```
/// use hushbin::Report;
/// use hushbin::mechanism::cube;
///
/// let mut bytes = Vec::new();
/// Report::Cube(cube::Report { seed: 7, drawn: 9, signs: 0x101 }).encode(&mut bytes);
/// assert_eq!(bytes, [7, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CornerReport {
    /// Draws the attributes of this report.
    pub seed: u64,
    /// k, how many there are.
    pub drawn: u32,
    /// By attribute in the order in which they are drawn, the first one's in the lowest
    /// bit: 1 for plus. Below 2ᵏ.
    pub signs: u64,
}

/// Bytes of as many signs.
pub(super) const fn bytes_of(drawn: u32) -> usize {
    drawn.div_ceil(8) as usize
}

impl Encode for CornerReport {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.seed.to_le_bytes());
        bytes.extend_from_slice(&self.signs.to_le_bytes()[..bytes_of(self.drawn)]);
    }
}
