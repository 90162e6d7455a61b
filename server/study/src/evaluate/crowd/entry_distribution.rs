//! Crowds with the distributions of the papers. They are drawn in blocks of people.

use hushbin::Entry;
use hushbin::sample::move_random_subset_to_front;
use rand_core::Rng;
use rand_distr::{Distribution, Normal};

use super::data_set::EntryDataSet;
use super::random::ZipfItemDistribution;

/// Distribution of the entries that people have: items with a value each.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EntryDistribution<'a> {
    /// P1 and P2: each person has s distinct items, drawn uniformly. Each item has the value 1 or
    /// −1 with equal probability.
    Uniform,
    /// P3 as printed: each person has k distinct items, drawn by Zipf's law. Values are normal with
    /// mean 1.
    Zipf(ZipfItemDistribution),
    /// P3 as in its code: each person draws k times by Zipf's law. An item that is drawn repeatedly
    /// counts once. Every third item has the value −1, all other items have 1.
    ZipfAsCoded(ZipfItemDistribution),
    /// People of a data set, in order.
    DataSet(&'a EntryDataSet),
}

/// Exponent of Zipf's law in P3.
pub(crate) const ZIPF_EXPONENT: f64 = 1.4;
/// Standard deviation of the values in P3, before they are clipped to [−1, 1]. The mean of the
/// values is 1.
const VALUE_DEVIATION: f64 = 0.3;

/// Block of people with all entries.
#[derive(Debug, Clone, Default)]
pub(crate) struct PeopleBlock {
    entries: Vec<Entry>,
    entry_end_indices: Vec<usize>,
}

impl PeopleBlock {
    /// Returns the entries of each person, in ascending order of items.
    pub(crate) fn entries_by_person(&self) -> Vec<&[Entry]> {
        let begins = std::iter::once(&0).chain(&self.entry_end_indices);
        let spans = begins.zip(&self.entry_end_indices);
        spans
            .map(|(begin, end)| &self.entries[*begin..*end])
            .collect()
    }

    fn push_person(&mut self, mut entries: Vec<Entry>) {
        entries.sort_unstable_by_key(|entry| entry.item);
        self.entries.append(&mut entries);
        self.entry_end_indices.push(self.entries.len());
    }
}

impl EntryDistribution<'_> {
    /// Draws the block of people whose indices in the crowd are in `numbers`. Each person has at
    /// most `entries` of the `items` items, except in [`Self::DataSet`].
    pub(crate) fn draw_block<R: Rng + ?Sized>(
        self,
        numbers: std::ops::Range<usize>,
        items: u32,
        entries: u32,
        rng: &mut R,
    ) -> PeopleBlock {
        let mut block = PeopleBlock::default();
        let mut front: Vec<u32> = (0..items).collect();
        let mut last_owner = vec![usize::MAX; items as usize];
        let values = Normal::new(1.0, VALUE_DEVIATION).expect("the spread is finite");
        for person in numbers {
            let own = match self {
                Self::Uniform => {
                    move_random_subset_to_front(rng, &mut front, entries as usize);
                    let drawn = front[..entries as usize].iter();
                    drawn
                        .map(|&item| make_entry(item, draw_fair_sign(rng)))
                        .collect()
                }
                Self::Zipf(zipf) => {
                    let drawn = draw_distinct_items(entries, person, &mut last_owner, || {
                        zipf.draw_item(rng)
                    });
                    let mut value = || values.sample(rng).clamp(-1.0, 1.0);
                    drawn
                        .into_iter()
                        .map(|item| make_entry(item, value()))
                        .collect()
                }
                Self::ZipfAsCoded(zipf) => {
                    let mut drawn: Vec<u32> = (0..entries).map(|_| zipf.draw_item(rng)).collect();
                    drawn.sort_unstable();
                    drawn.dedup();
                    let value = |item: u32| if item.is_multiple_of(3) { -1.0 } else { 1.0 };
                    let all = drawn.into_iter();
                    all.map(|item| make_entry(item, value(item))).collect()
                }
                Self::DataSet(data) => data.entries_by_person()[person].clone(),
            };
            block.push_person(own);
        }
        block
    }
}

fn make_entry(item: u32, value: f64) -> Entry {
    Entry {
        item: u64::from(item),
        value,
    }
}

fn draw_fair_sign<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    if rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 }
}

/// Draws items until `count` of them are distinct, and returns the distinct items. `last_owner`
/// has, for each item, the index of the last person who drew it.
fn draw_distinct_items(
    count: u32,
    person: usize,
    // Storing the person's index avoids clearing `last_owner` for every person.
    last_owner: &mut [usize],
    mut draw: impl FnMut() -> u32,
) -> Vec<u32> {
    let mut drawn = Vec::with_capacity(count as usize);
    while drawn.len() < count as usize {
        let item = draw();
        if last_owner[item as usize] != person {
            last_owner[item as usize] = person;
            drawn.push(item);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushbin_tests::generators::seeded;

    #[test]
    fn people_have_what_they_should() {
        let (zipf, rng) = (ZipfItemDistribution::new(50, ZIPF_EXPONENT), &mut seeded(2));
        for (workload, exactly) in [
            (EntryDistribution::Uniform, true),
            (EntryDistribution::Zipf(zipf), true),
            (EntryDistribution::ZipfAsCoded(zipf), false),
        ] {
            let block = workload.draw_block(0..500, 50, 8, rng);
            let people = block.entries_by_person();
            assert_eq!(people.len(), 500);
            for own in people {
                assert!(if exactly {
                    own.len() == 8
                } else {
                    own.len() <= 8
                });
                assert!(own.windows(2).all(|pair| pair[0].item < pair[1].item));
                assert!(own.iter().all(|entry| entry.value.abs() <= 1.0));
            }
        }
    }
}
