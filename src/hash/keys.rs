//! Keys of all hash functions of a report, expanded from its seed.

use crate::mix::nth_splitmix64_output;

/// Number of rounds of the balanced hash in the standard case. See
/// [`Balanced::rounds`](super::Balanced::rounds) for the other cases.
pub(super) const STANDARD_ROUND_COUNT: usize = 5;

/// Keys that a report's seed determines.
///
/// They are outputs of `splitmix64` (Steele, Lea, Flood 2014) started at the seed:
///
/// - The first two, and half of the third, are the round keys of the balanced hash.
/// - The first is also the key of the independent hash.
/// - The fourth is the key of the sign hash.
/// - 18 more, computed on demand, are the keys of further rounds.
///
/// ```
/// use hushbin::hash::{HashKeys, independent_bucket};
///
/// let seed = 7;
/// let keys = [HashKeys::new(seed), HashKeys::new(seed)];
/// let [a, b] = keys.map(|keys| independent_bucket(&keys, 99, 8));
/// assert!(a == b && a < 8);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HashKeys {
    pub(super) seed: u64,
    pub(super) standard_round_keys: [u32; STANDARD_ROUND_COUNT],
    /// Key that the [independent hash](super::independent_bucket) mixes into elements.
    pub independent_hash_key: u64,
    /// Key of the sign hash.
    pub sign_hash_key: u64,
}

impl HashKeys {
    /// Expands a report's seed into keys.
    #[inline]
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        let first = nth_splitmix64_output(seed, 1);
        let ([k0, k1], [k2, k3]) = (split_word(first), Self::round_key_pair_from_seed(seed, 1));
        let [k4, _] = Self::round_key_pair_from_seed(seed, 2);
        Self {
            seed,
            standard_round_keys: [k0, k1, k2, k3, k4],
            independent_hash_key: first,
            sign_hash_key: Self::sign_key(seed),
        }
    }

    /// Returns the seed of a report's hash function, given the report's seed. Functions are counted
    /// from 0.
    #[inline]
    pub(super) const fn function_seed(seed: u64, function: u32) -> u64 {
        // With one function a report has the same bytes as without functions.
        if function == 0 {
            seed
        } else {
            nth_splitmix64_output(seed, (function as u64) << 32)
        }
    }

    /// Returns the key of the sign hash for a seed, without the other keys.
    #[inline]
    pub(super) const fn sign_key(seed: u64) -> u64 {
        nth_splitmix64_output(seed, 4)
    }

    /// Returns the `word`-th pair of round keys of a seed, counted from 0.
    #[inline]
    pub(super) const fn round_key_pair_from_seed(seed: u64, word: usize) -> [u32; 2] {
        // The fourth output is the key of the sign hash, so it is skipped here.
        let n = if word < 3 { word + 1 } else { word + 2 };
        split_word(nth_splitmix64_output(seed, n as u64))
    }

    /// Returns the keys of rounds 2·`index` + 1 and 2·`index` + 2, counted from 0.
    #[inline]
    pub(super) const fn round_key_pair(&self, index: usize) -> [u32; 2] {
        if index < STANDARD_ROUND_COUNT / 2 {
            [
                self.standard_round_keys[2 * index + 1],
                self.standard_round_keys[2 * index + 2],
            ]
        } else {
            Self::round_key_pair_from_seed(self.seed, index + 1)
        }
    }
}

const fn split_word(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}
