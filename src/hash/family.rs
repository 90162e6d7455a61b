//! Hash families, and the hash that each family uses for a domain.

use serde::{Deserialize, Serialize};

use super::balanced::BalancedHash;
use super::keys::HashKeys;
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::mix::mix64;

/// Family of hash functions that map elements to t buckets.
///
/// ```
/// use hushbin::hash::HashFamily;
///
/// assert_eq!(serde_json::to_string(&HashFamily::Balanced).unwrap(), r#""balanced""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HashFamily {
    /// Keyed permutation of the slots of a closed domain. Every bucket has the same number of
    /// slots, which can be listed. See [`BalancedHash`].
    Balanced,
    /// Independent hash of every element, for open domains. See [`independent_bucket`].
    Independent,
    /// Balanced hash without paddings, for CoCo's rule `strongest`. An input of fewer than s
    /// entries is filled up with items that it does not have, with fair signs.
    BalancedItems,
    /// Balanced hash of one answer from a list, for Collision's rule `heaviest`. An answer is in c
    /// consecutive buckets, where c is the number of favoured buckets.
    BalancedWindows,
}

impl HashFamily {
    /// Returns true if all buckets have the same number of slots.
    #[must_use]
    pub const fn is_balanced(self) -> bool {
        !matches!(self, Self::Independent)
    }

    /// Checks that the domain can be hashed by this family.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] for a balanced hash of an open domain, and for windows over anything
    /// but one answer of a list.
    pub(crate) fn check_domain(self, domain: &Domain) -> Result<(), Error> {
        if self.is_balanced() && domain.item_count().is_none() {
            return Err(error!(InvalidCombination {
                reason: "an open task needs \"hashing\": \"independent\": only a closed domain can be balanced",
            }));
        }
        if self == Self::BalancedWindows && !domain.is_choice_from_list() {
            return Err(error!(InvalidCombination {
                reason: "\"hashing\": \"balanced-windows\" is for one answer of a list, asked of collision",
            }));
        }
        Ok(())
    }

    /// Checks that the family is not [`BalancedItems`](Self::BalancedItems). Most mechanisms cannot
    /// fill up an input with items.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if it is.
    pub(crate) fn check_uses_paddings(self) -> Result<(), Error> {
        if self == Self::BalancedItems {
            return Err(error!(InvalidCombination {
                reason: "\"hashing\": \"balanced-items\" is for coco's rule \"strongest\"",
            }));
        }
        Ok(())
    }

    /// Families of hash functions, each at the index that is its code in canonical bytes.
    const ALL_FAMILIES: [Self; 4] = [
        Self::Balanced,
        Self::Independent,
        Self::BalancedItems,
        Self::BalancedWindows,
    ];
    /// Number of families.
    pub(crate) const FAMILY_COUNT: u64 = Self::ALL_FAMILIES.len() as u64;

    /// Returns the family that has this code in canonical bytes, or `None` if no family has it.
    pub(crate) fn from_canonical_code(number: u64) -> Option<Self> {
        Self::ALL_FAMILIES
            .get(usize::try_from(number).ok()?)
            .copied()
    }
}

/// Returns the bucket of a 64-bit key under the independent hash (the hash of Wang et al., see
/// [`collision`](crate::mechanism::collision)). The bucket is below `buckets`: it is the high half
/// of a 128-bit product.
#[inline]
#[must_use]
pub fn independent_bucket(keys: &HashKeys, key: u64, buckets: u32) -> u32 {
    ((u128::from(mix64(key ^ keys.independent_hash_key)) * u128::from(buckets)) >> 64) as u32
}

/// Hash of one family for one domain. Under given keys, it maps elements to buckets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ElementHash {
    Balanced(BalancedHash),
    Independent { buckets: u32 },
}

impl ElementHash {
    /// Creates the hash of `elements` elements, or of an open domain if `elements` is `None`. An
    /// open domain is hashed independently, because it has no slots to balance. Tasks reject a
    /// balanced hash of an open domain.
    pub(crate) fn new(hashing: HashFamily, elements: Option<u32>, buckets: u32) -> Self {
        match elements {
            Some(elements) if hashing == HashFamily::BalancedWindows => {
                Self::Balanced(BalancedHash::for_balanced_windows(elements, buckets))
            }
            Some(elements) if hashing.is_balanced() => {
                Self::Balanced(BalancedHash::new(elements, buckets))
            }
            _ => Self::Independent { buckets },
        }
    }

    /// Returns the bucket of a [prepared](ElementHash::prepare_element) element.
    #[inline]
    pub(crate) fn bucket_of_prepared_element(&self, keys: &HashKeys, place: u64) -> u32 {
        match self {
            Self::Balanced(balanced) => balanced.bucket_of_prepared_slot(keys, place),
            Self::Independent { buckets } => independent_bucket(keys, place, *buckets),
        }
    }

    /// Prepares an element for hashing: computes the part that does not depend on the keys.
    pub(crate) const fn prepare_element(&self, element: u64) -> u64 {
        match self {
            Self::Balanced(balanced) => balanced.slot_coordinates(element as u32),
            Self::Independent { .. } => element,
        }
    }

    /// Number m of slots per bucket, or `None` for an independent hash.
    pub(crate) const fn slots_per_bucket(&self) -> Option<u32> {
        match self {
            Self::Balanced(balanced) => Some(balanced.slots_per_bucket),
            Self::Independent { .. } => None,
        }
    }

    /// Number of buckets t.
    pub(crate) const fn bucket_count(&self) -> u32 {
        match self {
            Self::Balanced(balanced) => balanced.bucket_count(),
            Self::Independent { buckets } => *buckets,
        }
    }
}
