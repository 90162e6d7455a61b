//! Cross-tabulation questions.

use alloc::vec::Vec;

use rand_core::Rng;

use super::part::{QuestionPart, check_parts};
use crate::canonical::CanonicalReader;
use crate::domain::Entry;
use crate::error::Error;
use crate::task::items::Items;
use crate::task::local::kind::multipart_kind_trait::MultipartKind;
use crate::task::local::scale::NumberScale;

/// Cross table of two small choices, or of a choice and a number. Each person is in one of the rows
/// · columns cells.
///
/// A person's answer is one entry. The entry's item is the row. Its value is the index of the
/// column or, if the columns are levels or bins, the number. The cell of row r and column c is
/// option r · columns + c. [`Question`](crate::Question) checks the combination of parts.
///
/// ```
/// use hushbin::Items;
/// use hushbin::task::{Cross, QuestionPart, NumberScale};
///
/// let plan = QuestionPart::new_choice("plan", Items::Count(2));
/// let load = QuestionPart::new_number("loadMs", NumberScale::from_levels(0.0, 10_000.0, 3).unwrap());
/// let cross = Cross::new(plan, load);
/// assert_eq!((cross.row_and_column_counts(), cross.cell_count()), ([2, 3], 6));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cross {
    /// Two parts: the rows, then the columns.
    pub(in crate::task) parts: Vec<QuestionPart>,
}

impl Cross {
    /// Returns the part whose options are the rows.
    #[must_use]
    pub fn row_part(&self) -> &QuestionPart {
        &self.parts[0]
    }

    /// Returns the part whose options, levels or bins are the columns.
    #[must_use]
    pub fn column_part(&self) -> &QuestionPart {
        &self.parts[1]
    }

    /// Returns the number of rows and the number of columns.
    #[must_use]
    pub fn row_and_column_counts(&self) -> [u32; 2] {
        [self.row_part(), self.column_part()].map(QuestionPart::cell_count)
    }

    /// Returns the number of cells.
    #[must_use]
    pub fn cell_count(&self) -> u32 {
        let [rows, columns] = self.row_and_column_counts();
        // A saturated product is above the maximum number of options, and is rejected.
        rows.saturating_mul(columns)
    }

    /// Returns the cell of a row and a column, and the probability with which the next cell is
    /// drawn instead. The probability is 0 unless the columns are levels.
    ///
    /// ```
    /// # use hushbin::task::{Cross, QuestionPart, NumberScale};
    /// let load = QuestionPart::new_number("load", NumberScale::from_levels(0.0, 30.0, 4).unwrap());
    /// // Of 4 levels.
    /// assert_eq!(Cross::new(QuestionPart::new_flag("beta"), load).cell_and_next_cell_probability(1, 15.0), (5, 0.5));
    /// ```
    #[must_use]
    pub fn cell_and_next_cell_probability(&self, row: u32, column: f64) -> (u32, f64) {
        let columns = self.column_part();
        let (cell, next) = match columns.scale() {
            Some(scale) => scale.cell_and_next_cell_probability(column),
            None => (column as u32, 0.0),
        };
        (row * columns.cell_count() + cell, next)
    }
}

impl MultipartKind for Cross {
    fn implied_items(&self) -> Option<Items> {
        Some(Items::Count(self.cell_count()))
    }

    fn answer_entry_item_counts(&self) -> [u32; 2] {
        [1, self.row_and_column_counts()[0]]
    }

    fn accepts_value(&self, _: u64, value: f64) -> bool {
        match self.column_part().scale() {
            Some(_) => value.is_finite(),
            None => self.column_part().has_option(value),
        }
    }

    const ACCEPTED_VALUES_TEXT: &'static str = "a finite number, or the index of a column";

    fn answer_to_domain_entries<R: Rng + ?Sized>(
        &self,
        entries: &[Entry],
        coded: &mut Vec<Entry>,
        rng: &mut R,
    ) {
        let Entry { item, value } = entries[0];
        coded.push(NumberScale::draw_entry(
            self.cell_and_next_cell_probability(item as u32, value),
            rng,
        ));
    }

    fn check_parts(&self, epsilon: f64) -> Result<(), Error> {
        check_parts(&self.parts, true, epsilon)
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let parts = QuestionPart::read_canonical_parts(2, reader)?;
        Ok(Self { parts })
    }
}
