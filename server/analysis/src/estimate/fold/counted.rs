//! Hits by item and sign: what mechanisms of buckets keep of reports.

use std::ops::Range;

use super::encoding::{self, Reader, TotalsError};

/// Two counts for each item.
pub(crate) type Hits = [u64; 2];

/// Counts that reports add to all over the place: apart from the rest, the lowest bytes of
/// a million stay in the cache, which makes folding two times as fast.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    /// Each count's lowest byte.
    low: Vec<u8>,
    /// What is above it.
    high: Vec<u64>,
}

impl Slots {
    pub(crate) fn new(counts: usize) -> Self {
        Self {
            low: vec![0; counts],
            high: vec![0; counts],
        }
    }

    /// Adds 1 to a count.
    #[inline(always)]
    pub(crate) fn count(&mut self, slot: usize) {
        let (low, carry) = self.low[slot].overflowing_add(1);
        self.low[slot] = low;
        if carry {
            self.high[slot] += 1;
        }
    }

    fn len(&self) -> usize {
        self.low.len()
    }

    /// Range of all slots.
    pub(crate) fn all(&self) -> Range<usize> {
        0..self.len()
    }

    pub(crate) fn get(&self, slot: usize) -> u64 {
        self.high[slot] << 8 | u64::from(self.low[slot])
    }

    /// The two counts of one item.
    pub(crate) fn pair(&self, item: u64) -> Hits {
        let first = 2 * item as usize;
        [self.get(first), self.get(first + 1)]
    }

    fn set(&mut self, slot: usize, count: u64) {
        self.low[slot] = count as u8;
        self.high[slot] = count >> 8;
    }

    pub(crate) fn merge(&mut self, others: &Self) {
        assert_eq!(self.len(), others.len(), "totals of one task");
        for slot in 0..self.len() {
            self.set(slot, self.get(slot) + others.get(slot));
        }
    }

    /// Appends the counts of these slots.
    pub(crate) fn encode(&self, own: Range<usize>, bytes: &mut Vec<u8>) {
        encoding::append_counts(own.map(|slot| self.get(slot)), bytes);
    }

    /// Takes the counts of these slots, where each report is counted at most once in a row
    /// of so many.
    pub(crate) fn decode(
        &mut self,
        own: Range<usize>,
        row: usize,
        reports: u64,
        bytes: &mut Reader<'_>,
    ) -> Result<(), TotalsError> {
        bytes.counts(own, row, reports, |slot, count| self.set(slot, count))
    }
}

/// Counts that merge by addition.
#[derive(Debug, Clone)]
pub(crate) enum Counted {
    /// Of a closed domain, two counts in a row for each item, or one; behind the items'
    /// those of paddings and of slots that belong to nobody.
    Slots(Slots),
    /// Of an open domain, the items asked about, ascending.
    Items(Vec<(u64, Hits)>),
}

impl Counted {
    /// For a closed domain with so many counts.
    pub(crate) fn slots(counts: usize) -> Self {
        Self::Slots(Slots::new(counts))
    }

    /// For these items of an open domain.
    pub(crate) fn items(items: &[u64]) -> Self {
        let mut counted: Vec<_> = items.iter().map(|&item| (item, [0; 2])).collect();
        counted.sort_unstable();
        Self::Items(counted)
    }

    /// Adds counts of the same task.
    pub(crate) fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Slots(slots), Self::Slots(others)) => {
                slots.merge(others);
            }
            (Self::Items(items), Self::Items(others)) => {
                assert_eq!(items.len(), others.len(), "totals of the same items");
                for ((item, hits), (other, more)) in items.iter_mut().zip(others) {
                    assert_eq!(item, other, "totals of the same items");
                    hits.iter_mut().zip(more).for_each(|(a, b)| *a += b);
                }
            }
            _ => panic!("totals of one task are of one shape"),
        }
    }

    /// Appends all counts.
    ///
    /// # Panics
    /// If they are of items of an open domain.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Slots(slots) => slots.encode(slots.all(), bytes),
            Self::Items(items) => encoding::append_nothing_of(items),
        }
    }

    /// Takes all counts of a number of reports, each counted at most once in a row of `row` counts.
    pub(crate) fn decode(
        &mut self,
        row: usize,
        reports: u64,
        bytes: &mut Reader<'_>,
    ) -> Result<(), TotalsError> {
        match self {
            Self::Slots(slots) => slots.decode(slots.all(), row, reports, bytes),
            Self::Items(_) => Ok(()),
        }
    }

    /// The count of an item that is one element.
    pub(crate) fn hits_of_element(&self, item: u64) -> u64 {
        match self {
            Self::Slots(slots) => slots.get(item as usize),
            Self::Items(_) => self.hits(item)[0],
        }
    }

    /// The counts of one item.
    pub(crate) fn hits(&self, item: u64) -> Hits {
        match self {
            Self::Slots(slots) => slots.pair(item),
            Self::Items(items) => {
                let index = items
                    .binary_search_by_key(&item, |(counted, _)| *counted)
                    .expect("only items that are counted are asked for");
                items[index].1
            }
        }
    }
}
