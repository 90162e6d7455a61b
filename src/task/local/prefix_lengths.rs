//! Prefixes of a text.

use alloc::vec::Vec;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::{Error, error};
use crate::mix::nth_splitmix64_output;

/// Lengths of the prefixes of a text, in characters (Unicode scalar values). A report covers one
/// prefix, which its seed selects.
///
/// A length that is listed several times is drawn more often. A text that is no longer than the
/// drawn length is reported whole. Its key differs from the key of the same characters as a prefix
/// of a longer text.
///
/// ```
/// use hushbin::task::PrefixLengths;
///
/// let prefixes = PrefixLengths::new(vec![2, 4]).unwrap();
/// assert_eq!(prefixes.prefix_hashes("cat")[1], hushbin::item_name_hash("cat"));
/// assert_eq!(prefixes.prefix_hashes("cat")[0], prefixes.prefix_hashes("care")[0]);
/// assert_ne!(prefixes.prefix_hashes("cat")[0], prefixes.prefix_hashes("ca")[0]);
/// assert!(PrefixLengths::new(vec![4, 2]).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixLengths {
    lengths: Vec<u32>,
}

impl PrefixLengths {
    /// Creates prefixes of these lengths.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the number of lengths is outside [`bounds::PREFIX_COUNT_RANGE`], or a length
    /// is outside [`bounds::PREFIX_LENGTH_RANGE`]; [`Error::InvalidCombination`] unless the lengths ascend.
    pub fn new(lengths: Vec<u32>) -> Result<Self, Error> {
        bounds::PREFIX_COUNT_RANGE.check_in_range(lengths.len() as f64)?;
        for &length in &lengths {
            bounds::PREFIX_LENGTH_RANGE.check_in_range(f64::from(length))?;
        }
        if !lengths.is_sorted() {
            return Err(error!(InvalidCombination {
                reason: "lengths of \"prefixes\" must ascend",
            }));
        }
        Ok(Self { lengths })
    }

    /// Returns the lengths, ascending.
    #[must_use]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the index of the prefix that `seed` selects, from 0. Prefixes are equally probable,
    /// with an error of at most 2⁻⁶⁴.
    ///
    /// No key and no other draw uses this output of `splitmix64`. The prefix therefore does not
    /// reveal what the report hashes.
    #[must_use]
    pub fn drawn_prefix_index(&self, seed: u64) -> usize {
        // Keys use outputs with small numbers, and hash functions use multiples of 2³² below 2⁴⁴.
        ((u128::from(nth_splitmix64_output(seed, 1 << 63)) * self.lengths.len() as u128) >> 64)
            as usize
    }

    pub(in crate::task) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        Self::new(reader.read_u32_list())
    }
}
