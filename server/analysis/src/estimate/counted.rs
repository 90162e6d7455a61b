//! Hits by item and sign: what mechanisms of buckets keep of reports.

use super::encoding::{self, Reader, TotalsError};
use super::people::People;

/// Two counts for each item.
pub(super) type Hits = [u64; 2];

/// Counts that merge by addition.
#[derive(Debug, Clone)]
pub(super) enum Counted {
    /// Of a closed domain, two counts in a row for each item, or one; behind the items'
    /// those of paddings and of slots that belong to nobody.
    Slots(Vec<u64>),
    /// Of an open domain, the items asked about, ascending.
    Items(Vec<(u64, Hits)>),
}

impl Counted {
    /// For a closed domain with so many counts.
    pub(super) fn slots(counts: usize) -> Self {
        Self::Slots(vec![0; counts])
    }

    /// For these items of an open domain.
    pub(super) fn items(items: &[u64]) -> Self {
        let mut counted: Vec<_> = items.iter().map(|&item| (item, [0; 2])).collect();
        counted.sort_unstable();
        Self::Items(counted)
    }

    /// Adds counts of the same task.
    pub(super) fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Slots(slots), Self::Slots(others)) => {
                assert_eq!(slots.len(), others.len(), "totals of one task");
                slots.iter_mut().zip(others).for_each(|(a, b)| *a += b);
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

    /// As [`Estimated::encode`](super::contract::Estimated::encode).
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Slots(slots) => encoding::append_counts(slots.iter().copied(), bytes),
            Self::Items(items) => encoding::append_nothing_of(items),
        }
    }

    /// As [`Estimated::decode`](super::contract::Estimated::decode), where each report is
    /// counted at most once in a row of so many counts.
    pub(super) fn decode(
        &mut self,
        row: usize,
        reports: u64,
        bytes: &mut Reader<'_>,
    ) -> Result<(), TotalsError> {
        match self {
            Self::Slots(slots) => bytes.counts(slots, row, reports),
            Self::Items(_) => Ok(()),
        }
    }

    /// The count of an item that is one element.
    pub(super) fn hits_of_element(&self, item: u64) -> u64 {
        match self {
            Self::Slots(slots) => slots[item as usize],
            Self::Items(_) => self.hits(item)[0],
        }
    }

    /// The counts of one item.
    pub(super) fn hits(&self, item: u64) -> Hits {
        match self {
            Self::Slots(slots) => {
                let first = 2 * item as usize;
                [slots[first], slots[first + 1]]
            }
            Self::Items(items) => {
                let index = items
                    .binary_search_by_key(&item, |(counted, _)| *counted)
                    .expect("only items that are counted are asked for");
                items[index].1
            }
        }
    }
}

/// Estimates of n reports from their hits, under one set of a mechanism's rates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimator<Rates> {
    pub(super) rates: Rates,
    pub(super) whose: People,
    pub(super) reports: f64,
}

impl<Rates> Estimator<Rates> {
    pub(super) fn new(rates: Rates, whose: People, reports: u64) -> Self {
        Self {
            rates,
            whose,
            reports: reports as f64,
        }
    }
}
