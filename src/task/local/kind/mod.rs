//! Kinds of questions, and the coding of answers as entries of a domain.

#[cfg(feature = "complete")]
mod multipart;
pub(in crate::task) mod multipart_kind_trait;

#[cfg(feature = "collector")]
pub(in crate::task) use multipart::PartKind;
#[cfg(feature = "complete")]
pub use multipart::QuestionPart;
pub use multipart::{Cross, Numbers, Together};

use alloc::vec::Vec;

use rand_core::Rng;

use super::prefix_lengths::PrefixLengths;
use super::scale::{NO_NUMBER_ITEM, NumberScale};
#[cfg(not(feature = "complete"))]
use super::slim as multipart;
use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::domain::{Domain, Entry, ValueKind};
use crate::error::Error;
use crate::task::items::{Items, OpenKeyword};
use multipart_kind_trait::{
    CHOICE_KIND_CODE, FLAG_KIND_CODE, MultipartKind, NUMBER_KIND_CODE, OPTIONAL_NUMBER_KIND_CODE,
    check_option_count,
};

/// Kind of a question.
///
/// ```
/// use hushbin::task::{QuestionKind, NumberScale};
/// use hushbin::ValueKind;
///
/// assert_eq!(QuestionKind::Choice.coded_value_kind(), ValueKind::Presence);
/// let seconds = NumberScale::from_edges(vec![0.0, 1.0, 3.0, 10.0]).unwrap();
/// assert_eq!(QuestionKind::Number(seconds).coded_value_kind(), ValueKind::Presence);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum QuestionKind {
    /// Any number of the items, each with a sign or a value. One report covers up to s of these
    /// items.
    Ratings(ValueKind),
    /// Any number of the items, without values. One report covers up to s of these items.
    Set,
    /// Exactly one of the items.
    Choice,
    /// Yes or no: item 0 is no, item 1 is yes.
    Flag,
    /// One number, coded as one of the scale's cells.
    Number(NumberScale),
    /// Several numbers, one for each item. Each number is clipped to its limits.
    Numbers(Numbers),
    /// A row and a column, coded as one cell.
    CrossTabulation(Cross),
    /// Any text. A report covers one of its prefixes.
    Text(PrefixLengths),
    /// One option in each of several parts. A report covers all parts.
    JointChoices(Together),
}

impl QuestionKind {
    /// Returns the range of the values of coded entries. A [`QuestionKind::Number`] is coded by
    /// [`NumberScale::cell_and_next_cell_probability`], and [`QuestionKind::Numbers`] by
    /// [`NumberLimits::normalise_to_signed_unit`](crate::task::NumberLimits::normalise_to_signed_unit).
    #[must_use]
    pub const fn coded_value_kind(&self) -> ValueKind {
        match self {
            Self::Ratings(value) => *value,
            Self::Numbers(_) => ValueKind::Real,
            _ => ValueKind::Presence,
        }
    }

    /// Returns the items that the kind itself determines, or `None` if the task lists them.
    #[must_use]
    pub(crate) fn implied_items(&self) -> Option<Items> {
        match self {
            Self::Flag => Some(Items::Count(2)),
            Self::Number(scale) => Some(Items::Count(scale.cell_count())),
            Self::Text(_) => Some(Items::Open(OpenKeyword::Open)),
            Self::Ratings(_) | Self::Set | Self::Choice => None,
            Self::Numbers(own) => own.implied_items(),
            Self::CrossTabulation(own) => own.implied_items(),
            Self::JointChoices(own) => own.implied_items(),
        }
    }

    /// Returns the number of entries of an answer, and the number of items that entries may name.
    /// Returns `None` if entries need no [coding](Kind::code_answer).
    pub(crate) fn answer_entry_item_counts(&self) -> Option<[u32; 2]> {
        match self {
            // Item 1 is for people without a number.
            Self::Number(scale) => Some([1, 1 + u32::from(scale.is_optional())]),
            Self::Text(prefixes) => Some([prefixes.lengths().len() as u32; 2]),
            Self::Numbers(own) => Some(own.answer_entry_item_counts()),
            Self::CrossTabulation(own) => Some(own.answer_entry_item_counts()),
            Self::JointChoices(own) => Some(own.answer_entry_item_counts()),
            Self::Ratings(_) | Self::Set | Self::Choice | Self::Flag => None,
        }
    }

    /// Returns whether an entry of an existing item may have this value.
    pub(crate) fn accepts_value(&self, item: u64, value: f64) -> bool {
        match self {
            Self::Number(_) if item == NO_NUMBER_ITEM => value == 1.0,
            Self::Number(_) => value.is_finite(),
            Self::Numbers(own) => own.accepts_value(item, value),
            Self::CrossTabulation(own) => own.accepts_value(item, value),
            Self::Text(_) => value == 1.0,
            Self::JointChoices(own) => own.accepts_value(item, value),
            _ => self.coded_value_kind().accepts_value(value),
        }
    }

    /// Returns the accepted values in words, for error messages.
    pub(crate) const fn accepted_values_text(&self) -> &'static str {
        match self {
            Self::Number(_) | Self::Numbers(_) => Numbers::ACCEPTED_VALUES_TEXT,
            Self::CrossTabulation(_) => Cross::ACCEPTED_VALUES_TEXT,
            Self::Text(_) => "1 for each prefix",
            Self::JointChoices(_) => Together::ACCEPTED_VALUES_TEXT,
            _ => self.coded_value_kind().accepted_values_text(),
        }
    }

    /// Codes an answer as entries of the domain. For a text, the report's seed selects the prefix.
    /// Entries of ratings, sets, choices and flags are returned unchanged.
    pub(crate) fn answer_to_domain_entries<'a, R: Rng + ?Sized>(
        &self,
        entries: &'a [Entry],
        coded: &'a mut Vec<Entry>,
        seed: u64,
        rng: &mut R,
    ) -> &'a [Entry] {
        coded.clear();
        match self {
            Self::Number(scale) => {
                coded.push(NumberScale::draw_entry(
                    scale.cell_of_answer(entries[0]),
                    rng,
                ));
            }
            Self::Text(prefixes) => coded.push(entries[prefixes.drawn_prefix_index(seed)]),
            Self::Numbers(own) => own.answer_to_domain_entries(entries, coded, rng),
            Self::CrossTabulation(own) => own.answer_to_domain_entries(entries, coded, rng),
            Self::JointChoices(own) => own.answer_to_domain_entries(entries, coded, rng),
            Self::Ratings(_) | Self::Set | Self::Choice | Self::Flag => return entries,
        }
        coded
    }

    /// Returns the domain of the inputs that mechanisms randomise.
    pub(in crate::task) fn domain(&self, items: &Items, sparsity: u32) -> Domain {
        match self {
            Self::Ratings(_) => Domain::of_rated_items(items.item_count(), sparsity),
            Self::Set => Domain::of_unrated_items(items.item_count(), sparsity),
            Self::Number(scale) => Domain::with_exact_entry_count(scale.cell_count(), sparsity),
            Self::Text(_) => Domain::of_one_open_item(),
            Self::Numbers(_) => Domain::of_dense_inputs(sparsity),
            // `check` rejects open items for these kinds, so the 0 is never used.
            _ => Domain::with_exact_entry_count(items.item_count().unwrap_or(0), sparsity),
        }
    }

    /// Checks the items, the sparsity, and the parts that this kind of question requires.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`], [`Error::OutOfRange`], and the errors of invalid names.
    pub(in crate::task) fn check_items_and_parts(
        &self,
        items: &Items,
        sparsity: u32,
        epsilon: f64,
    ) -> Result<(), Error> {
        match self {
            Self::CrossTabulation(own) => own.check_parts(epsilon)?,
            Self::JointChoices(own) => own.check_parts(epsilon)?,
            _ => {}
        }
        items.check_items()?;
        let one = bounds::SPARSITY_RANGE.with_max(1.0);
        match self {
            Self::Ratings(_) | Self::Set => Ok(()),
            Self::Text(_) => one.check_in_range(f64::from(sparsity)),
            Self::Numbers(own) => own.check_items(items, sparsity),
            Self::JointChoices(own) => own.check_items(items, sparsity),
            // Exactly one item of a list.
            Self::Choice | Self::Flag | Self::Number(_) | Self::CrossTabulation(_) => {
                check_option_count(items)?;
                one.check_in_range(f64::from(sparsity))
            }
        }
    }

    /// Reads a kind with its items and sparsity. Items and sparsity follow in the bytes unless the
    /// kind determines them.
    pub(in crate::task) fn read_kind_with_items(
        reader: &mut CanonicalReader<'_>,
    ) -> Result<(Self, Items, u32), Error> {
        let kind = match reader.read_u64() {
            0 => Self::Ratings(ValueKind::Sign),
            1 => Self::Ratings(ValueKind::Real),
            2 => Self::Set,
            CHOICE_KIND_CODE => Self::Choice,
            FLAG_KIND_CODE => Self::Flag,
            code @ (NUMBER_KIND_CODE | OPTIONAL_NUMBER_KIND_CODE) => {
                let optional = code == OPTIONAL_NUMBER_KIND_CODE;
                Self::Number(NumberScale::read_canonical(false, optional, reader)?)
            }
            6 => Self::Numbers(Numbers::read_canonical(reader)?),
            7 => Self::CrossTabulation(Cross::read_canonical(reader)?),
            8 => Self::Text(PrefixLengths::read_canonical(reader)?),
            9 => Self::JointChoices(Together::read_canonical(reader)?),
            _ => reader.unwrap_or_mark_malformed(None)?,
        };
        let (items, sparsity) = match kind.implied_items() {
            Some(items) => match &kind {
                Self::JointChoices(own) => (items, own.answer_entry_item_counts()[0]),
                _ => (items, 1),
            },
            None => (Items::read_canonical(reader), reader.read_u32()),
        };
        Ok((kind, items, sparsity))
    }
}
