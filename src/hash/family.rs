//! Hash families, by name and fitted to a domain.

use serde::{Deserialize, Serialize};

use super::balanced::Balanced;
use super::keys::Keys;
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::mix::mix64;

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
    /// Balanced without paddings, under CoCo's rule `strongest`: what an input lacks
    /// of s entries are items that it does not have, with fair signs.
    BalancedItems,
    /// Balanced, of one answer of a list, under Collision's rule `heaviest`: an answer is in
    /// as many buckets, one behind the other, as are favoured.
    BalancedWindows,
}

impl Hashing {
    /// Whether buckets hold equally many slots.
    #[must_use]
    pub const fn is_balanced(self) -> bool {
        !matches!(self, Self::Independent)
    }

    /// The check that the domain can be hashed so.
    ///
    /// # Errors
    /// [`Error::Combination`] for an open domain that is to be balanced, and for windows over
    /// anything but one answer of a list.
    pub(crate) fn check(self, domain: &Domain) -> Result<(), Error> {
        if self.is_balanced() && domain.items().is_none() {
            return Err(error!(Combination {
                reason: "an open task needs \"hashing\": \"independent\": only a closed domain can be balanced",
            }));
        }
        if self == Self::BalancedWindows && !domain.is_one_of_list() {
            return Err(error!(Combination {
                reason: "\"hashing\": \"balanced-windows\" is for one answer of a list, asked of collision",
            }));
        }
        Ok(())
    }

    /// The check that a mechanism which has no use for items with fair signs does not ask for them.
    ///
    /// # Errors
    /// [`Error::Combination`] when it does.
    pub(crate) fn check_paddings(self) -> Result<(), Error> {
        if self == Self::BalancedItems {
            return Err(error!(Combination {
                reason: "\"hashing\": \"balanced-items\" is for coco's rule \"strongest\"",
            }));
        }
        Ok(())
    }

    /// All of them, by the numbers that stand for them in canonical bytes.
    const ALL: [Self; 4] = [
        Self::Balanced,
        Self::Independent,
        Self::BalancedItems,
        Self::BalancedWindows,
    ];
    /// How many there are.
    pub(crate) const COUNT: u64 = Self::ALL.len() as u64;

    /// `None` for a number that stands for none.
    pub(crate) fn of_canonical(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
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
        match elements {
            Some(elements) if hashing == Hashing::BalancedWindows => {
                Self::Balanced(Balanced::of_windows(elements, buckets))
            }
            Some(elements) if hashing.is_balanced() => {
                Self::Balanced(Balanced::new(elements, buckets))
            }
            _ => Self::Independent { buckets },
        }
    }

    /// The bucket of an element that is [placed](Hash::place).
    #[inline]
    pub(crate) fn bucket_of_place(&self, keys: &Keys, place: u64) -> u32 {
        match self {
            Self::Balanced(balanced) => balanced.bucket_of_place(keys, place),
            Self::Independent { buckets } => independent_bucket(keys, place, *buckets),
        }
    }

    /// What of hashing an element is the same for all keys.
    pub(crate) const fn place(&self, element: u64) -> u64 {
        match self {
            Self::Balanced(balanced) => balanced.place(element as u32),
            Self::Independent { .. } => element,
        }
    }

    /// t.
    pub(crate) const fn buckets(&self) -> u32 {
        match self {
            Self::Balanced(balanced) => balanced.buckets(),
            Self::Independent { buckets } => *buckets,
        }
    }
}
