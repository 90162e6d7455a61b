//! What a question asks for, and how an answer becomes entries of its domain.

use alloc::string::String;
use alloc::vec::Vec;

use rand_core::Rng;

use super::items::{Items, Open};
use super::limits::{Limits, ascending};
use super::prefixes::Prefixes;
use crate::bounds;
use crate::domain::{Entry, ValueKind};
use crate::error::Error;
use crate::fingerprint::{Canonical, CanonicalReader};
use crate::sample;

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
    /// One text of any, of which a prefix is told.
    Text(Prefixes),
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
            Self::Text(_) => "text",
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
            Self::Text(_) => Some(Items::Open(Open::Open)),
            Self::Ratings(_) | Self::Set | Self::Choice | Self::Numbers(_) => None,
        }
    }

    /// How many entries answer it, where that is not for the domain to say.
    pub(crate) fn entries(&self) -> Option<usize> {
        match self {
            Self::Number(_) => Some(1),
            Self::Numbers(of) => Some(of.len()),
            Self::Text(prefixes) => Some(prefixes.lengths().len()),
            _ => None,
        }
    }

    /// Numbers and texts as entries of the domain, under a report's seed; whatever else
    /// answers is one already.
    pub(crate) fn code<'a, R: Rng + ?Sized>(
        &self,
        entries: &'a [Entry],
        coded: &'a mut Vec<Entry>,
        seed: u64,
        rng: &mut R,
    ) -> &'a [Entry] {
        coded.clear();
        match self {
            Self::Number(scale) => coded.push(scale.code(entries[0].value, rng)),
            Self::Numbers(of) => coded.extend(entries.iter().map(|entry| Entry {
                value: of[entry.item as usize].code(entry.value),
                ..*entry
            })),
            Self::Text(prefixes) => coded.push(entries[prefixes.drawn(seed)]),
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
            Self::Text(prefixes) => {
                canonical.number(8);
                prefixes.write_canonical(canonical);
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
            8 => return Some(Prefixes::read_canonical(reader)?.map(Self::Text)),
            _ => return None,
        }))
    }
}

/// The cells that numbers are put into.
///
/// Numbers beyond the ends belong to the first or last cell: they are clipped, which
/// is a bias of those that estimates do not undo.
///
/// ```
/// use hushbin::task::Scale;
///
/// let seconds = Scale::bins(vec![0.0, 1.0, 3.0, 10.0]).unwrap();
/// assert_eq!((seconds.cells(), seconds.range()), (3, [0.0, 10.0]));
/// assert!(Scale::bins(vec![0.0, 3.0, 1.0]).is_err());
/// assert!(Scale::levels(0.0, 1.0, 1).is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    cells: Cells,
    unit: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Cells {
    /// So many numbers, evenly from the first to the last; a number in between
    /// becomes one of its neighbours at random, so that its expectation stays.
    Levels { min: f64, max: f64, count: u32 },
    /// Ascending; a bin reaches from one up to, but not including, the next.
    Edges(Vec<f64>),
}

impl Scale {
    /// So many levels, evenly from `min` to `max`: for means.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when `levels` is outside [`bounds::LEVELS`];
    /// [`Error::Combination`] unless `min` and `max` are finite and ascending.
    pub fn levels(min: f64, max: f64, levels: u32) -> Result<Self, Error> {
        bounds::LEVELS.check(f64::from(levels))?;
        ascending(&[min, max])?;
        Ok(Self {
            cells: Cells::Levels {
                min,
                max,
                count: levels,
            },
            unit: None,
        })
    }

    /// Bins between these edges: for histograms and quantiles.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the number of bins is outside [`bounds::CELLS`];
    /// [`Error::Combination`] unless edges are finite and ascending.
    pub fn bins(edges: Vec<f64>) -> Result<Self, Error> {
        bounds::CELLS.check(edges.len() as f64 - 1.0)?;
        ascending(&edges)?;
        Ok(Self {
            cells: Cells::Edges(edges),
            unit: None,
        })
    }

    /// The same with the unit of its numbers.
    ///
    /// # Errors
    /// [`Error::ItemName`] for what could not be an item's name.
    pub fn in_unit(mut self, unit: Option<String>) -> Result<Self, Error> {
        if let Some(unit) = &unit {
            super::items::check_name(0, unit)?;
        }
        self.unit = unit;
        Ok(self)
    }

    /// The unit, where there is one.
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> u32 {
        match &self.cells {
            Cells::Levels { count, .. } => *count,
            Cells::Edges(edges) => edges.len() as u32 - 1,
        }
    }

    /// The least and the greatest number that is not clipped.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        match &self.cells {
            Cells::Levels { min, max, .. } => [*min, *max],
            Cells::Edges(edges) => [edges[0], edges[edges.len() - 1]],
        }
    }

    /// The edges of bins; `None` where there are levels.
    #[must_use]
    pub fn edges(&self) -> Option<&[f64]> {
        match &self.cells {
            Cells::Levels { .. } => None,
            Cells::Edges(edges) => Some(edges),
        }
    }

    /// The number that a level stands for; `None` where there are bins.
    #[must_use]
    pub fn level(&self, cell: u32) -> Option<f64> {
        match &self.cells {
            Cells::Levels { min, max, count } => {
                let part = f64::from(cell) / f64::from(count - 1);
                Some(min + (max - min) * part)
            }
            Cells::Edges(_) => None,
        }
    }

    /// The cell of a number and the probability of the next one instead, which is 0 for
    /// bins. Numbers that are not finite have no cell.
    ///
    /// ```
    /// use hushbin::task::Scale;
    ///
    /// let scale = Scale::levels(0.0, 30.0, 4).unwrap();
    /// assert_eq!(scale.cell(15.0), (1, 0.5));
    /// assert_eq!([-4.0, 99.0].map(|number| scale.cell(number)), [(0, 0.0), (3, 0.0)]);
    /// ```
    #[must_use]
    pub fn cell(&self, number: f64) -> (u32, f64) {
        let [min, max] = self.range();
        let number = number.clamp(min, max);
        match &self.cells {
            Cells::Levels { count, .. } => {
                let steps = f64::from(count - 1);
                let place = ((number - min) / (max - min) * steps).clamp(0.0, steps);
                let below = libm::floor(place);
                (below as u32, place - below)
            }
            Cells::Edges(edges) => {
                let inner = &edges[1..edges.len() - 1];
                (inner.partition_point(|edge| *edge <= number) as u32, 0.0)
            }
        }
    }

    /// The cell of a number; of two levels one at random, so that their expectation is
    /// the number.
    pub(crate) fn code<R: Rng + ?Sized>(&self, number: f64, rng: &mut R) -> Entry {
        let (cell, next) = self.cell(number);
        Entry {
            item: u64::from(cell + u32::from(sample::with_probability(rng, next))),
            value: 1.0,
        }
    }

    fn write_canonical(&self, canonical: &mut Canonical) {
        canonical.text(self.unit().unwrap_or(""));
        match &self.cells {
            Cells::Levels { min, max, count } => {
                canonical.number(0);
                canonical.number(u64::from(*count));
                canonical.number(min.to_bits());
                canonical.number(max.to_bits());
            }
            Cells::Edges(edges) => {
                canonical.number(edges.len() as u64);
                edges
                    .iter()
                    .for_each(|edge| canonical.number(edge.to_bits()));
            }
        }
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Option<Result<Self, Error>> {
        let unit = reader.text()?;
        let unit = (!unit.is_empty()).then(|| String::from(unit));
        let scale = match reader.small()? {
            0 => {
                let levels = reader.small()?;
                let [min, max] = [reader.number()?, reader.number()?].map(f64::from_bits);
                Self::levels(min, max, levels)
            }
            count => {
                let mut edges = Vec::new();
                for _ in 0..count {
                    edges.push(f64::from_bits(reader.number()?));
                }
                Self::bins(edges)
            }
        };
        Some(scale.and_then(|scale| scale.in_unit(unit)))
    }
}
