//! Crowds drawn as in the papers, a block of people at a time.

use hushbin::Entry;
use hushbin::sample::choose_front;
use rand_core::Rng;
use rand_distr::{Distribution, Normal};

use super::data_set::DataSet;
use super::random::Zipf;

/// Distribution of people's entries.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Workload<'a> {
    /// s distinct items, uniform, with fair signs: P1 and P2.
    Uniform,
    /// k distinct items by Zipf's law, with normal values around 1: P3 as printed.
    Zipf(Zipf),
    /// k draws by Zipf's law, repeated items counted once: P3's code. Every third item has the
    /// value −1, all others 1.
    ZipfAsCoded(Zipf),
    /// People of a data set, in order.
    Data(&'a DataSet),
}

/// Exponent of Zipf's law in P3.
pub(crate) const EXPONENT: f64 = 1.4;
/// Standard deviation of P3's values, whose mean is 1, before they are clipped to 1.
const SPREAD: f64 = 0.3;

/// A block of people with all entries.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    entries: Vec<Entry>,
    ends: Vec<usize>,
}

impl Block {
    /// Returns each person's entries, ascending by item.
    pub(crate) fn people(&self) -> Vec<&[Entry]> {
        let begins = std::iter::once(&0).chain(&self.ends);
        let spans = begins.zip(&self.ends);
        spans
            .map(|(begin, end)| &self.entries[*begin..*end])
            .collect()
    }

    fn add(&mut self, mut entries: Vec<Entry>) {
        entries.sort_unstable_by_key(|entry| entry.item);
        self.entries.append(&mut entries);
        self.ends.push(self.entries.len());
    }
}

impl Workload<'_> {
    /// Draws the people `numbers`, with at most `entries` of `items` items each.
    pub(crate) fn draw<R: Rng + ?Sized>(
        self,
        numbers: std::ops::Range<usize>,
        items: u32,
        entries: u32,
        rng: &mut R,
    ) -> Block {
        let mut block = Block::default();
        let mut front: Vec<u32> = (0..items).collect();
        let mut seen = vec![usize::MAX; items as usize];
        let values = Normal::new(1.0, SPREAD).expect("the spread is finite");
        for person in numbers {
            let own = match self {
                Self::Uniform => {
                    choose_front(rng, &mut front, entries as usize);
                    let drawn = front[..entries as usize].iter();
                    drawn.map(|&item| rated(item, sign(rng))).collect()
                }
                Self::Zipf(zipf) => {
                    let drawn = distinct(entries, person, &mut seen, || zipf.draw(rng));
                    let mut value = || values.sample(rng).clamp(-1.0, 1.0);
                    drawn.into_iter().map(|item| rated(item, value())).collect()
                }
                Self::ZipfAsCoded(zipf) => {
                    let mut drawn: Vec<u32> = (0..entries).map(|_| zipf.draw(rng)).collect();
                    drawn.sort_unstable();
                    drawn.dedup();
                    let value = |item: u32| if item.is_multiple_of(3) { -1.0 } else { 1.0 };
                    let all = drawn.into_iter();
                    all.map(|item| rated(item, value(item))).collect()
                }
                Self::Data(data) => data.people()[person].clone(),
            };
            block.add(own);
        }
        block
    }
}

fn rated(item: u32, value: f64) -> Entry {
    Entry {
        item: u64::from(item),
        value,
    }
}

fn sign<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    if rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 }
}

/// Returns the first `count` distinct draws. `seen` has the last person with each item.
fn distinct(
    count: u32,
    person: usize,
    // Storing the person's number avoids clearing `seen` for every person.
    seen: &mut [usize],
    mut draw: impl FnMut() -> u32,
) -> Vec<u32> {
    let mut drawn = Vec::with_capacity(count as usize);
    while drawn.len() < count as usize {
        let item = draw();
        if seen[item as usize] != person {
            seen[item as usize] = person;
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
        let (zipf, rng) = (Zipf::new(50, EXPONENT), &mut seeded(2));
        for (workload, exactly) in [
            (Workload::Uniform, true),
            (Workload::Zipf(zipf), true),
            (Workload::ZipfAsCoded(zipf), false),
        ] {
            let block = workload.draw(0..500, 50, 8, rng);
            let people = block.people();
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
