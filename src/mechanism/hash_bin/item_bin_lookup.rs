//! Bins and signs of items in a report of hash-bin.

use super::parameters::HashBin;
use crate::domain::Domain;
use crate::hash::{ElementHash, HashKeys, hashed_element_sign, independent_bucket};

impl HashBin {
    /// Creates a decoder of bins and signs for reports over `domain`.
    #[must_use]
    pub fn item_bin_lookup(&self, domain: &Domain) -> ItemBinLookup {
        ItemBinLookup {
            element_hash: self.element_hash(domain),
            domain: *domain,
        }
    }
}

/// Decoder that finds the bin and the sign of every item under a report's seed, for one domain.
///
/// ```
/// use hushbin::hash::HashKeys;
/// use hushbin::domain::Domain;
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::hash_bin::{DEFAULT_GRID_STEPS_PER_UNIT, HashBin, PrivacyLevel};
///
/// let hash_bin = HashBin::new(PrivacyLevel::Event, HashFamily::Balanced, 4, DEFAULT_GRID_STEPS_PER_UNIT).unwrap();
/// let item_bin_lookup = hash_bin.item_bin_lookup(&Domain::of_rated_items(Some(40), 3));
/// let (bin, sign) = item_bin_lookup.bin_and_sign(&HashKeys::new(7), 12);
/// assert!(bin < 4 && sign.abs() == 1);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ItemBinLookup {
    element_hash: ElementHash,
    domain: Domain,
}

impl ItemBinLookup {
    /// Calls `visit` with every item of a closed domain and the item's bin, in no particular order.
    /// Takes O(d) steps for d items. In an open domain nothing is visited; use
    /// [`ItemBinLookup::bin_and_sign`].
    #[inline]
    pub fn for_each_item_and_bin(&self, keys: &HashKeys, mut visit: impl FnMut(u32, u32)) {
        let items = self.domain.item_count().unwrap_or(0);
        match &self.element_hash {
            ElementHash::Balanced(balanced) => {
                for bin in 0..balanced.bucket_count() {
                    balanced.for_each_slot_in_bucket(keys, bin, |slot| {
                        if slot < items {
                            visit(slot, bin);
                        }
                    });
                }
            }
            ElementHash::Independent { buckets } => {
                for item in 0..items {
                    visit(item, independent_bucket(keys, u64::from(item), *buckets));
                }
            }
        }
    }

    /// Returns the bin and the sign of an item, which is given by its index or key.
    #[inline]
    #[must_use]
    pub fn bin_and_sign(&self, keys: &HashKeys, item: u64) -> (u32, i8) {
        let bin = self.element_hash.bucket_of_element(keys, item);
        (bin, hashed_element_sign(&self.domain, keys, item))
    }
}
