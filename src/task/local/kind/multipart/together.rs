//! Questions with several parts that one report covers together.

use alloc::vec::Vec;

use rand_core::Rng;

use super::part::{QuestionPart, check_parts};
use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::domain::Entry;
use crate::error::{Error, error};
use crate::task::items::Items;
use crate::task::local::kind::multipart_kind_trait::{MultipartKind, check_option_count};

/// Kind `together`: several small choices and flags that one report covers together. An input has
/// one cell for each part.
///
/// A person's answer has an entry for each part. The entry's item is the part's position. Its value
/// is the index of an option, 0 or 1 for a flag. Cells number the options of all parts, part after
/// part. [`Question`](crate::Question) checks the combination of parts.
///
/// ```
/// use hushbin::Items;
/// use hushbin::task::{QuestionPart, Together};
///
/// let theme = QuestionPart::new_choice("theme", Items::Count(3));
/// let settings = Together::new(vec![QuestionPart::new_flag("beta"), theme]);
/// assert_eq!((settings.cell_count(), settings.cell_of_option(1, 2)), (5, 4));
/// assert_eq!(settings.part_and_option(4), (1, 2));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    pub(in crate::task) parts: Vec<QuestionPart>,
    /// Number of cells before each part, followed by the number of all cells.
    pub(in crate::task) cumulative_cell_counts: Vec<u32>,
}

impl Together {
    /// Creates the kind from these parts.
    #[must_use]
    pub fn new(parts: Vec<QuestionPart>) -> Self {
        let mut bounds = alloc::vec![0_u32];
        for part in &parts {
            // A saturated sum is above the maximum number of options, and is rejected.
            bounds.push(bounds[bounds.len() - 1].saturating_add(part.cell_count()));
        }
        Self {
            parts,
            cumulative_cell_counts: bounds,
        }
    }

    /// Returns the number of cells.
    #[must_use]
    pub fn cell_count(&self) -> u32 {
        self.cumulative_cell_counts[self.parts.len()]
    }

    /// Returns the cell of an option of a part.
    ///
    /// # Panics
    /// If there is no such part.
    #[must_use]
    pub fn cell_of_option(&self, part: usize, option: u32) -> u32 {
        self.cumulative_cell_counts[part] + option
    }

    /// Returns an entry for the cell of each answered option.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn answered_option_entries(&self, answer: &[Entry]) -> impl Iterator<Item = Entry> {
        answer.iter().map(|entry| Entry {
            item: self
                .cell_of_option(entry.item as usize, entry.value as u32)
                .into(),
            value: 1.0,
        })
    }
}

impl MultipartKind for Together {
    fn implied_items(&self) -> Option<Items> {
        Some(Items::Count(self.cell_count()))
    }

    fn answer_entry_item_counts(&self) -> [u32; 2] {
        [self.parts.len() as u32; 2]
    }

    fn accepts_value(&self, item: u64, value: f64) -> bool {
        // `check_values` has checked that the item exists.
        self.parts[item as usize].has_option(value)
    }

    const ACCEPTED_VALUES_TEXT: &'static str = "the index of an option";

    fn answer_to_domain_entries<R: Rng + ?Sized>(
        &self,
        entries: &[Entry],
        coded: &mut Vec<Entry>,
        _: &mut R,
    ) {
        coded.extend(self.answered_option_entries(entries));
    }

    fn check_parts(&self, epsilon: f64) -> Result<(), Error> {
        bounds::QUESTION_PART_COUNT_RANGE.check_in_range(self.parts.len() as f64)?;
        check_parts(&self.parts, false, epsilon)
    }

    fn check_items(&self, items: &Items, sparsity: u32) -> Result<(), Error> {
        check_option_count(items)?;
        if sparsity as usize != self.parts.len() {
            return Err(error!(InvalidCombination {
                reason: "\"together\" takes exactly one option for each part",
            }));
        }
        Ok(())
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let count = reader.read_list_length();
        Ok(Self::new(QuestionPart::read_canonical_parts(
            count, reader,
        )?))
    }
}
