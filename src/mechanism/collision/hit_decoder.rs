//! Elements that a report of Collision hits.

use super::rule::Collision;
use crate::domain::Domain;
use crate::hash::{ElementHash, HashKeys};
use crate::mechanism::subset::BucketReport as Report;

impl Collision {
    /// Creates a decoder that finds the elements hit by a report over `domain`.
    #[must_use]
    pub fn hit_decoder(&self, domain: &Domain) -> HitDecoder {
        HitDecoder {
            element_to_bucket_hash: self.element_to_cell_hash(domain),
            domain: *domain,
            buckets_per_element: self.buckets_per_element(),
        }
    }
}

/// Decoder that finds the elements that a report hits, for one domain.
///
/// ```
/// use hushbin::domain::Domain;
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::collision::{Collision, Report, FavouredBucketRule};
///
/// let rule = FavouredBucketRule::Heaviest { favoured: 2 };
/// let collision = Collision::new(rule, HashFamily::Balanced, 12).unwrap();
/// let hit_decoder = collision.hit_decoder(&Domain::of_rated_items(Some(40), 3));
/// let report = Report { seed: 7, bucket: 5 };
/// // 83 elements in buckets of 7 slots.
/// let mut is_hit = 0;
/// hit_decoder.for_each_hit(&report, |element| {
///     assert!(hit_decoder.is_hit(&report, u64::from(element)));
///     is_hit += 1;
/// });
/// assert_eq!(is_hit, 7);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HitDecoder {
    element_to_bucket_hash: ElementHash,
    domain: Domain,
    /// Number of consecutive buckets that contain each element.
    buckets_per_element: u32,
}

impl HitDecoder {
    /// Number of slots that [`HitDecoder::for_each_hit`] may visit. The first slots are the
    /// elements of the d items, 2d with signs or d without. The rest are paddings and empty slots.
    /// 0 for open domains, whose elements cannot be listed.
    #[must_use]
    pub fn visitable_slot_count(&self) -> usize {
        match (&self.element_to_bucket_hash, self.domain.item_count()) {
            (ElementHash::Balanced(balanced), _) => balanced.slot_count() as usize,
            (ElementHash::Independent { .. }, Some(_)) => self.total_item_elements() as usize,
            (ElementHash::Independent { .. }, None) => 0,
        }
    }

    /// Number of slots that every report hits. `None` under the independent hash, where the number
    /// varies.
    #[must_use]
    pub fn slots_hit_per_report(&self) -> Option<u32> {
        self.element_to_bucket_hash
            .slots_per_bucket()
            .map(|slots| slots * self.buckets_per_element)
    }

    fn total_item_elements(&self) -> u32 {
        self.domain.elements_per_item() * self.domain.item_count().unwrap_or(0)
    }

    /// Calls `visit` with every slot that the report hits. Takes O(m) steps under the balanced
    /// hash, with m slots in each bucket, and O(d) under the independent hash, with d items. In an
    /// open domain nothing is visited; use [`HitDecoder::is_hit`].
    #[inline(always)]
    pub fn for_each_hit(&self, report: &Report, mut visit: impl FnMut(u32)) {
        let (keys, bucket) = self
            .element_to_bucket_hash
            .keys_and_bucket_of_cell(report.seed, report.bucket);
        match self.element_to_bucket_hash {
            ElementHash::Balanced(balanced) => match self.buckets_per_element {
                1 => balanced.for_each_slot_in_bucket(&keys, bucket, visit),
                width => balanced.for_each_slot_in_window(&keys, bucket, width, visit),
            },
            ElementHash::Independent { .. } => {
                for element in 0..self.total_item_elements() {
                    if self.bucket_contains(&keys, bucket, element.into()) {
                        visit(element);
                    }
                }
            }
        }
    }

    /// Returns true if the report hits `element` (see
    /// [`Domain::element`](crate::domain::Domain::element_of_signed_item)).
    #[inline]
    #[must_use]
    pub fn is_hit(&self, report: &Report, element: u64) -> bool {
        let (keys, bucket) = self
            .element_to_bucket_hash
            .keys_and_bucket_of_cell(report.seed, report.bucket);
        self.bucket_contains(&keys, bucket, element)
    }

    /// Returns true if `bucket` is one of the `width` consecutive buckets that contain the element.
    #[inline]
    fn bucket_contains(&self, keys: &HashKeys, bucket: u32, element: u64) -> bool {
        let (first, t) = (
            self.element_to_bucket_hash.bucket_of_element(keys, element),
            self.element_to_bucket_hash.bucket_count(),
        );
        // Distance from the element's first bucket, in cyclic order.
        bucket == first
            || (self.buckets_per_element > 1 && (bucket + t - first) % t < self.buckets_per_element)
    }
}
