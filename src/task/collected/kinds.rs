//! Kinds of questions as collectors know them: made of their parts, and by name.

use alloc::string::String;

use crate::task::items::Items;
use crate::task::limits::Limits;
use crate::task::local::kind::{Asked, Cross, Kind, Part, Together};
use crate::task::local::scale::Scale;

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
            Self::Numbers(own) if own.is_alone() => "number",
            Self::Numbers(_) => "numbers",
            Self::Cross(_) => "cross",
            Self::Text(_) => "text",
            Self::Together(_) => "together",
        }
    }
}

impl Cross {
    /// The scale of a number that is asked for its mean, if columns are its levels.
    #[must_use]
    pub fn levels(&self) -> Option<&Scale> {
        self.columns().scale().filter(|own| own.edges().is_none())
    }

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
}

impl Part {
    /// Exactly one of these.
    #[must_use]
    pub fn choice(name: impl Into<String>, options: Items) -> Self {
        Self {
            name: name.into(),
            asked: Asked::Choice,
            items: options,
        }
    }

    /// No or yes.
    #[must_use]
    pub fn flag(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            asked: Asked::Flag,
            items: Items::Count(2),
        }
    }

    /// A number: levels for means within rows, or bins.
    #[must_use]
    pub fn number(name: impl Into<String>, scale: Scale) -> Self {
        Self {
            name: name.into(),
            items: Items::Count(scale.cells()),
            asked: Asked::Number(scale),
        }
    }

    /// The name that its answers go by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The options; of a flag no and yes, of a number the cells of its scale.
    #[must_use]
    pub const fn items(&self) -> &Items {
        &self.items
    }

    /// The part as a kind: a choice, a flag or a number.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match &self.asked {
            Asked::Choice => Kind::Choice,
            Asked::Flag => Kind::Flag,
            Asked::Number(scale) => Kind::Number(scale.clone()),
        }
    }
}

impl Together {
    /// The parts, in the order of cells.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The part that a cell is of, and its option.
    ///
    /// # Panics
    /// If there is no such cell.
    #[must_use]
    pub fn option(&self, cell: u32) -> (usize, u32) {
        let part = self.bounds[1..].partition_point(|&end| end <= cell);
        (part, cell - self.bounds[part])
    }
}

impl Limits {
    /// The unit, where there is one.
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }
}
