//! The fair signs of elements.

use super::keys::{Keys, mix64};
use crate::domain::Domain;

/// The sign (+1 or −1) of an element of a closed domain: one mix gives the
/// signs of 64 consecutive elements, so that decoders can count whole words.
#[inline]
#[must_use]
pub fn closed_sign(keys: &Keys, element: u32) -> i8 {
    let word = closed_sign_word(keys, element / 64);
    if (word >> (element % 64)) & 1 == 1 {
        1
    } else {
        -1
    }
}

/// The signs of elements 64·`word` to 64·`word` + 63, one bit each, set for +1.
#[inline]
#[must_use]
pub fn closed_sign_word(keys: &Keys, word: u32) -> u64 {
    mix64(u64::from(word) ^ keys.sign)
}

/// The sign (+1 or −1) of a 64-bit key of an open domain.
#[inline]
#[must_use]
pub fn open_sign(keys: &Keys, key: u64) -> i8 {
    if mix64(key ^ keys.sign) >> 63 == 1 {
        1
    } else {
        -1
    }
}

/// The fair sign of an element without a sign of its own (an item, or a
/// padding).
#[inline]
pub(crate) fn element_sign(domain: &Domain, keys: &Keys, element: u64) -> i8 {
    match domain.items() {
        // Elements of a closed domain are below d + s < 2³².
        Some(_) => closed_sign(keys, element as u32),
        None => open_sign(keys, element),
    }
}
