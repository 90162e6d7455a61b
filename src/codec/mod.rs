//! The encoding on the wire: postcard, read strictly.

#[cfg(feature = "collector")]
mod cursor;

#[cfg(feature = "collector")]
pub use cursor::{Cursor, append_wide};

use alloc::vec::Vec;

/// Appends a number in postcard's encoding: seven bits to a byte, the lowest first, of which all
/// but the last have the eighth set. Postcard's own way there is five times as much to download.
#[inline(never)]
pub fn append(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The same of a number with a sign, which becomes the lowest bit.
pub fn append_signed(bytes: &mut Vec<u8>, number: i64) {
    append(bytes, ((number << 1) ^ (number >> 63)).cast_unsigned());
}
