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
}

/// The number of people that a task is planned for where nothing is said.
pub const PEOPLE: f64 = 10_000.0;

impl Population {
    /// So many people, each with this many entries.
    #[must_use]
    pub fn even(people: f64, entries: u32) -> Self {
        Self {
            people,
            shares: alloc::vec![(entries, 1.0)],
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
        Ok(Self { people, shares })
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

    /// Sum over items of the squared bias when of each value of a person with r
    /// entries a part `lost(r)` is lost on average, in the worst case: all people
    /// have the same items, those with few the first of those with many. Item j
    /// then loses the average of `lost` over people with more than j.
    pub(crate) fn squared_bias(&self, lost: impl Fn(u32) -> f64) -> f64 {
        let (mut sum, mut bias) = (0.0, 0.0);
        for (index, &(entries, share)) in self.shares.iter().enumerate().rev() {
            bias += share * lost(entries);
            let fewer = index.checked_sub(1).map_or(0, |next| self.shares[next].0);
            sum += f64::from(entries - fewer) * bias * bias;
        }
        sum
    }
}
