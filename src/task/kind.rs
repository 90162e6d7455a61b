//! What a question asks for, and how an answer becomes entries of its domain.

use alloc::vec::Vec;

use rand_core::Rng;

use super::items::Items;
use super::limits::Limits;
use super::scale::Scale;
use crate::domain::{Entry, ValueKind};
use crate::error::Error;
use crate::fingerprint::{Canonical, CanonicalReader};

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
    Numbers(Vec<Limits>),
}

impl Kind {
    /// The kind's name, as in a task file.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ratings(_) => "ratings",
            Self::Set => "set",
            Self::Choice => "choice",
            Self::Flag => "flag",
            Self::Number(_) => "number",
            Self::Numbers(_) => "numbers",
        }
    }

    /// The values of entries, once numbers are coded, [one](Scale::cell) or
    /// [several](Limits::code).
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
    pub fn own_items(&self) -> Option<Items> {
        match self {
            Self::Flag => Some(Items::Count(2)),
            Self::Number(scale) => Some(Items::Count(scale.cells())),
            Self::Ratings(_) | Self::Set | Self::Choice | Self::Numbers(_) => None,
        }
    }

    /// How many numbers answer it, where numbers do.
    pub(crate) const fn numbers(&self) -> Option<usize> {
        match self {
            Self::Number(_) => Some(1),
            Self::Numbers(of) => Some(of.len()),
            _ => None,
        }
    }

    /// Numbers as entries of the domain; whatever else answers is one already.
    pub(crate) fn code<'a, R: Rng + ?Sized>(
        &self,
        entries: &'a [Entry],
        coded: &'a mut Vec<Entry>,
        rng: &mut R,
    ) -> &'a [Entry] {
        coded.clear();
        match self {
            Self::Number(scale) => coded.push(scale.code(entries[0].value, rng)),
            Self::Numbers(of) => coded.extend(entries.iter().map(|entry| Entry {
                value: of[entry.item as usize].code(entry.value),
                ..*entry
            })),
            _ => return entries,
        }
        coded
    }

    pub(super) fn write_canonical(&self, canonical: &mut Canonical) {
        match self {
            Self::Ratings(ValueKind::Sign | ValueKind::Presence) => canonical.number(0),
            Self::Ratings(ValueKind::Real) => canonical.number(1),
            Self::Set => canonical.number(2),
            Self::Choice => canonical.number(3),
            Self::Flag => canonical.number(4),
            Self::Number(scale) => {
                canonical.number(5);
                scale.write_canonical(canonical);
            }
            Self::Numbers(of) => {
                canonical.number(6);
                canonical.number(of.len() as u64);
                of.iter().for_each(|own| own.write_canonical(canonical));
            }
        }
    }

    pub(super) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Option<Result<Self, Error>> {
        Some(Ok(match reader.number()? {
            0 => Self::Ratings(ValueKind::Sign),
            1 => Self::Ratings(ValueKind::Real),
            2 => Self::Set,
            3 => Self::Choice,
            4 => Self::Flag,
            5 => return Some(Scale::read_canonical(reader)?.map(Self::Number)),
            6 => {
                let mut of = Vec::new();
                for _ in 0..reader.small()? {
                    match Limits::read_canonical(reader)? {
                        Ok(own) => of.push(own),
                        Err(error) => return Some(Err(error)),
                    }
                }
                Self::Numbers(of)
            }
            _ => return None,
        }))
    }
}
