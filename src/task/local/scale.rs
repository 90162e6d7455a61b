//! Scale of a number: the cells to which numbers are assigned.

use alloc::string::String;
use alloc::vec::Vec;

use rand_core::Rng;

use crate::bounds::{self, check_ascending};
use crate::canonical::CanonicalReader;
use crate::domain::Entry;
use crate::error::Error;
use crate::sample;
use crate::task::items::check_printable_name;

/// Cells to which numbers are assigned.
///
/// Numbers outside the range are clipped to the first or last cell. Estimates do not correct the
/// resulting bias.
///
/// ```
/// use hushbin::task::NumberScale;
///
/// let seconds = NumberScale::from_edges(vec![0.0, 1.0, 3.0, 10.0]).unwrap();
/// assert_eq!(seconds.cell_count(), 3);
/// assert!(NumberScale::from_edges(vec![0.0, 3.0, 1.0]).is_err());
/// assert!(NumberScale::from_levels(0.0, 1.0, 1).is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NumberScale {
    pub(in crate::task) cells: ScaleCells,
    pub(in crate::task) unit: Option<String>,
    /// Distance between possible numbers, or 0 if any number is possible.
    pub(in crate::task) step: f64,
    /// True if a person may have no number. The last cell is then for these people.
    pub(in crate::task) optional: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::task) enum ScaleCells {
    /// Levels: `count` evenly spaced numbers from `min` to `max`. A number between two levels is
    /// rounded to one of the two at random, so that the expected level is the number.
    Levels { min: f64, max: f64, count: u32 },
    /// Ascending edges of bins. A bin includes its lower edge and excludes its upper edge. Only the
    /// last bin also includes its upper edge.
    BinEdges(Vec<f64>),
}

/// Item of an answer's entry that says that the person has no number.
pub(in crate::task) const NO_NUMBER_ITEM: u64 = 1;

impl NumberScale {
    /// Creates `levels` evenly spaced levels from `min` to `max`, for means.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `levels` is outside [`bounds::ROUNDING_LEVEL_COUNT_RANGE`]; [`Error::InvalidCombination`]
    /// unless `min` and `max` are finite and ascending.
    pub fn from_levels(min: f64, max: f64, levels: u32) -> Result<Self, Error> {
        bounds::ROUNDING_LEVEL_COUNT_RANGE.check_in_range(f64::from(levels))?;
        check_ascending(&[min, max])?;
        Ok(Self::from_cells(ScaleCells::Levels {
            min,
            max,
            count: levels,
        }))
    }

    /// Creates bins between these edges, for histograms and quantiles.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the number of bins is outside [`bounds::NUMBER_BIN_COUNT_RANGE`];
    /// [`Error::InvalidCombination`] unless edges are finite and ascending.
    pub fn from_edges(edges: Vec<f64>) -> Result<Self, Error> {
        bounds::NUMBER_BIN_COUNT_RANGE.check_in_range(edges.len() as f64 - 1.0)?;
        check_ascending(&edges)?;
        Ok(Self::from_cells(ScaleCells::BinEdges(edges)))
    }

    fn from_cells(cells: ScaleCells) -> Self {
        Self {
            cells,
            unit: None,
            step: 0.0,
            optional: false,
        }
    }

    /// Sets the unit of the numbers.
    ///
    /// # Errors
    /// [`Error::InvalidItemName`] for a unit that could not be an item's name.
    pub fn with_unit(mut self, unit: Option<String>) -> Result<Self, Error> {
        if let Some(unit) = &unit {
            check_printable_name(0, unit)?;
        }
        self.unit = unit;
        Ok(self)
    }

    /// Returns the number of levels or bins.
    #[must_use]
    pub fn level_or_bin_count(&self) -> u32 {
        match &self.cells {
            ScaleCells::Levels { count, .. } => *count,
            ScaleCells::BinEdges(edges) => edges.len() as u32 - 1,
        }
    }

    /// Returns the number of cells: the levels or bins, and the cell of people without a number.
    #[must_use]
    pub fn cell_count(&self) -> u32 {
        self.level_or_bin_count() + u32::from(self.optional)
    }

    /// Returns whether a person may have no number. The last cell is then for these people.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        self.optional
    }

    /// Returns the first and the last level or edge.
    pub(in crate::task) fn end_values(&self) -> [f64; 2] {
        match &self.cells {
            ScaleCells::Levels { min, max, .. } => [*min, *max],
            ScaleCells::BinEdges(edges) => [edges[0], edges[edges.len() - 1]],
        }
    }

    /// Returns the cell of a finite number, and the probability with which the next cell is drawn
    /// instead. The probability is 0 for bins.
    ///
    /// ```
    /// use hushbin::task::NumberScale;
    ///
    /// let scale = NumberScale::from_levels(0.0, 30.0, 4).unwrap();
    /// assert_eq!(scale.cell_and_next_cell_probability(15.0), (1, 0.5));
    /// assert_eq!([-4.0, 99.0].map(|number| scale.cell_and_next_cell_probability(number)), [(0, 0.0), (3, 0.0)]);
    /// ```
    #[must_use]
    pub fn cell_and_next_cell_probability(&self, number: f64) -> (u32, f64) {
        let [min, max] = self.end_values();
        let number = number.clamp(min, max);
        match &self.cells {
            ScaleCells::Levels { count, .. } => {
                let steps = f64::from(count - 1);
                let place = ((number - min) / (max - min) * steps).clamp(0.0, steps);
                let below = place as u32;
                (below, place - f64::from(below))
            }
            ScaleCells::BinEdges(edges) => {
                // The outer edges are left out: the last bin includes its upper edge.
                let inner = &edges[1..edges.len() - 1];
                (inner.partition_point(|edge| *edge <= number) as u32, 0.0)
            }
        }
    }

    /// Returns the cell of an answer, and the probability with which the next cell is drawn instead.
    /// An answer is a number as the value of item 0, or item 1 for a person without a number.
    #[must_use]
    pub fn cell_of_answer(&self, answer: Entry) -> (u32, f64) {
        if answer.item == NO_NUMBER_ITEM {
            (self.level_or_bin_count(), 0.0)
        } else {
            self.cell_and_next_cell_probability(answer.value)
        }
    }

    /// Returns an entry for the cell after `cell` with probability `next`, and otherwise for
    /// `cell`. For levels, the expected level is then the number itself.
    pub(in crate::task) fn draw_entry<R: Rng + ?Sized>(
        (cell, next): (u32, f64),
        rng: &mut R,
    ) -> Entry {
        Entry {
            item: u64::from(cell + u32::from(sample::draw_with_probability(rng, next))),
            value: 1.0,
        }
    }

    /// Reads the scale of a question or of a part. Only a part may have levels. Only the number of a
    /// question may be `optional`.
    pub(in crate::task) fn read_canonical(
        of_part: bool,
        optional: bool,
        reader: &mut CanonicalReader<'_>,
    ) -> Result<Self, Error> {
        let unit = reader.read_text();
        let unit = (!unit.is_empty()).then(|| String::from(unit));
        // The step is not checked again: the writer checked it, and no cell depends on it.
        let step = reader.read_float();
        let scale = match reader.read_list_length() {
            0 if of_part => {
                let levels = reader.read_u32();
                Self::from_levels(reader.read_float(), reader.read_float(), levels)
            }
            count => Self::from_edges((0..count).map(|_| reader.read_float()).collect()),
        }?;
        Self {
            step,
            optional,
            ..scale
        }
        .with_unit(unit)
    }
}
