//! Population for which a task is planned.

use alloc::vec::Vec;

use crate::bounds;
use crate::error::Error;

/// Number of people, with the shares of people who have 0, 1, 2, … entries.
///
/// ```
/// use hushbin::choose::Population;
///
/// // Of 10,000 people 6,000 have one entry and 1,000 have three.
/// let population = Population::from_people_by_entry_count(&[2000, 6000, 1000, 1000])?;
/// assert_eq!(population.people_count(), 10_000.0);
/// assert_eq!(population.average_over_people(f64::from), 1.1);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    people_count: f64,
    /// Pairs of a number of entries and the share of people who have that number, in ascending
    /// order.
    entry_count_shares: Vec<(u32, f64)>,
    /// Average number of items that two people have in common, or `None` if unknown.
    pub(super) mean_shared_item_count: Option<f64>,
}

/// Default number of people for which a task is planned.
pub(crate) const DEFAULT_PEOPLE_COUNT: f64 = 10_000.0;

impl Population {
    /// Creates a population of `people` people with `entries` entries each.
    #[must_use]
    pub fn with_equal_entries(people: f64, entries: u32) -> Self {
        Self {
            people_count: people,
            entry_count_shares: alloc::vec![(entries, 1.0)],
            mean_shared_item_count: None,
        }
    }

    /// Creates a population from counts. Element i of `counts` is the number of people with i
    /// entries, for i from 0.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if there are no entries; [`Error::OutOfRange`] if a person has more
    /// than [`bounds::ENTRIES_PER_PERSON_RANGE`].
    pub fn from_people_by_entry_count(counts: &[u64]) -> Result<Self, Error> {
        let people: f64 = counts.iter().map(|&count| count as f64).sum();
        let empty = counts.iter().skip(1).all(|&count| count == 0);
        bounds::ENTRIES_PER_PERSON_RANGE.check_in_range((counts.len() as f64 - 1.0).max(0.0))?;
        if empty {
            return Err(Error::InvalidCombination {
                reason: "\"entries\" must list the number of people with 0, 1, 2, … entries, and \
                         someone must have an entry",
            });
        }
        let shares = (0..)
            .zip(counts)
            .filter(|(_, count)| **count > 0)
            .map(|(entries, &count)| (entries, count as f64 / people))
            .collect();
        let even = Self::with_equal_entries(people, 0);
        Ok(Self {
            entry_count_shares: shares,
            ..even
        })
    }

    /// Replaces the number of people and keeps the shares.
    #[must_use]
    pub fn with_people_count(self, people: f64) -> Self {
        Self {
            people_count: people,
            ..self
        }
    }

    /// Returns the number n of people.
    #[must_use]
    pub const fn people_count(&self) -> f64 {
        self.people_count
    }

    /// Returns whether all people have the same number of entries.
    #[must_use]
    pub fn has_equal_entries(&self) -> bool {
        self.entry_count_shares.len() == 1
    }

    /// Returns the maximum number of entries of one person.
    #[must_use]
    pub(crate) fn max_entries(&self) -> u32 {
        self.entry_count_shares.last().map_or(0, |share| share.0)
    }

    /// Returns the average of a function of the number of entries, over all people.
    pub fn average_over_people(&self, value: impl Fn(u32) -> f64) -> f64 {
        let weighted = |&(entries, share): &(u32, f64)| share * value(entries);
        self.entry_count_shares.iter().map(weighted).sum()
    }

    /// Returns the squared bias of the means, summed over items. Each value of a person with r
    /// entries shrinks, on average, by the fraction `lost(r)`.
    ///
    /// The parameter `alike` measures how similar the items of different people are. The worst case
    /// is `alike` = 1. All people then have the same items, and people with few entries have the
    /// first of these items. Two people with r ≤ r' entries share r items. For smaller `alike`, the
    /// number of shared items is proportional to r·r' / (1 + alike·(r' − 1)).
    pub(crate) fn squared_bias_at_similarity(&self, alike: f64, lost: impl Fn(u32) -> f64) -> f64 {
        let (mut sum, mut fewer) = (0.0, 0.0);
        // Ascending entries: `fewer` sums over people with fewer entries than this group.
        for &(entries, share) in self.entry_count_shares.iter().filter(|own| own.0 > 0) {
            let own = share * f64::from(entries) * lost(entries);
            sum += own * (2.0 * fewer + own) / (1.0 + alike * f64::from(entries - 1));
            fewer += own;
        }
        sum
    }

    /// Returns the squared bias of the means, summed over `items` items, for the choice of
    /// parameters.
    ///
    /// An unknown overlap is assumed to be the geometric mean of two overlaps: the overlap of
    /// equally popular items, and half of the maximum overlap. The error is then up to 2.9 times
    /// the minimum, if the popularity of items is between even and Zipf's law of exponent 1.5. No
    /// assumption makes this factor less than 2.5.
    pub(crate) fn likely_squared_bias(&self, items: f64, lost: impl Fn(u32) -> f64) -> f64 {
        let greatest = self.squared_bias_at_similarity(1.0, |_| 1.0);
        if greatest == 0.0 {
            return 0.0;
        }
        let average = self.average_over_people(f64::from);
        let even = average * average / items;
        let midway = libm::sqrt(even * greatest / 2.0).max(even);
        let overlap = self.mean_shared_item_count.unwrap_or(midway).min(greatest);
        let alike = overlap / greatest;
        // Scaled so that losing all values costs `overlap`.
        overlap * self.squared_bias_at_similarity(alike, lost)
            / self.squared_bias_at_similarity(alike, |_| 1.0)
    }
}
