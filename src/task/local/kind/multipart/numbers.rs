//! Numbers whose means are estimated. Every person has all numbers.

use alloc::vec::Vec;
use core::ops::Deref;

use rand_core::Rng;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::domain::Entry;
use crate::error::{Error, error};
use crate::task::items::Items;
use crate::task::limits::NumberLimits;
use crate::task::local::kind::multipart_kind_trait::MultipartKind;

/// Limits of the numbers, indexed by item. A single number has the name of its question.
///
/// ```
/// use hushbin::task::{NumberLimits, Numbers};
///
/// let numbers = Numbers::from(vec![NumberLimits::new(0.0, 5.0, None)?]);
/// assert_eq!(numbers[0].range(), [0.0, 5.0]);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers(Vec<NumberLimits>);

impl Numbers {
    /// Returns whether there is only one number.
    #[must_use]
    pub const fn is_single(&self) -> bool {
        self.0.len() == 1
    }
}

impl From<Vec<NumberLimits>> for Numbers {
    fn from(limits: Vec<NumberLimits>) -> Self {
        Self(limits)
    }
}

impl Deref for Numbers {
    type Target = [NumberLimits];

    fn deref(&self) -> &[NumberLimits] {
        &self.0
    }
}

impl MultipartKind for Numbers {
    fn implied_items(&self) -> Option<Items> {
        self.is_single().then_some(Items::Count(1))
    }

    fn answer_entry_item_counts(&self) -> [u32; 2] {
        [self.len() as u32; 2]
    }

    fn answer_to_domain_entries<R: Rng + ?Sized>(
        &self,
        entries: &[Entry],
        coded: &mut Vec<Entry>,
        _: &mut R,
    ) {
        coded.extend(entries.iter().map(|entry| Entry {
            value: self[entry.item as usize].normalise_to_signed_unit(entry.value),
            ..*entry
        }));
    }

    fn check_items(&self, items: &Items, sparsity: u32) -> Result<(), Error> {
        bounds::ATTRIBUTE_COUNT_RANGE.check_in_range(self.len() as f64)?;
        let told = match items {
            Items::Named(names) => names.len() as u32,
            _ => 1,
        };
        if told != self.len() as u32 || sparsity != told {
            return Err(error!(InvalidCombination {
                reason: "\"numbers\" need a name, a range and an answer each",
            }));
        }
        Ok(())
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let limits = (0..reader.read_list_length()).map(|_| NumberLimits::read_canonical(reader));
        limits.collect::<Result<_, _>>().map(Self)
    }
}
