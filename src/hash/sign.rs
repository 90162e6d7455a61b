//! The fair signs of elements.

use super::functions::Functions;
use super::keys::Keys;
use crate::domain::Domain;
use crate::mix::mix64;

#[inline]
pub(super) const fn sign_word(key: u64, word: u64) -> u64 {
    mix64(word ^ key)
}

/// Where an element's sign stands, whatever the keys: a bit of a word, set for +1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignBit {
    word: u64,
    bit: u32,
}

impl SignBit {
    /// Of an element without a sign of its own.
    #[inline]
    pub(crate) const fn of(domain: &Domain, element: u64) -> Self {
        match domain.items() {
            // Elements of a closed domain are below d + s < 2³².
            Some(_) => Self::closed(element as u32),
            None => Self::open(element),
        }
    }

    pub(super) const fn closed(element: u32) -> Self {
        Self {
            word: (element / 64) as u64,
            bit: element % 64,
        }
    }

    pub(super) const fn open(key: u64) -> Self {
        Self { word: key, bit: 63 }
    }

    /// Under the [key](Keys::sign_key) of one function's signs: 1 or, for −1, 0.
    #[inline]
    pub(crate) const fn plus(self, key: u64) -> u32 {
        (sign_word(key, self.word) >> self.bit) as u32 & 1
    }
}

impl Functions {
    /// The key of each function's signs, for a [`SignBit`].
    pub(crate) fn sign_keys(&self) -> impl Iterator<Item = u64> {
        self.seeds.iter().map(|&seed| Keys::sign_key(seed))
    }
}
