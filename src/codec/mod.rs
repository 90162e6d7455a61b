//! Wire encoding: postcard, decoded strictly.

#[cfg(feature = "collector")]
mod cursor;

#[cfg(feature = "collector")]
pub use cursor::{Cursor, append_varint_u128};

use alloc::vec::Vec;

/// Appends a number in postcard's encoding: seven bits in each byte, lowest first. All bytes but
/// the last have the eighth bit set.
// Postcard's own encoder would be five times as large to download.
#[inline(never)]
pub fn append_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a signed number in postcard's zigzag encoding: the sign becomes the lowest bit.
pub fn append_signed_varint(bytes: &mut Vec<u8>, number: i64) {
    // The arithmetic shift is 0 or −1, which inverts the bits of negative numbers.
    append_varint(bytes, ((number << 1) ^ (number >> 63)).cast_unsigned());
}
