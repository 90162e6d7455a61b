//! What a kind of several parts is made of.

use alloc::vec::Vec;

use rand_core::Rng;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::domain::Entry;
use crate::error::{Error, error};
use crate::task::items::Items;

/// A kind whose answer is of several parts.
pub(crate) trait Several: Sized {
    /// The items that it brings, as [`Kind::own_items`](super::Kind::own_items).
    fn own_items(&self) -> Option<Items>;

    /// Number of entries that answer it, and number of items that these are of.
    fn coded(&self) -> [u32; 2];

    /// Whether an entry of an item that there is may have this value.
    fn accepts(&self, _item: u64, value: f64) -> bool {
        value.is_finite()
    }

    /// Values that it accepts, in words.
    const EXPECTED: &'static str = "a finite number";

    /// Turns an answer into entries of the domain.
    fn code<R: Rng + ?Sized>(&self, entries: &[Entry], coded: &mut Vec<Entry>, rng: &mut R);

    /// Validates the parts.
    ///
    /// # Errors
    /// Those of each part; [`Error::Combination`] and [`Error::OutOfRange`] for parts that do
    /// not go together.
    fn check_parts(&self, _epsilon: f64) -> Result<(), Error> {
        Ok(())
    }

    /// Validates items and sparsity, where everybody has not exactly one of the items.
    ///
    /// # Errors
    /// [`Error::Combination`] and [`Error::OutOfRange`].
    fn check_items(&self, _: &Items, _: u32) -> Result<(), Error> {
        Ok(())
    }

    /// Reads it from canonical bytes, behind its number.
    ///
    /// # Errors
    /// Those of the parts' constructors; [`Error::UnknownMechanism`] in slim builds.
    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error>;
}

/// Numbers of kinds in canonical bytes, of parts too.
pub(in crate::task) const CHOICE: u64 = 3;
pub(in crate::task) const FLAG: u64 = 4;
pub(in crate::task) const NUMBER: u64 = 5;

/// The number of options of which one is given.
///
/// # Errors
/// [`Error::Combination`] where they are open, [`Error::OutOfRange`] for another number
/// than there may be.
// Once in the module that pages download, which checks several kinds.
#[inline(never)]
pub(super) fn check_options(items: &Items) -> Result<(), Error> {
    let Some(count) = items.count() else {
        return Err(error!(Combination {
            reason: "a \"choice\" needs a list of \"options\"",
        }));
    };
    bounds::OPTIONS.check(f64::from(count))
}
