//! Hashed signs of elements. Each sign is +1 or −1 with equal probability.

use super::functions::HashFunctions;
use super::keys::HashKeys;
use crate::domain::Domain;
use crate::mix::mix64;

#[inline]
pub(super) const fn sign_bits_of_word(key: u64, word: u64) -> u64 {
    mix64(word ^ key)
}

/// Location of the bit that is an element's hashed sign, set for +1. It consists of the number of a
/// 64-bit word and the index of a bit. The location is the same for all keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignBitLocation {
    word_index: u64,
    bit_index: u32,
}

impl SignBitLocation {
    /// Returns the location of the hashed sign of an element without a sign.
    #[inline]
    pub(crate) const fn for_element(domain: &Domain, element: u64) -> Self {
        match domain.item_count() {
            // Elements of a closed domain are below d + s < 2³².
            Some(_) => Self::for_closed_element(element as u32),
            None => Self::for_open_key(element),
        }
    }

    pub(super) const fn for_closed_element(element: u32) -> Self {
        Self {
            word_index: (element / 64) as u64,
            bit_index: element % 64,
        }
    }

    pub(super) const fn for_open_key(key: u64) -> Self {
        Self {
            word_index: key,
            bit_index: 63,
        }
    }

    /// Reads the sign under the [key](HashKeys::sign_key) of one function: 1 for +1, 0 for −1.
    #[inline]
    pub(crate) const fn read_sign_bit(self, key: u64) -> u32 {
        (sign_bits_of_word(key, self.word_index) >> self.bit_index) as u32 & 1
    }
}

impl HashFunctions {
    /// Returns the sign key of each function, the argument of [`SignBitLocation::read_sign_bit`].
    pub(crate) fn sign_keys(&self) -> impl Iterator<Item = u64> {
        self.function_seeds
            .iter()
            .map(|&seed| HashKeys::sign_key(seed))
    }
}
