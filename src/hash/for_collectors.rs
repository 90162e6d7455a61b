//! Hash families as collectors use them: codes in canonical bytes, and hash functions of reports.

use super::family::{ElementHash, HashFamily};
use super::functions::HashFunctions;
use super::keys::HashKeys;
use super::sign::{SignBitLocation, sign_bits_of_word};
use crate::domain::Domain;

impl HashFamily {
    /// Returns the code that identifies this family in a task's canonical bytes.
    pub(crate) const fn to_canonical_code(self) -> u64 {
        self as u64
    }
}

impl ElementHash {
    /// Returns the bucket of an element. In a closed domain the element is below 2d + s < 2³².
    #[inline]
    pub(crate) fn bucket_of_element(&self, keys: &HashKeys, element: u64) -> u32 {
        self.bucket_of_prepared_element(keys, self.prepare_element(element))
    }

    /// Finds the hash function and the bucket of a cell, in a report with this seed. Each hash
    /// function has t consecutive cells, one for each bucket. Returns the function's keys, and the
    /// bucket.
    #[inline]
    pub(crate) const fn keys_and_bucket_of_cell(&self, seed: u64, cell: u32) -> (HashKeys, u32) {
        let t = self.bucket_count();
        (HashKeys::for_hash_function(seed, cell / t), cell % t)
    }
}

impl HashFunctions {
    /// Creates `count` hash functions that map to `buckets` buckets, under a seed. If `elements` is
    /// `None`, the domain is open and is hashed [independently](super::independent_bucket).
    ///
    /// # Panics
    /// If `buckets` is 0.
    #[must_use]
    pub fn from_seed(
        hashing: HashFamily,
        elements: Option<u32>,
        buckets: u32,
        count: u32,
        seed: u64,
    ) -> Self {
        Self::new(ElementHash::new(hashing, elements, buckets), count, seed)
    }

    /// Returns the keys of the hash function with this index, counted from 0.
    ///
    /// # Panics
    /// If `function` is not below [`HashFunctions::function_count`].
    #[must_use]
    pub fn function_keys(&self, function: usize) -> HashKeys {
        HashKeys::new(self.function_seeds[function])
    }
}

impl HashKeys {
    /// Computes the keys of a report's `function`-th hash function, counted from 0. `seed` is the
    /// report's seed.
    ///
    /// The first function has the report's seed. Each further one has its own seed: output number
    /// 2³²·`function` of `splitmix64`, far behind the outputs that are keys.
    #[inline]
    #[must_use]
    pub const fn for_hash_function(seed: u64, function: u32) -> Self {
        Self::new(Self::function_seed(seed, function))
    }
}

impl SignBitLocation {
    const fn read_sign(self, keys: &HashKeys) -> i8 {
        if self.read_sign_bit(keys.sign_hash_key) == 1 {
            1
        } else {
            -1
        }
    }
}

/// Returns the hashed sign of an element without a sign: an item or a padding. Both
/// signs are equally likely.
#[inline]
pub(crate) fn hashed_element_sign(domain: &Domain, keys: &HashKeys, element: u64) -> i8 {
    SignBitLocation::for_element(domain, element).read_sign(keys)
}

/// Returns the sign (+1 or −1) of an element of a closed domain. One mix gives the signs of 64
/// consecutive elements, so that decoders can process 64 signs at a time.
#[inline]
#[must_use]
pub fn hashed_closed_element_sign(keys: &HashKeys, element: u32) -> i8 {
    SignBitLocation::for_closed_element(element).read_sign(keys)
}

/// Returns the signs of elements 64·`word` to 64·`word` + 63, one bit each, set for +1.
#[inline]
#[must_use]
pub fn sign_word_of_closed_elements(keys: &HashKeys, word: u32) -> u64 {
    sign_bits_of_word(keys.sign_hash_key, u64::from(word))
}

/// Returns the sign (+1 or −1) of a 64-bit key of an open domain.
#[inline]
#[must_use]
pub fn hashed_open_key_sign(keys: &HashKeys, key: u64) -> i8 {
    SignBitLocation::for_open_key(key).read_sign(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_bucket_of_one_function() {
        let hash = ElementHash::new(HashFamily::Balanced, Some(40), 10);
        let (first, bucket) = hash.keys_and_bucket_of_cell(7, 9);
        assert_eq!(
            (first.standard_round_keys, bucket),
            (HashKeys::new(7).standard_round_keys, 9)
        );
        let (third, bucket) = hash.keys_and_bucket_of_cell(7, 21);
        assert_eq!(
            (third.standard_round_keys, bucket),
            (HashKeys::for_hash_function(7, 2).standard_round_keys, 1)
        );
        assert_ne!(third.standard_round_keys, first.standard_round_keys);
    }
}
