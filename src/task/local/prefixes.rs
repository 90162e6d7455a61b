//! Which prefix of a text a report tells of.

use alloc::vec::Vec;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::{Error, error};
use crate::mix::output;

/// The prefixes of a text that are asked for, by their lengths in characters (Unicode
/// scalar values): a report tells of one, which its seed draws.
///
/// A length may be there several times, so as to be drawn more often. A text that is no longer than
/// a prefix is told of whole, and cannot be taken for a prefix of a longer one.
///
/// ```
/// use hushbin::task::Prefixes;
///
/// let prefixes = Prefixes::new(vec![2, 4]).unwrap();
/// assert_eq!(prefixes.keys("cat")[1], hushbin::item_key("cat"));
/// assert_eq!(prefixes.keys("cat")[0], prefixes.keys("care")[0]);
/// assert_ne!(prefixes.keys("cat")[0], prefixes.keys("ca")[0]);
/// assert!(Prefixes::new(vec![4, 2]).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefixes {
    lengths: Vec<u32>,
}

impl Prefixes {
    /// Prefixes of these lengths.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where there are not as many as [`bounds::PREFIXES`], or one
    /// is outside [`bounds::PREFIX_LENGTH`]; [`Error::Combination`] unless they ascend.
    pub fn new(lengths: Vec<u32>) -> Result<Self, Error> {
        bounds::PREFIXES.check(lengths.len() as f64)?;
        for &length in &lengths {
            bounds::PREFIX_LENGTH.check(f64::from(length))?;
        }
        if !lengths.is_sorted() {
            return Err(error!(Combination {
                reason: "lengths of \"prefixes\" are to ascend",
            }));
        }
        Ok(Self { lengths })
    }

    /// Their lengths, ascending.
    #[must_use]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Which of them a report tells of, counted from 0: each with the same probability, to
    /// within 2⁻⁶⁴.
    ///
    /// Of an output of `splitmix64` that no key and no other draw is made of, so that what a
    /// report hashes does not follow from it.
    #[must_use]
    pub fn drawn(&self, seed: u64) -> usize {
        ((u128::from(output(seed, 1 << 63)) * self.lengths.len() as u128) >> 64) as usize
    }

    pub(in crate::task) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        Self::new(reader.list())
    }
}
