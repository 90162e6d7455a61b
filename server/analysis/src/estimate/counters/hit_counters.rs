//! Counts of hits by item and sign, for mechanisms whose reports name a bucket.

use std::ops::Range;

use super::encoding::{self, TotalsError, TotalsReader};

/// Pair of counts for one item: hits with a positive and with a negative sign.
pub(crate) type HitsBySign = [u64; 2];

/// Counters that reports increment in random order. The lowest byte of each count is stored
/// separately. For a million counters, these bytes fit into the cache, which makes folding twice as
/// fast.
#[derive(Debug, Clone)]
pub(crate) struct SlotCounters {
    /// Lowest byte of each count.
    low_bytes: Vec<u8>,
    /// Remaining bits of each count.
    high_bits: Vec<u64>,
}

impl SlotCounters {
    pub(crate) fn new(counts: usize) -> Self {
        Self {
            low_bytes: vec![0; counts],
            high_bits: vec![0; counts],
        }
    }

    /// Adds 1 to a count.
    #[inline(always)]
    pub(crate) fn increment(&mut self, slot: usize) {
        let (low, carry) = self.low_bytes[slot].overflowing_add(1);
        self.low_bytes[slot] = low;
        // A carry happens once in 256 hits.
        if carry {
            self.high_bits[slot] += 1;
        }
    }

    fn len(&self) -> usize {
        self.low_bytes.len()
    }

    /// Returns the range of all slots.
    pub(crate) fn slot_range(&self) -> Range<usize> {
        0..self.len()
    }

    pub(crate) fn get(&self, slot: usize) -> u64 {
        self.high_bits[slot] << 8 | u64::from(self.low_bytes[slot])
    }

    /// Returns both counts of one item, if each item has two consecutive counters.
    pub(crate) fn hits_of_item_by_sign(&self, item: u64) -> HitsBySign {
        let first = 2 * item as usize;
        [self.get(first), self.get(first + 1)]
    }

    fn set(&mut self, slot: usize, count: u64) {
        self.low_bytes[slot] = count as u8;
        self.high_bits[slot] = count >> 8;
    }

    pub(crate) fn merge(&mut self, others: &Self) {
        assert_eq!(self.len(), others.len(), "totals of one task");
        for slot in 0..self.len() {
            self.set(slot, self.get(slot) + others.get(slot));
        }
    }

    /// Appends the encoded counts of the slots `own`.
    pub(crate) fn encode(&self, own: Range<usize>, bytes: &mut Vec<u8>) {
        encoding::append_counts(own.map(|slot| self.get(slot)), bytes);
    }

    /// Decodes the counts of the slots `own`. A report increments at most one counter in each group
    /// of `row` consecutive ones.
    pub(crate) fn decode(
        &mut self,
        own: Range<usize>,
        row: usize,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        bytes.read_counts(own, row, reports, |slot, count| self.set(slot, count))
    }
}

/// Hit counts of a closed or an open domain. They merge by addition.
#[derive(Debug, Clone)]
pub(crate) enum HitCounters {
    /// Counters of a closed domain: two consecutive ones per item, or one if items have no sign.
    /// Counters of padding elements and of unused slots follow.
    ClosedDomain(SlotCounters),
    /// Counters of the queried items of an open domain, in ascending order of keys.
    OpenDomain(Vec<(u64, HitsBySign)>),
}

impl HitCounters {
    /// Creates `counts` counters for a closed domain.
    pub(crate) fn for_closed_domain(counts: usize) -> Self {
        Self::ClosedDomain(SlotCounters::new(counts))
    }

    /// Creates counters for these items of an open domain.
    pub(crate) fn for_queried_items(items: &[u64]) -> Self {
        let mut counted: Vec<_> = items.iter().map(|&item| (item, [0; 2])).collect();
        counted.sort_unstable();
        Self::OpenDomain(counted)
    }

    /// Adds counts that belong to the same task.
    pub(crate) fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::ClosedDomain(slots), Self::ClosedDomain(others)) => {
                slots.merge(others);
            }
            (Self::OpenDomain(items), Self::OpenDomain(others)) => {
                assert_eq!(items.len(), others.len(), "totals of the same items");
                for ((item, hits), (other, more)) in items.iter_mut().zip(others) {
                    assert_eq!(item, other, "totals of the same items");
                    hits.iter_mut().zip(more).for_each(|(a, b)| *a += b);
                }
            }
            _ => panic!("totals of one task are of one shape"),
        }
    }

    /// Appends the encoded counts.
    ///
    /// # Panics
    /// If the domain is open and has queried items.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::ClosedDomain(slots) => slots.encode(slots.slot_range(), bytes),
            Self::OpenDomain(items) => encoding::assert_no_counted_items(items),
        }
    }

    /// Decodes all counts of `reports` reports. A report increments at most one counter in each
    /// group of `row` consecutive ones.
    pub(crate) fn decode(
        &mut self,
        row: usize,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        match self {
            Self::ClosedDomain(slots) => slots.decode(slots.slot_range(), row, reports, bytes),
            Self::OpenDomain(_) => Ok(()),
        }
    }

    /// Returns the number of hits on an item without signs. Such an item is a single element.
    pub(crate) fn hits_of_unsigned_item(&self, item: u64) -> u64 {
        match self {
            Self::ClosedDomain(slots) => slots.get(item as usize),
            Self::OpenDomain(_) => self.hits_by_sign(item)[0],
        }
    }

    /// Returns the number of hits on an item with a positive sign, and the number with a negative
    /// sign.
    pub(crate) fn hits_by_sign(&self, item: u64) -> HitsBySign {
        match self {
            Self::ClosedDomain(slots) => slots.hits_of_item_by_sign(item),
            Self::OpenDomain(items) => {
                let index = items
                    .binary_search_by_key(&item, |(counted, _)| *counted)
                    .expect("only items that are counted are asked for");
                items[index].1
            }
        }
    }
}
