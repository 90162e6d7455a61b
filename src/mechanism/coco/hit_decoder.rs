//! Items that a report of CoCo hits.

use super::rule::Coco;
use crate::domain::Domain;
use crate::hash::{
    ElementHash, hashed_closed_element_sign, hashed_element_sign, independent_bucket,
};
use crate::mechanism::subset::BucketReport as Report;

impl Coco {
    /// Creates a decoder that finds the items hit by a report over `domain`.
    #[must_use]
    pub fn hit_decoder(&self, domain: &Domain) -> HitDecoder {
        HitDecoder {
            element_hash: self.element_to_cell_hash(domain),
            domain: *domain,
        }
    }
}

/// Decoder that finds the items that a report hits, for one domain. A report hits an item if it is
/// a side of the item's pair.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::coco::{Coco, Report, FavouredSideRule};
///
/// let rule = FavouredSideRule::Strongest { favoured: 2 };
/// let coco = Coco::new(rule, HashFamily::Balanced, 12).unwrap();
/// let hit_decoder = coco.hit_decoder(&Domain::of_rated_items(Some(40), 3));
/// let report = Report { seed: 7, bucket: 5 };
/// hit_decoder.for_each_hit_slot(&report, |item, plus| {
///     assert_eq!(hit_decoder.hit_side_is_plus(&report, u64::from(item)), Some(plus));
/// });
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HitDecoder {
    element_hash: ElementHash,
    domain: Domain,
}

impl HitDecoder {
    /// Number of slots that [`HitDecoder::for_each_hit_slot`] may visit. The first slots are the items.
    /// The rest are paddings and empty slots. 0 for open domains, whose items cannot be listed.
    #[must_use]
    pub fn visitable_slot_count(&self) -> usize {
        match (&self.element_hash, self.domain.item_count()) {
            (ElementHash::Balanced(balanced), _) => balanced.slot_count() as usize,
            (ElementHash::Independent { .. }, Some(items)) => items as usize,
            (ElementHash::Independent { .. }, None) => 0,
        }
    }

    /// Calls `visit` with every slot whose pair the report hits. The second argument is true if the
    /// report names the side to which a positive entry of that slot pushes.
    ///
    /// Takes O(m) steps under the balanced hash, with m slots in each pair. Takes O(d) steps under
    /// the independent hash, with d items. In an open domain nothing is visited; use
    /// [`HitDecoder::hit_side_is_plus`].
    #[inline(always)]
    pub fn for_each_hit_slot(&self, report: &Report, mut visit: impl FnMut(u32, bool)) {
        let (keys, pair) = self
            .element_hash
            .keys_and_bucket_of_cell(report.seed, report.bucket / 2);
        let minus = report.bucket % 2 == 1;
        let own_plus = |slot: u32| (hashed_closed_element_sign(&keys, slot) < 0) == minus;
        match self.element_hash {
            ElementHash::Balanced(balanced) => {
                balanced.for_each_slot_in_bucket(&keys, pair, |slot| visit(slot, own_plus(slot)));
            }
            ElementHash::Independent { buckets } => {
                for item in 0..self.domain.item_count().unwrap_or(0) {
                    if independent_bucket(&keys, u64::from(item), buckets) == pair {
                        visit(item, own_plus(item));
                    }
                }
            }
        }
    }

    /// Returns `None` if the report does not hit the item's pair of sides. Otherwise returns true
    /// if the report names the side to which a positive entry of the item pushes.
    #[inline]
    #[must_use]
    pub fn hit_side_is_plus(&self, report: &Report, item: u64) -> Option<bool> {
        self.make_hit_side_lookup(report)(item)
    }

    /// Returns a function that computes [`HitDecoder::hit_side_is_plus`] for this report and any
    /// item. Values that depend only on the report are computed once.
    #[inline]
    pub fn make_hit_side_lookup(&self, report: &Report) -> impl Fn(u64) -> Option<bool> + use<> {
        let Self {
            element_hash: hash,
            domain,
            ..
        } = *self;
        let (keys, pair) = hash.keys_and_bucket_of_cell(report.seed, report.bucket / 2);
        let minus = report.bucket % 2 == 1;
        move |item| {
            (hash.bucket_of_element(&keys, item) == pair)
                .then(|| (hashed_element_sign(&domain, &keys, item) < 0) == minus)
        }
    }
}
