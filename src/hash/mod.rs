//! Hash families: which bucket an element falls into, and which elements fall
//! into a bucket.
//!
//! Each report carries a 64-bit seed that fixes all hash functions of that
//! report. Privacy never depends on the quality of a hash; utility does.

use serde::{Deserialize, Serialize};

mod balanced;
mod keys;
mod sign;

pub use balanced::Balanced;
pub use keys::{Keys, mix64};
pub(crate) use sign::element_sign;
pub use sign::{closed_sign, closed_sign_word, open_sign};

use balanced::{FEW_LANES, LANES};

use crate::domain::Domain;
use crate::error::Error;
use crate::fingerprint::CanonicalReader;

/// A family of hash functions, from elements to t buckets.
///
/// ```
/// use hushbin::hash::Hashing;
///
/// assert_eq!(serde_json::to_string(&Hashing::Balanced).unwrap(), r#""balanced""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hashing {
    /// A keyed permutation of the slots of a closed domain: every bucket holds
    /// equally many slots, which can be listed. See [`Balanced`].
    Balanced,
    /// Every element on its own, for open domains. See [`independent_bucket`].
    Independent,
}

impl Hashing {
    /// The check that the domain can be hashed so.
    ///
    /// # Errors
    /// [`Error::Combination`] when an open domain is to be balanced.
    pub(crate) fn check(self, domain: &Domain) -> Result<(), Error> {
        if self == Self::Balanced && domain.items().is_none() {
            return Err(Error::Combination {
                reason: "an open task needs \"hashing\": \"independent\": only a closed domain can be balanced",
            });
        }
        Ok(())
    }

    /// What is asked for, or else balanced where the domain can be.
    #[cfg(feature = "analysis")]
    pub(crate) fn default_for(asked: Option<Self>, domain: &Domain) -> Self {
        asked.unwrap_or(match domain.items() {
            Some(_) => Self::Balanced,
            None => Self::Independent,
        })
    }

    /// The number that stands for it in a task's canonical bytes.
    pub(crate) const fn to_canonical(self) -> u64 {
        match self {
            Self::Balanced => 0,
            Self::Independent => 1,
        }
    }

    /// `None` for a number that stands for none.
    pub(crate) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Option<Self> {
        match reader.number()? {
            0 => Some(Self::Balanced),
            1 => Some(Self::Independent),
            _ => None,
        }
    }
}

/// The bucket below `buckets` of a 64-bit key under the independent hash (P1):
/// the high half of a 128-bit product.
#[inline]
#[must_use]
pub fn independent_bucket(keys: &Keys, key: u64, buckets: u32) -> u32 {
    ((u128::from(mix64(key ^ keys.independent)) * u128::from(buckets)) >> 64) as u32
}

/// A hash family fitted to a domain: which bucket an element falls into.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hash {
    Balanced(Balanced),
    Independent { buckets: u32 },
}

impl Hash {
    /// For `elements` elements, or an open domain. An open domain has no slots
    /// to balance; tasks refuse to ask for it.
    pub(crate) fn new(hashing: Hashing, elements: Option<u32>, buckets: u32) -> Self {
        match (hashing, elements) {
            (Hashing::Balanced, Some(elements)) => Self::Balanced(Balanced::new(elements, buckets)),
            (Hashing::Balanced, None) | (Hashing::Independent, _) => Self::Independent { buckets },
        }
    }

    /// The bucket of an element, which in a closed domain is below 2d + s < 2³².
    #[inline]
    pub(crate) fn bucket(&self, keys: &Keys, element: u64) -> u32 {
        match self {
            Self::Balanced(balanced) => balanced.bucket(keys, element as u32),
            Self::Independent { buckets } => independent_bucket(keys, element, *buckets),
        }
    }

    /// Puts each element's bucket in its place.
    pub(crate) fn replace(&self, keys: &Keys, elements: &mut [u64]) {
        match self {
            Self::Balanced(balanced) => {
                for block in elements.chunks_mut(LANES) {
                    if block.len() > FEW_LANES {
                        balanced.replace::<LANES>(keys, block);
                    } else {
                        balanced.replace::<FEW_LANES>(keys, block);
                    }
                }
            }
            Self::Independent { buckets } => {
                for element in elements {
                    *element = u64::from(independent_bucket(keys, *element, *buckets));
                }
            }
        }
    }

    /// m, where it is balanced.
    #[cfg(feature = "analysis")]
    pub(crate) const fn per_bucket(&self) -> Option<u32> {
        match self {
            Self::Balanced(balanced) => Some(balanced.per_bucket()),
            Self::Independent { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn elements_are_replaced_by_their_buckets_however_many_there_are() {
        let keys = Keys::new(11);
        for hashing in [Hashing::Balanced, Hashing::Independent] {
            // Five rounds and 21, and one slot in each bucket.
            for buckets in [7, 50, 200] {
                let hash = Hash::new(hashing, Some(200), buckets);
                for count in 0..3 * LANES as u64 + 2 {
                    let elements = (0..count).map(|element| 199 - 2 * element);
                    let mut replaced: Vec<u64> = elements.clone().collect();
                    hash.replace(&keys, &mut replaced);
                    let expected = elements.map(|element| u64::from(hash.bucket(&keys, element)));
                    assert!(expected.eq(replaced.iter().copied()));
                }
            }
        }
    }
}
