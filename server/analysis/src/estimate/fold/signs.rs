//! Counting signs by the word: how many reports agree with each item's sign.
//!
//! One mix yields the signs of 64 items, so a report is d/64 words, a bit for each item. Adding
//! bits one by one would take 64 times as long; instead the counts stand upright, bit p of 64
//! items' counts in one word, the plane p, and sixteen reports at a time are added to them by full
//! adders on whole words (Harley and Seal's population count; Warren, "Hacker's Delight", 5-1).

use hushbin::hash::{Keys, closed_sign_word};

use super::counted::Hits;
use super::encoding::{self, Reader, TotalsError};

/// Reports that are added together.
const BLOCK: usize = 16;
/// log₂ of [`BLOCK`].
const BLOCK_PLANES: usize = 4;
/// Bits of an upright count.
const PLANES: usize = 12;
/// Blocks after which the upright counts could overflow.
const MOST_BLOCKS: u32 = (1 << (PLANES - BLOCK_PLANES)) - 1;

/// For each of d items, in how many reports the item's closed sign was the sign of the report.
#[derive(Debug, Clone)]
pub(crate) struct SignCounter {
    reports: u64,
    /// Reports that do not make a block yet: their keys, and all bits set where
    /// the report's sign is negative.
    waiting: Vec<(Keys, u64)>,
    /// Of 64 items each.
    planes: Vec<[u64; PLANES]>,
    /// Blocks that the planes hold.
    blocks: u32,
    /// Of each item, besides.
    counts: Vec<u64>,
}

impl SignCounter {
    pub(crate) fn new(items: usize) -> Self {
        Self {
            reports: 0,
            waiting: Vec::with_capacity(BLOCK),
            planes: vec![[0; PLANES]; items.div_ceil(64)],
            blocks: 0,
            counts: vec![0; items],
        }
    }

    /// Words that a report of so many items is.
    pub(crate) const fn words(items: usize) -> u64 {
        items.div_ceil(64) as u64
    }

    /// Adds a report of this sign, whose seed fixes the items' signs.
    #[inline]
    pub(crate) fn add(&mut self, keys: Keys, negative: bool) {
        self.reports += 1;
        self.waiting
            .push((keys, if negative { u64::MAX } else { 0 }));
        if self.waiting.len() == BLOCK {
            self.add_block();
        }
    }

    fn add_block(&mut self) {
        if self.blocks == MOST_BLOCKS {
            self.lay_down();
        }
        for (word, planes) in (0..).zip(&mut self.planes) {
            let mut agree = [0; BLOCK];
            for (agree, report) in agree.iter_mut().zip(&self.waiting) {
                *agree = agreeing(report, word);
            }
            add_upright(planes, agree);
        }
        self.waiting.clear();
        self.blocks += 1;
    }

    /// Moves what the planes hold to the counts.
    fn lay_down(&mut self) {
        for (planes, counts) in self.planes.iter_mut().zip(self.counts.chunks_mut(64)) {
            for (bit, count) in (0..).zip(counts) {
                *count += upright(planes, bit);
            }
            *planes = [0; PLANES];
        }
        self.blocks = 0;
    }

    /// Adds a counter of as many items.
    pub(crate) fn merge(&mut self, other: &Self) {
        assert_eq!(self.counts.len(), other.counts.len(), "totals of one task");
        self.reports += other.reports;
        for (count, more) in self.counts.iter_mut().zip(other.all()) {
            *count += more;
        }
    }

    /// Appends all counts.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        encoding::append_counts(self.all(), bytes);
    }

    /// Takes all counts of a number of reports.
    pub(crate) fn decode(
        &mut self,
        reports: u64,
        bytes: &mut Reader<'_>,
    ) -> Result<(), TotalsError> {
        self.reports = reports;
        let places = 0..self.counts.len();
        bytes.counts(places, 1, reports, |item, count| self.counts[item] = count)
    }

    /// What the planes of a word hold with the reports that wait.
    fn held(&self, word: usize) -> [u64; PLANES] {
        let mut planes = self.planes[word];
        let mut agree = [0; BLOCK];
        for (agree, report) in agree.iter_mut().zip(&self.waiting) {
            *agree = agreeing(report, word as u32);
        }
        // There is room: 16·255 reports in blocks and 15 more are 2¹² − 1.
        add_upright(&mut planes, agree);
        planes
    }

    /// Of each item, in how many reports its sign was that of the report.
    fn all(&self) -> impl Iterator<Item = u64> {
        let words = self.counts.chunks(64).enumerate();
        words.flat_map(|(word, counts)| {
            let planes = self.held(word);
            let counts = (0..).zip(counts);
            counts.map(move |(bit, count)| count + upright(&planes, bit))
        })
    }

    fn agreements(&self, item: usize) -> u64 {
        self.counts[item] + upright(&self.held(item / 64), item as u32 % 64)
    }

    /// In how many reports the item's sign was that of the report, and in how many it was not.
    pub(crate) fn hits(&self, item: u64) -> Hits {
        let agree = self.agreements(item as usize);
        [agree, self.reports - agree]
    }
}

/// Which of the items 64·`word` and on have the sign of the report.
#[inline(always)]
fn agreeing((keys, negative): &(Keys, u64), word: u32) -> u64 {
    closed_sign_word(keys, word) ^ negative
}

/// Adds words to upright counts: the carries of each plane, half as many, go to the next.
#[inline(always)]
fn add_upright(planes: &mut [u64; PLANES], mut carries: [u64; BLOCK]) {
    let (low, high) = planes.split_at_mut(BLOCK_PLANES);
    for (level, plane) in low.iter_mut().enumerate() {
        for i in 0..BLOCK >> (level + 1) {
            let (a, b) = (carries[2 * i], carries[2 * i + 1]);
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

fn upright(planes: &[u64; PLANES], bit: u32) -> u64 {
    let planes = planes.iter().enumerate();
    planes.map(|(p, plane)| (plane >> bit & 1) << p).sum()
}

#[cfg(test)]
mod tests {
    use hushbin::hash::closed_sign;
    use proptest::prelude::*;

    use super::*;

    /// One by one.
    fn scalar(items: usize, reports: &[(u64, bool)]) -> Vec<Hits> {
        let hits = |item| {
            let agrees = |&(seed, negative): &(u64, bool)| {
                (closed_sign(&Keys::new(seed), item) < 0) == negative
            };
            let agree = reports.iter().filter(|report| agrees(report)).count() as u64;
            [agree, reports.len() as u64 - agree]
        };
        (0..items as u32).map(hits).collect()
    }

    fn counted(items: usize, reports: &[(u64, bool)]) -> SignCounter {
        let mut counter = SignCounter::new(items);
        for &(seed, negative) in reports {
            counter.add(Keys::new(seed), negative);
        }
        counter
    }

    fn all(counter: &SignCounter) -> Vec<Hits> {
        let items = counter.counts.len() as u64;
        let hits: Vec<Hits> = (0..items).map(|item| counter.hits(item)).collect();
        assert!(counter.all().eq(hits.iter().map(|[agree, _]| *agree)));
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

    /// Every report agrees with the first item or none does, and the planes are
    /// laid down more than once.
    #[test]
    fn planes_do_not_overflow() {
        let reports = 3 * (BLOCK as u64) * u64::from(MOST_BLOCKS) + 15;
        let sign = |seed, item| closed_sign(&Keys::new(seed), item);
        let always: Vec<_> = (0..reports).map(|seed| (seed, sign(seed, 0) < 0)).collect();
        let counter = counted(3, &always);
        assert_eq!(counter.hits(0), [reports, 0]);
        assert_eq!(all(&counter), scalar(3, &always));
        let never: Vec<_> = (0..reports).map(|seed| (seed, sign(seed, 0) > 0)).collect();
        assert_eq!(counted(3, &never).hits(0), [0, reports]);
    }
}
