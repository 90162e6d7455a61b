//! What a question asks for, and how an answer becomes entries of its domain.

pub(in crate::task) mod contract;
#[cfg(feature = "complete")]
mod several;

#[cfg(feature = "collector")]
pub(in crate::task) use several::Asked;
#[cfg(feature = "complete")]
pub use several::Part;
pub use several::{Cross, Numbers, Together};

use alloc::vec::Vec;

use rand_core::Rng;

use super::prefixes::Prefixes;
use super::scale::Scale;
#[cfg(not(feature = "complete"))]
use super::slim as several;
use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::domain::{Domain, Entry, ValueKind};
use crate::error::Error;
use crate::task::items::{Items, Open};
use contract::{CHOICE, FLAG, NUMBER, Several, check_options};

/// The kind of a question.
///
/// ```
/// use hushbin::task::{Kind, Scale};
/// use hushbin::ValueKind;
///
/// assert_eq!(Kind::Choice.value(), ValueKind::Presence);
/// let seconds = Scale::bins(vec![0.0, 1.0, 3.0, 10.0]).unwrap();
/// assert_eq!(Kind::Number(seconds).value(), ValueKind::Presence);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Any of the items, each with a sign or a value; up to s are reported on.
    Ratings(ValueKind),
    /// Any of the items, there or not; up to s are reported on.
    Set,
    /// Exactly one of the items.
    Choice,
    /// No or yes: items 0 and 1.
    Flag,
    /// One number, which becomes one of the scale's cells.
    Number(Scale),
    /// Several numbers, one for each item, within its limits.
    Numbers(Numbers),
    /// A row and a column at once, which become one of the cells.
    Cross(Cross),
    /// One text of any, of which a prefix is told.
    Text(Prefixes),
    /// An option of each of several parts, all told of at once.
    Together(Together),
}

impl Kind {
    /// The values of entries, once numbers are coded, [one](Scale::cell) or
    /// [several](crate::task::Limits::code).
    #[must_use]
    pub const fn value(&self) -> ValueKind {
        match self {
            Self::Ratings(value) => *value,
            Self::Numbers(_) => ValueKind::Real,
            _ => ValueKind::Presence,
        }
    }

    /// The items of a kind that brings its own.
    #[must_use]
    pub(crate) fn own_items(&self) -> Option<Items> {
        match self {
            Self::Flag => Some(Items::Count(2)),
            Self::Number(scale) => Some(Items::Count(scale.cells())),
            Self::Text(_) => Some(Items::Open(Open::Open)),
            Self::Ratings(_) | Self::Set | Self::Choice => None,
            Self::Numbers(own) => own.own_items(),
            Self::Cross(own) => own.own_items(),
            Self::Together(own) => own.own_items(),
        }
    }

    /// How many entries answer it, of how many items, where entries are to be
    /// [coded](Kind::code).
    pub(crate) fn coded(&self) -> Option<[u32; 2]> {
        match self {
            Self::Number(_) => Some([1, 1]),
            Self::Text(prefixes) => Some([prefixes.lengths().len() as u32; 2]),
            Self::Numbers(own) => Some(own.coded()),
            Self::Cross(own) => Some(own.coded()),
            Self::Together(own) => Some(own.coded()),
            Self::Ratings(_) | Self::Set | Self::Choice | Self::Flag => None,
        }
    }

    /// Whether an entry of an item that there is may have this value.
    pub(crate) fn accepts(&self, item: u64, value: f64) -> bool {
        match self {
            Self::Number(_) => value.is_finite(),
            Self::Numbers(own) => own.accepts(item, value),
            Self::Cross(own) => own.accepts(item, value),
            Self::Text(_) => value == 1.0,
            Self::Together(own) => own.accepts(item, value),
            _ => self.value().accepts(value),
        }
    }

    /// The same in words.
    pub(crate) const fn expected(&self) -> &'static str {
        match self {
            Self::Number(_) | Self::Numbers(_) => Numbers::EXPECTED,
            Self::Cross(_) => Cross::EXPECTED,
            Self::Text(_) => "1 for each prefix",
            Self::Together(_) => Together::EXPECTED,
            _ => self.value().expected(),
        }
    }

    /// Numbers, rows with columns, options of parts, and texts as entries of the domain,
    /// under a report's seed; whatever else answers is one already.
    pub(crate) fn code<'a, R: Rng + ?Sized>(
        &self,
        entries: &'a [Entry],
        coded: &'a mut Vec<Entry>,
        seed: u64,
        rng: &mut R,
    ) -> &'a [Entry] {
        coded.clear();
        match self {
            Self::Number(scale) => coded.push(Scale::code(scale.cell(entries[0].value), rng)),
            Self::Text(prefixes) => coded.push(entries[prefixes.drawn(seed)]),
            Self::Numbers(own) => own.code(entries, coded, rng),
            Self::Cross(own) => own.code(entries, coded, rng),
            Self::Together(own) => own.code(entries, coded, rng),
            Self::Ratings(_) | Self::Set | Self::Choice | Self::Flag => return entries,
        }
        coded
    }

    /// Items and sparsity, as mechanisms see them.
    pub(in crate::task) fn domain(&self, items: &Items, sparsity: u32) -> Domain {
        match self {
            Self::Ratings(_) => Domain::rated(items.count(), sparsity),
            Self::Set => Domain::named(items.count(), sparsity),
            Self::Number(scale) => Domain::exact(scale.cells(), sparsity),
            Self::Text(_) => Domain::one_of_any(),
            Self::Numbers(_) => Domain::dense(sparsity),
            // Open domains are refused: one of no list cannot be told from paddings.
            _ => Domain::exact(items.count().unwrap_or(0), sparsity),
        }
    }

    /// Validates parts, items and sparsity.
    ///
    /// # Errors
    /// [`Error::Combination`], [`Error::OutOfRange`], and those of names.
    pub(in crate::task) fn check(
        &self,
        items: &Items,
        sparsity: u32,
        epsilon: f64,
    ) -> Result<(), Error> {
        match self {
            Self::Cross(own) => own.check_parts(epsilon)?,
            Self::Together(own) => own.check_parts(epsilon)?,
            _ => {}
        }
        items.check()?;
        let one = bounds::SPARSITY.at_most(1.0);
        match self {
            Self::Ratings(_) | Self::Set => Ok(()),
            Self::Text(_) => one.check(f64::from(sparsity)),
            Self::Numbers(own) => own.check_items(items, sparsity),
            Self::Together(own) => own.check_items(items, sparsity),
            // One of a list.
            Self::Choice | Self::Flag | Self::Number(_) | Self::Cross(_) => {
                check_options(items)?;
                one.check(f64::from(sparsity))
            }
        }
    }

    /// Reads a kind with items and sparsity, its own or what is stated.
    pub(in crate::task) fn read_canonical(
        reader: &mut CanonicalReader<'_>,
    ) -> Result<(Self, Items, u32), Error> {
        let kind = match reader.number() {
            0 => Self::Ratings(ValueKind::Sign),
            1 => Self::Ratings(ValueKind::Real),
            2 => Self::Set,
            CHOICE => Self::Choice,
            FLAG => Self::Flag,
            NUMBER => Self::Number(Scale::read_canonical(false, reader)?),
            6 => Self::Numbers(Numbers::read_canonical(reader)?),
            7 => Self::Cross(Cross::read_canonical(reader)?),
            8 => Self::Text(Prefixes::read_canonical(reader)?),
            9 => Self::Together(Together::read_canonical(reader)?),
            _ => reader.known(None)?,
        };
        let (items, sparsity) = match kind.own_items() {
            Some(items) => match &kind {
                Self::Together(own) => (items, own.coded()[0]),
                _ => (items, 1),
            },
            None => (Items::read_canonical(reader), reader.small()),
        };
        Ok((kind, items, sparsity))
    }
}
