//! Several choices and flags that each report tells of all at once.

use alloc::vec::Vec;

use super::kind::Part;
use crate::domain::Entry;

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
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    parts: Vec<Part>,
    /// How many cells there are before each part, and in all.
    bounds: Vec<u32>,
}

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
