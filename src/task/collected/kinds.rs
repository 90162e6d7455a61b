//! Names of kinds of questions, and construction of kinds from parts.

use alloc::string::String;

use crate::task::items::Items;
use crate::task::limits::NumberLimits;
use crate::task::local::kind::{Cross, PartKind, QuestionKind, QuestionPart, Together};
use crate::task::local::scale::NumberScale;

impl QuestionKind {
    /// Returns the kind's name, as spelt in a task file.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ratings(_) => "ratings",
            Self::Set => "set",
            Self::Choice => "choice",
            Self::Flag => "flag",
            Self::Number(_) => "number",
            Self::Numbers(own) if own.is_single() => "number",
            Self::Numbers(_) => "numbers",
            Self::CrossTabulation(_) => "cross",
            Self::Text(_) => "text",
            Self::JointChoices(_) => "together",
        }
    }
}

impl Cross {
    /// Returns the scale of the columns if the columns are levels. The question then estimates
    /// means within rows.
    #[must_use]
    pub fn level_scale(&self) -> Option<&NumberScale> {
        self.column_part()
            .scale()
            .filter(|own| own.edges().is_none())
    }

    /// Creates the cross-tabulation of these rows and columns.
    #[must_use]
    pub fn new(rows: QuestionPart, columns: QuestionPart) -> Self {
        Self {
            parts: alloc::vec![rows, columns],
        }
    }

    /// Returns the two parts: the rows, then the columns.
    #[must_use]
    pub fn parts(&self) -> &[QuestionPart] {
        &self.parts
    }
}

impl QuestionPart {
    /// Creates a part in which a person chooses exactly one option.
    #[must_use]
    pub fn new_choice(name: impl Into<String>, options: Items) -> Self {
        Self {
            name: name.into(),
            kind: PartKind::Choice,
            items: options,
        }
    }

    /// Creates a flag: a part with the options no and yes.
    #[must_use]
    pub fn new_flag(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: PartKind::Flag,
            items: Items::Count(2),
        }
    }

    /// Creates a part that is a number. The number's scale has levels, for means within rows, or
    /// bins.
    #[must_use]
    pub fn new_number(name: impl Into<String>, scale: NumberScale) -> Self {
        Self {
            name: name.into(),
            items: Items::Count(scale.cell_count()),
            kind: PartKind::Number(scale),
        }
    }

    /// Returns the part's name, under which answers are given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the options of the part. A flag has the options no and yes. The options of a number
    /// are the cells of its scale.
    #[must_use]
    pub const fn items(&self) -> &Items {
        &self.items
    }

    /// Returns the part's kind: a choice, a flag or a number.
    #[must_use]
    pub fn kind(&self) -> QuestionKind {
        match &self.kind {
            PartKind::Choice => QuestionKind::Choice,
            PartKind::Flag => QuestionKind::Flag,
            PartKind::Number(scale) => QuestionKind::Number(scale.clone()),
        }
    }
}

impl Together {
    /// Returns the parts, in the order of the cells.
    #[must_use]
    pub fn parts(&self) -> &[QuestionPart] {
        &self.parts
    }

    /// Returns the part that a cell belongs to, and the cell's option in that part.
    ///
    /// # Panics
    /// If there is no such cell.
    #[must_use]
    pub fn part_and_option(&self, cell: u32) -> (usize, u32) {
        let part = self.cumulative_cell_counts[1..].partition_point(|&end| end <= cell);
        (part, cell - self.cumulative_cell_counts[part])
    }
}

impl NumberLimits {
    /// Returns the unit, if there is one.
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }
}
