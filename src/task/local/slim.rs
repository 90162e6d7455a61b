//! Stand-ins for the kinds with several parts, in slim builds. The type has no value, so the code
//! that handles these kinds is left out of the module.

use alloc::vec::Vec;

use rand_core::Rng;

use crate::canonical::CanonicalReader;
use crate::domain::Entry;
use crate::error::Error;
use crate::mechanism::contract::unknown_mechanism_error;
use crate::task::items::Items;
use crate::task::local::kind::multipart_kind_trait::MultipartKind;

/// Type without a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Never {}

/// Stand-in for several numbers.
pub type Numbers = Never;
/// Stand-in for a cross-tabulation.
pub type Cross = Never;
/// Stand-in for a question of kind `together`.
pub type Together = Never;

impl MultipartKind for Never {
    fn implied_items(&self) -> Option<Items> {
        match *self {}
    }

    fn answer_entry_item_counts(&self) -> [u32; 2] {
        match *self {}
    }

    fn answer_to_domain_entries<R: Rng + ?Sized>(
        &self,
        _: &[Entry],
        _: &mut Vec<Entry>,
        _: &mut R,
    ) {
        match *self {}
    }

    fn read_canonical(_: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        Err(unknown_mechanism_error("a kind of several parts"))
    }
}
