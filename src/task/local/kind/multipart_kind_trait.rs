//! Interface of the kinds of questions with several parts.

use alloc::vec::Vec;

use rand_core::Rng;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::domain::Entry;
use crate::error::{Error, error};
use crate::task::items::Items;

/// Kind of question whose answer has several parts.
pub(crate) trait MultipartKind: Sized {
    /// Returns the items that the kind itself determines, or `None` if the task lists them.
    fn implied_items(&self) -> Option<Items>;

    /// Returns the number of entries of an answer, and the number of items that entries may name.
    fn answer_entry_item_counts(&self) -> [u32; 2];

    /// Returns whether an entry of an existing item may have this value.
    fn accepts_value(&self, _item: u64, value: f64) -> bool {
        value.is_finite()
    }

    /// Accepted values in words, for error messages.
    const ACCEPTED_VALUES_TEXT: &'static str = "a finite number";

    /// Turns an answer into entries of the domain.
    fn answer_to_domain_entries<R: Rng + ?Sized>(
        &self,
        entries: &[Entry],
        coded: &mut Vec<Entry>,
        rng: &mut R,
    );

    /// Checks the parts of a question of this kind.
    ///
    /// # Errors
    /// The errors of each part; [`Error::InvalidCombination`] and [`Error::OutOfRange`] for parts that
    /// cannot be combined.
    fn check_parts(&self, _epsilon: f64) -> Result<(), Error> {
        Ok(())
    }

    /// Checks items and sparsity, for kinds whose answer is not exactly one item.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] and [`Error::OutOfRange`].
    fn check_items(&self, _: &Items, _: u32) -> Result<(), Error> {
        Ok(())
    }

    /// Reads the kind from canonical bytes, after the code that identifies it.
    ///
    /// # Errors
    /// The errors of the parts' constructors; [`Error::UnknownMechanism`] in slim builds.
    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error>;
}

/// Codes of kinds of questions in canonical bytes. Parts with the same kind have the same code.
pub(in crate::task) const CHOICE_KIND_CODE: u64 = 3;
pub(in crate::task) const FLAG_KIND_CODE: u64 = 4;
pub(in crate::task) const NUMBER_KIND_CODE: u64 = 5;
/// Code of a number that a person may lack. No part has it.
pub(in crate::task) const OPTIONAL_NUMBER_KIND_CODE: u64 = 10;

/// Checks the number of options of a kind whose answer is one option.
///
/// # Errors
/// [`Error::InvalidCombination`] for open options; [`Error::OutOfRange`] for a number outside
/// [`bounds::OPTION_COUNT_RANGE`].
// Several kinds call it: without inlining, pages download it once.
#[inline(never)]
pub(super) fn check_option_count(items: &Items) -> Result<(), Error> {
    let Some(count) = items.item_count() else {
        return Err(error!(InvalidCombination {
            reason: "a \"choice\" needs a list of \"options\"",
        }));
    };
    bounds::OPTION_COUNT_RANGE.check_in_range(f64::from(count))
}
