//! What a question asks for, and how an answer becomes entries of its domain.

#[cfg(feature = "complete")]
use alloc::string::String;
use alloc::vec::Vec;

use rand_core::Rng;

use super::items::{Items, Open};
#[cfg(feature = "complete")]
use super::limits::Limits;
use super::prefixes::Prefixes;
use super::scale::Scale;
use super::tree::Tree;
use crate::canonical::{Canonical, CanonicalReader};
use crate::domain::{Entry, ValueKind};
use crate::error::Error;
#[cfg(not(feature = "complete"))]
use crate::error::left_out;

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
    #[cfg(feature = "complete")]
    Numbers(Vec<Limits>),
    /// A row and a column at once, which become one of the cells.
    #[cfg(feature = "complete")]
    Cross(Cross),
    /// One text of any, of which a prefix is told.
    Text(Prefixes),
    /// An option of each of several parts, all told of at once.
    #[cfg(feature = "complete")]
    Together(Together),
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
            #[cfg(feature = "complete")]
            Self::Numbers(_) => "numbers",
            #[cfg(feature = "complete")]
            Self::Cross(_) => "cross",
            Self::Text(_) => "text",
            #[cfg(feature = "complete")]
            Self::Together(_) => "together",
        }
    }

    /// The values of entries, once numbers are coded, [one](Scale::cell) or
    /// [several](Limits::code).
    #[must_use]
    pub const fn value(&self) -> ValueKind {
        match self {
            Self::Ratings(value) => *value,
            #[cfg(feature = "complete")]
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
            #[cfg(feature = "complete")]
            Self::Cross(cross) => Some(Items::Count(cross.cells())),
            Self::Text(_) => Some(Items::Open(Open::Open)),
            #[cfg(feature = "complete")]
            Self::Together(together) => Some(Items::Count(together.cells())),
            Self::Ratings(_) | Self::Set | Self::Choice => None,
            #[cfg(feature = "complete")]
            Self::Numbers(_) => None,
        }
    }

    /// The tree over a number's bins, where there is one.
    #[must_use]
    pub const fn tree(&self) -> Option<&Tree> {
        match self {
            Self::Number(scale) => scale.tree(),
            _ => None,
        }
    }

    /// How many of its own items everybody is given.
    pub(crate) fn own_sparsity(&self) -> u32 {
        match self {
            #[cfg(feature = "complete")]
            Self::Together(together) => together.parts().len() as u32,
            _ => 1,
        }
    }

    /// How many entries answer it, of how many items, where entries are to be
    /// [coded](Kind::code).
    pub(crate) fn coded(&self) -> Option<[u32; 2]> {
        match self {
            Self::Number(_) => Some([1, 1]),
            #[cfg(feature = "complete")]
            Self::Numbers(of) => Some([of.len() as u32; 2]),
            #[cfg(feature = "complete")]
            Self::Cross(cross) => Some([1, cross.shape()[0]]),
            Self::Text(prefixes) => Some([prefixes.lengths().len() as u32; 2]),
            #[cfg(feature = "complete")]
            Self::Together(together) => Some([together.parts().len() as u32; 2]),
            _ => None,
        }
    }

    /// Whether an entry that is to be coded, of an item that there is, may have this value.
    #[cfg_attr(not(feature = "complete"), allow(unused_variables))]
    pub(crate) fn accepts(&self, item: u64, value: f64) -> bool {
        match self {
            #[cfg(feature = "complete")]
            Self::Cross(cross) if cross.columns().scale().is_none() => {
                cross.columns().has_option(value)
            }
            #[cfg(feature = "complete")]
            Self::Together(together) => together.parts()[item as usize].has_option(value),
            _ => value.is_finite(),
        }
    }

    /// The same in words.
    pub(crate) const fn expected(&self) -> &'static str {
        match self {
            #[cfg(feature = "complete")]
            Self::Cross(_) => "a finite number, or the index of a column",
            Self::Text(_) => "1 for each prefix",
            #[cfg(feature = "complete")]
            Self::Together(_) => "the index of an option",
            _ => "a finite number",
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
            Self::Number(scale) => coded.push(scale.told(entries[0].value, seed, rng)),
            #[cfg(feature = "complete")]
            Self::Cross(cross) => {
                let Entry { item, value } = entries[0];
                coded.push(Scale::code(cross.cell(item as u32, value), rng));
            }
            #[cfg(feature = "complete")]
            Self::Numbers(of) => coded.extend(entries.iter().map(|entry| Entry {
                value: of[entry.item as usize].code(entry.value),
                ..*entry
            })),
            Self::Text(prefixes) => coded.push(entries[prefixes.drawn(seed)]),
            #[cfg(feature = "complete")]
            Self::Together(together) => coded.extend(together.elements(entries)),
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
            #[cfg(feature = "complete")]
            Self::Numbers(of) => {
                canonical.number(6);
                canonical.number(of.len() as u64);
                of.iter().for_each(|own| own.write_canonical(canonical));
            }
            Self::Text(prefixes) => {
                canonical.number(8);
                prefixes.write_canonical(canonical);
            }
            #[cfg(feature = "complete")]
            Self::Cross(cross) => {
                canonical.number(7);
                Part::write_canonical(cross.parts(), canonical);
            }
            #[cfg(feature = "complete")]
            Self::Together(together) => {
                canonical.number(9);
                canonical.number(together.parts().len() as u64);
                Part::write_canonical(together.parts(), canonical);
            }
        }
    }

    /// A kind and the items, its own or what is listed; of a part, which has no parts again,
    /// only what an answer names one cell of.
    pub(super) fn read_canonical(
        reader: &mut CanonicalReader<'_>,
        is_part: bool,
    ) -> Result<(Self, Items), Error> {
        let number = reader.number();
        let number = reader.known((!is_part || matches!(number, 3..=5)).then_some(number))?;
        let kind = match number {
            0 => Self::Ratings(ValueKind::Sign),
            1 => Self::Ratings(ValueKind::Real),
            2 => Self::Set,
            3 => Self::Choice,
            4 => Self::Flag,
            5 => Self::Number(Scale::read_canonical(reader)?),
            #[cfg(feature = "complete")]
            6 => {
                let limits = (0..reader.count()).map(|_| Limits::read_canonical(reader));
                Self::Numbers(limits.collect::<Result<_, _>>()?)
            }
            #[cfg(feature = "complete")]
            7 => Self::Cross(Cross {
                parts: Part::read_canonical(2, reader)?,
            }),
            8 => Self::Text(Prefixes::read_canonical(reader)?),
            #[cfg(feature = "complete")]
            9 => {
                let count = reader.count();
                Self::Together(Together::new(Part::read_canonical(count, reader)?))
            }
            #[cfg(not(feature = "complete"))]
            6 | 7 | 9 => return Err(left_out("a kind of several parts")),
            _ => reader.known(None)?,
        };
        let items = match kind.own_items() {
            Some(items) => items,
            None => Items::read_canonical(reader),
        };
        Ok((kind, items))
    }
}

/// The product of two small choices, or of a choice and a number: a cross table, whose
/// cells are rows · columns options of which everybody is in one.
///
/// A person's answer is one entry: the item is the row, the value the index of the column
/// or the number. The cell of row r and column c is option r · columns + c. What goes
/// together is for [`Question`](super::Question) to check.
///
/// ```
/// use hushbin::Items;
/// use hushbin::task::{Cross, Part, Scale};
///
/// let plan = Part::choice("plan", Items::Count(2));
/// let load = Part::number("loadMs", Scale::levels(0.0, 10_000.0, 3).unwrap());
/// let cross = Cross::new(plan, load);
/// assert_eq!((cross.shape(), cross.cells()), ([2, 3], 6));
/// ```
#[cfg(feature = "complete")]
#[derive(Debug, Clone, PartialEq)]
pub struct Cross {
    /// Rows and columns.
    parts: Vec<Part>,
}

/// A part of a [`Cross`]: a choice, a flag or a number; or of a [`Together`], which has no
/// numbers.
///
/// ```
/// use hushbin::Items;
/// use hushbin::task::{Kind, Part};
///
/// assert_eq!((Part::flag("beta").cells(), Part::flag("beta").kind()), (2, &Kind::Flag));
/// assert_eq!(Part::choice("theme", Items::Count(7)).cells(), 7);
/// ```
#[cfg(feature = "complete")]
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    name: String,
    kind: Kind,
    /// As of a question of this kind.
    items: Items,
}

#[cfg(feature = "complete")]
impl Part {
    /// Exactly one of these.
    #[must_use]
    pub fn choice(name: impl Into<String>, options: Items) -> Self {
        Self {
            name: name.into(),
            kind: Kind::Choice,
            items: options,
        }
    }

    /// No or yes.
    #[must_use]
    pub fn flag(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: Kind::Flag,
            items: Items::Count(2),
        }
    }

    /// A number: levels for means within rows, or bins.
    #[must_use]
    pub fn number(name: impl Into<String>, scale: Scale) -> Self {
        Self {
            name: name.into(),
            items: Items::Count(scale.cells()),
            kind: Kind::Number(scale),
        }
    }

    /// The name that its answers go by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is asked: a choice, a flag or a number.
    #[must_use]
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The options; of a flag no and yes, of a number the cells of its scale.
    #[must_use]
    pub const fn items(&self) -> &Items {
        &self.items
    }

    /// The scale of a number.
    #[must_use]
    pub const fn scale(&self) -> Option<&Scale> {
        match &self.kind {
            Kind::Number(scale) => Some(scale),
            _ => None,
        }
    }

    /// How many rows, columns or options it has; 0 where options are open.
    #[must_use]
    pub fn cells(&self) -> u32 {
        self.items.count().unwrap_or(0)
    }

    /// Whether this is the index of an option.
    fn has_option(&self, value: f64) -> bool {
        f64::from(value as u32) == value && (value as u32) < self.cells()
    }

    fn write_canonical(parts: &[Self], canonical: &mut Canonical) {
        for part in parts {
            canonical.text(part.name());
            part.kind.write_canonical(canonical);
            if part.kind.own_items().is_none() {
                part.items.write_canonical(canonical);
            }
        }
    }

    fn read_canonical(count: u32, reader: &mut CanonicalReader<'_>) -> Result<Vec<Self>, Error> {
        let mut part = |_| {
            let name = reader.text().into();
            let (kind, items) = Kind::read_canonical(reader, true)?;
            Ok(Self { name, kind, items })
        };
        (0..count).map(&mut part).collect()
    }
}

#[cfg(feature = "complete")]
impl Cross {
    /// The cross of rows and columns.
    #[must_use]
    pub fn new(rows: Part, columns: Part) -> Self {
        Self {
            parts: alloc::vec![rows, columns],
        }
    }

    /// Rows and columns.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The part whose options are the rows.
    #[must_use]
    pub fn rows(&self) -> &Part {
        &self.parts[0]
    }

    /// The part whose options, levels or bins are the columns.
    #[must_use]
    pub fn columns(&self) -> &Part {
        &self.parts[1]
    }

    /// Numbers of rows and columns.
    #[must_use]
    pub fn shape(&self) -> [u32; 2] {
        [self.rows(), self.columns()].map(Part::cells)
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> u32 {
        let [rows, columns] = self.shape();
        // What saturates is beyond what options there may be.
        rows.saturating_mul(columns)
    }

    /// The cell of a row and a column, and the probability of the next one instead, which
    /// is 0 but for levels.
    ///
    /// ```
    /// # use hushbin::task::{Cross, Part, Scale};
    /// let load = Part::number("load", Scale::levels(0.0, 30.0, 4).unwrap());
    /// // Of 4 levels.
    /// assert_eq!(Cross::new(Part::flag("beta"), load).cell(1, 15.0), (5, 0.5));
    /// ```
    #[must_use]
    pub fn cell(&self, row: u32, column: f64) -> (u32, f64) {
        let columns = self.columns();
        let (cell, next) = match columns.scale() {
            Some(scale) => scale.cell(column),
            None => (column as u32, 0.0),
        };
        (row * columns.cells() + cell, next)
    }
}

/// Several small choices and flags, which a report tells of together: one input of a cell
/// of each.
///
/// A person's answer is an entry for each part: the item is its position, the value the
/// index of an option, of a flag 0 or 1. Options are numbered as cells part after part.
/// What goes together is for [`Question`](super::Question) to check.
///
/// ```
/// use hushbin::Items;
/// use hushbin::task::{Part, Together};
///
/// let theme = Part::choice("theme", Items::Count(3));
/// let settings = Together::new(vec![Part::flag("beta"), theme]);
/// assert_eq!((settings.cells(), settings.cell(1, 2)), (5, 4));
/// assert_eq!(settings.option(4), (1, 2));
/// ```
#[cfg(feature = "complete")]
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    parts: Vec<Part>,
    /// How many cells there are before each part, and in all.
    bounds: Vec<u32>,
}

#[cfg(feature = "complete")]
impl Together {
    /// All of these.
    #[must_use]
    pub fn new(parts: Vec<Part>) -> Self {
        let mut bounds = alloc::vec![0_u32];
        for part in &parts {
            // What saturates is beyond what options there may be.
            bounds.push(bounds[bounds.len() - 1].saturating_add(part.cells()));
        }
        Self { parts, bounds }
    }

    /// What is asked, in the order of cells.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How many cells there are.
    #[must_use]
    pub fn cells(&self) -> u32 {
        self.bounds[self.parts.len()]
    }

    /// The cell of an option of a part.
    ///
    /// # Panics
    /// If there is no such part.
    #[must_use]
    pub fn cell(&self, part: usize, option: u32) -> u32 {
        self.bounds[part] + option
    }

    /// The part that a cell is of, and its option.
    ///
    /// # Panics
    /// If there is no such cell.
    #[must_use]
    #[cfg(feature = "analysis")]
    pub fn option(&self, cell: u32) -> (usize, u32) {
        let part = self.bounds[1..].partition_point(|&end| end <= cell);
        (part, cell - self.bounds[part])
    }

    /// The cells that are answered, by the entries of parts.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn elements(&self, answer: &[Entry]) -> impl Iterator<Item = Entry> {
        answer.iter().map(|entry| Entry {
            item: self.cell(entry.item as usize, entry.value as u32).into(),
            value: 1.0,
        })
    }
}
