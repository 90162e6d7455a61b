//! The people whom a task is planned for.

use alloc::vec::Vec;

use crate::bounds;
use crate::error::Error;

/// A number of people, with the share of them that has 0, 1, 2, … entries.
///
/// ```
/// use hushbin::choose::Population;
///
/// // Of 10,000 people 6,000 have one entry and 1,000 have three.
/// let population = Population::from_counts(&[2000, 6000, 1000, 1000])?;
/// assert_eq!(population.people(), 10_000.0);
/// assert_eq!(population.average(f64::from), 1.1);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    people: f64,
    /// Numbers of entries with the share of people who have so many, ascending.
    shares: Vec<(u32, f64)>,
    /// Number of items that two people have in common on average, where it is known.
    pub(super) overlap: Option<f64>,
}

/// The number of people that a task is planned for where nothing is said.
pub(crate) const PEOPLE: f64 = 10_000.0;

impl Population {
    /// So many people, each with this many entries.
    #[must_use]
    pub fn even(people: f64, entries: u32) -> Self {
        Self {
            people,
            shares: alloc::vec![(entries, 1.0)],
            overlap: None,
        }
    }

    /// By counts: the i-th is how many people have i entries, from 0 on.
    ///
    /// # Errors
    /// [`Error::Combination`] when nobody has an entry; [`Error::OutOfRange`] when
    /// somebody has more than [`bounds::ENTRIES`].
    pub fn from_counts(counts: &[u64]) -> Result<Self, Error> {
        let people: f64 = counts.iter().map(|&count| count as f64).sum();
        let empty = counts.iter().skip(1).all(|&count| count == 0);
        bounds::ENTRIES.check((counts.len() as f64 - 1.0).max(0.0))?;
        if empty {
            return Err(Error::Combination {
                reason: "\"entries\" is to count people by their number of entries, from 0 on, some with at least one",
            });
        }
        let shares = (0..)
            .zip(counts)
            .filter(|(_, count)| **count > 0)
            .map(|(entries, &count)| (entries, count as f64 / people))
            .collect();
        let even = Self::even(people, 0);
        Ok(Self { shares, ..even })
    }

    /// The same shares of another number of people.
    #[must_use]
    pub fn with_people(self, people: f64) -> Self {
        Self { people, ..self }
    }

    /// n.
    #[must_use]
    pub const fn people(&self) -> f64 {
        self.people
    }

    /// Whether all people have the same number of entries.
    #[must_use]
    pub fn is_even(&self) -> bool {
        self.shares.len() == 1
    }

    /// The largest number of entries.
    #[must_use]
    pub(crate) fn most_entries(&self) -> u32 {
        self.shares.last().map_or(0, |share| share.0)
    }

    /// The average over people of a function of their number of entries.
    pub fn average(&self, value: impl Fn(u32) -> f64) -> f64 {
        let weighted = |&(entries, share): &(u32, f64)| share * value(entries);
        self.shares.iter().map(weighted).sum()
    }

    /// Sum over items of the squared bias if a part `lost(r)` of each value of a person with
    /// r entries is lost on average. In the worst case, at `alike` 1, all people have the same
    /// items, those with few the first of those with many: two people share the r of the one
    /// with fewer. Otherwise they share in proportion to r·r' / (1 + alike·(r' − 1)), r' ≥ r.
    pub(crate) fn squared_bias(&self, alike: f64, lost: impl Fn(u32) -> f64) -> f64 {
        let (mut sum, mut fewer) = (0.0, 0.0);
        for &(entries, share) in self.shares.iter().filter(|own| own.0 > 0) {
            let own = share * f64::from(entries) * lost(entries);
            sum += own * (2.0 * fewer + own) / (1.0 + alike * f64::from(entries - 1));
            fewer += own;
        }
        sum
    }

    /// Returns the squared bias, summed over `items`, by which parameters are chosen.
    ///
    /// An unknown overlap is taken to lie midway, by factors, between that of evenly popular
    /// items and half of the greatest. Between even popularity and Zipf's law of exponent 1.5
    /// the error is then up to 2.9 times the least. No assumption makes that less than 2.5.
    pub(crate) fn likely_squared_bias(&self, items: f64, lost: impl Fn(u32) -> f64) -> f64 {
        let greatest = self.squared_bias(1.0, |_| 1.0);
        if greatest == 0.0 {
            return 0.0;
        }
        let average = self.average(f64::from);
        let even = average * average / items;
        let midway = libm::sqrt(even * greatest / 2.0).max(even);
        let overlap = self.overlap.unwrap_or(midway).min(greatest);
        let alike = overlap / greatest;
        overlap * self.squared_bias(alike, lost) / self.squared_bias(alike, |_| 1.0)
    }
}
