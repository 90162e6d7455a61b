//! Bit-parallel counters of sign reports: for each item, the number of reports whose sign agrees
//! with the item's sign.
//!
//! One call of the mixing function yields the signs of 64 items. So a report over d items takes
//! d/64 words, with one bit per item. Adding bits one by one would take 64 times as long. So counts
//! are stored as bit planes: plane p holds bit p of 64 items' counts in one word. Full adders on
//! whole words add sixteen reports at a time (Harley and Seal's population count; Warren, "Hacker's
//! Delight", 5-1).

use hushbin::hash::{HashKeys, sign_word_of_closed_elements};

use super::encoding::{self, TotalsError, TotalsReader};
use super::hit_counters::HitsBySign;

/// Number of reports that are added together.
const REPORTS_PER_BLOCK: usize = 16;
/// Base-2 logarithm of [`REPORTS_PER_BLOCK`].
const LOG2_REPORTS_PER_BLOCK: usize = 4;
/// Number of bit planes.
const BIT_PLANE_COUNT: usize = 12;
/// Maximum number of blocks in the planes. One more could overflow them.
const MAX_UNFLUSHED_BLOCKS: u32 = (1 << (BIT_PLANE_COUNT - LOG2_REPORTS_PER_BLOCK)) - 1;

/// Counter with one count for each of d items: the number of reports whose sign equals the item's
/// sign. The closed sign hash determines the items' signs from the report's keys.
#[derive(Debug, Clone)]
pub(crate) struct ItemSignAgreementCounter {
    reports: u64,
    /// Reports of the incomplete block, each as its hash keys and a mask. The mask is all ones if
    /// the report's sign is negative, otherwise 0.
    waiting_reports: Vec<(HashKeys, u64)>,
    /// Bit planes of the counts, for groups of 64 items.
    planes: Vec<[u64; BIT_PLANE_COUNT]>,
    /// Number of blocks added to the planes since they were last cleared.
    unflushed_block_count: u32,
    /// Count of each item, excluding the reports in the planes and the waiting ones.
    flushed_counts: Vec<u64>,
}

impl ItemSignAgreementCounter {
    pub(crate) fn new(items: usize) -> Self {
        Self {
            reports: 0,
            waiting_reports: Vec::with_capacity(REPORTS_PER_BLOCK),
            planes: vec![[0; BIT_PLANE_COUNT]; items.div_ceil(64)],
            unflushed_block_count: 0,
            flushed_counts: vec![0; items],
        }
    }

    /// Returns the number of 64-bit words that a report over `items` items updates.
    pub(crate) const fn words_per_report(items: usize) -> u64 {
        items.div_ceil(64) as u64
    }

    /// Adds a report. `negative` is true if the report's sign is negative, and `keys` determine the
    /// items' signs.
    #[inline]
    pub(crate) fn add_report(&mut self, keys: HashKeys, negative: bool) {
        self.reports += 1;
        self.waiting_reports
            .push((keys, if negative { u64::MAX } else { 0 }));
        if self.waiting_reports.len() == REPORTS_PER_BLOCK {
            self.add_waiting_block();
        }
    }

    fn add_waiting_block(&mut self) {
        if self.unflushed_block_count == MAX_UNFLUSHED_BLOCKS {
            self.flush_planes();
        }
        for (word, planes) in (0..).zip(&mut self.planes) {
            let mut agree = [0; REPORTS_PER_BLOCK];
            for (agree, report) in agree.iter_mut().zip(&self.waiting_reports) {
                *agree = agreement_mask(report, word);
            }
            add_to_planes(planes, agree);
        }
        self.waiting_reports.clear();
        self.unflushed_block_count += 1;
    }

    /// Adds the planes to the counts, then clears the planes.
    fn flush_planes(&mut self) {
        for (planes, counts) in self
            .planes
            .iter_mut()
            .zip(self.flushed_counts.chunks_mut(64))
        {
            for (bit, count) in (0..).zip(counts) {
                *count += item_count_in_planes(planes, bit);
            }
            *planes = [0; BIT_PLANE_COUNT];
        }
        self.unflushed_block_count = 0;
    }

    /// Adds the counts of another counter with the same number of items.
    pub(crate) fn merge(&mut self, other: &Self) {
        assert_eq!(
            self.flushed_counts.len(),
            other.flushed_counts.len(),
            "totals of one task"
        );
        self.reports += other.reports;
        // The other counter's counts go into the plain counts, so the planes cannot overflow.
        for (count, more) in self.flushed_counts.iter_mut().zip(other.agreement_counts()) {
            *count += more;
        }
    }

    /// Appends the encoded counts.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        encoding::append_counts(self.agreement_counts(), bytes);
    }

    /// Decodes the counts of `reports` reports.
    pub(crate) fn decode(
        &mut self,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        self.reports = reports;
        let places = 0..self.flushed_counts.len();
        bytes.read_counts(places, 1, reports, |item, count| {
            self.flushed_counts[item] = count;
        })
    }

    /// Returns the planes of the group of 64 items at index `word`, with the waiting reports added.
    fn planes_with_waiting(&self, word: usize) -> [u64; BIT_PLANE_COUNT] {
        let mut planes = self.planes[word];
        let mut agree = [0; REPORTS_PER_BLOCK];
        for (agree, report) in agree.iter_mut().zip(&self.waiting_reports) {
            *agree = agreement_mask(report, word as u32);
        }
        // No overflow: 16·255 reports in blocks and 15 waiting ones are 2¹² − 1.
        add_to_planes(&mut planes, agree);
        planes
    }

    /// Returns the number of agreeing reports for each item.
    fn agreement_counts(&self) -> impl Iterator<Item = u64> {
        let words = self.flushed_counts.chunks(64).enumerate();
        words.flat_map(|(word, counts)| {
            let planes = self.planes_with_waiting(word);
            let counts = (0..).zip(counts);
            counts.map(move |(bit, count)| count + item_count_in_planes(&planes, bit))
        })
    }

    fn agreements_of_item(&self, item: usize) -> u64 {
        self.flushed_counts[item]
            + item_count_in_planes(&self.planes_with_waiting(item / 64), item as u32 % 64)
    }

    /// Returns the number of reports whose sign equals the item's sign, and the number of all other
    /// reports.
    pub(crate) fn agreements_and_disagreements(&self, item: u64) -> HitsBySign {
        let agree = self.agreements_of_item(item as usize);
        [agree, self.reports - agree]
    }
}

/// Returns a mask of 64 items, from item 64·`word` on. A bit is 1 if the item's sign equals the
/// report's sign.
#[inline(always)]
fn agreement_mask((keys, negative): &(HashKeys, u64), word: u32) -> u64 {
    sign_word_of_closed_elements(keys, word) ^ negative
}

/// Adds one bit per report and item to the bit planes of 64 items. Each of the lowest planes passes
/// on half as many carries as it receives.
#[inline(always)]
fn add_to_planes(planes: &mut [u64; BIT_PLANE_COUNT], mut carries: [u64; REPORTS_PER_BLOCK]) {
    let (low, high) = planes.split_at_mut(LOG2_REPORTS_PER_BLOCK);
    for (level, plane) in low.iter_mut().enumerate() {
        for i in 0..REPORTS_PER_BLOCK >> (level + 1) {
            let (a, b) = (carries[2 * i], carries[2 * i + 1]);
            // Full adder of a, b and the plane: the carry is the majority.
            let odd = a ^ b;
            carries[i] = (a & b) | (odd & *plane);
            *plane ^= odd;
        }
    }
    let mut carry = carries[0];
    for plane in high {
        (*plane, carry) = (*plane ^ carry, *plane & carry);
    }
}

fn item_count_in_planes(planes: &[u64; BIT_PLANE_COUNT], bit: u32) -> u64 {
    let planes = planes.iter().enumerate();
    planes.map(|(p, plane)| (plane >> bit & 1) << p).sum()
}

#[cfg(test)]
mod tests {
    use hushbin::hash::hashed_closed_element_sign;
    use proptest::prelude::*;

    use super::*;

    /// Counts one report and one item at a time, without bit planes.
    fn scalar(items: usize, reports: &[(u64, bool)]) -> Vec<HitsBySign> {
        let hits = |item| {
            let agrees = |&(seed, negative): &(u64, bool)| {
                (hashed_closed_element_sign(&HashKeys::new(seed), item) < 0) == negative
            };
            let agree = reports.iter().filter(|report| agrees(report)).count() as u64;
            [agree, reports.len() as u64 - agree]
        };
        (0..items as u32).map(hits).collect()
    }

    fn counted(items: usize, reports: &[(u64, bool)]) -> ItemSignAgreementCounter {
        let mut counter = ItemSignAgreementCounter::new(items);
        for &(seed, negative) in reports {
            counter.add_report(HashKeys::new(seed), negative);
        }
        counter
    }

    fn all(counter: &ItemSignAgreementCounter) -> Vec<HitsBySign> {
        let items = counter.flushed_counts.len() as u64;
        let hits: Vec<HitsBySign> = (0..items)
            .map(|item| counter.agreements_and_disagreements(item))
            .collect();
        assert!(
            counter
                .agreement_counts()
                .eq(hits.iter().map(|[agree, _]| *agree))
        );
        hits
    }

    proptest! {
        #[test]
        fn words_count_what_bits_count(
            items in 1usize..200,
            reports in prop::collection::vec(any::<(u64, bool)>(), 0..200),
            at in any::<prop::sample::Index>(),
        ) {
            let expected = scalar(items, &reports);
            prop_assert_eq!(all(&counted(items, &reports)), &expected[..]);
            let (some, others) = reports.split_at(at.index(reports.len() + 1));
            let mut merged = counted(items, some);
            merged.merge(&counted(items, others));
            prop_assert_eq!(all(&merged), &expected[..]);
        }
    }

    /// Every report agrees with the first item, or no report does. The planes are flushed several
    /// times.
    #[test]
    fn planes_do_not_overflow() {
        let reports = 3 * (REPORTS_PER_BLOCK as u64) * u64::from(MAX_UNFLUSHED_BLOCKS) + 15;
        let sign = |seed, item| hashed_closed_element_sign(&HashKeys::new(seed), item);
        let always: Vec<_> = (0..reports).map(|seed| (seed, sign(seed, 0) < 0)).collect();
        let counter = counted(3, &always);
        assert_eq!(counter.agreements_and_disagreements(0), [reports, 0]);
        assert_eq!(all(&counter), scalar(3, &always));
        let never: Vec<_> = (0..reports).map(|seed| (seed, sign(seed, 0) > 0)).collect();
        assert_eq!(
            counted(3, &never).agreements_and_disagreements(0),
            [0, reports]
        );
    }
}
