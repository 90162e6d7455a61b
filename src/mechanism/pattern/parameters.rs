//! Parameters of the pattern mechanism.

use alloc::vec::Vec;

use crate::bounds;
use crate::error::{Error, error};
use crate::mechanism::subset::Thresholds;

/// Parameters of the pattern mechanism: the number L of outputs, and the outputs that cell 0
/// favours.
///
/// ```
/// use hushbin::mechanism::pattern::Pattern;
///
/// let pattern = Pattern::new(7, [0, 1, 3])?;
/// // Cell 5 favours the outputs 5, 6 and 1.
/// assert!([5, 6, 1].iter().all(|output| pattern.cell_favours_output(5, *output)));
/// assert!(!pattern.cell_favours_output(5, 0));
/// assert!(Pattern::new(7, [0, 3, 1]).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern {
    output_count: u32,
    cell_zero_favoured_outputs: Vec<u32>,
}

impl Pattern {
    /// Checks the ranges and creates the parameters.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the number L of outputs is outside [`bounds::PATTERN_OUTPUT_COUNT_RANGE`].
    /// [`Error::InvalidCombination`] unless the favoured outputs ascend and are below L. They must also be
    /// at least one output, but not all. [`Task::from_questions`](crate::Task::from_questions) checks
    /// that the parameters suit a domain.
    pub fn new(outputs: u32, favoured: impl Into<Vec<u32>>) -> Result<Self, Error> {
        bounds::PATTERN_OUTPUT_COUNT_RANGE.check_in_range(f64::from(outputs))?;
        let favoured = favoured.into();
        let ascending = favoured.is_sorted_by(|a, b| a < b);
        let last = favoured.last().copied().unwrap_or(outputs);
        if !ascending || last >= outputs || favoured.len() as u32 == outputs {
            return Err(error!(InvalidCombination {
                reason: "\"favoured\" of a \"pattern\" must list some, not all, \"outputs\" in \
                         ascending order",
            }));
        }
        Ok(Self {
            output_count: outputs,
            cell_zero_favoured_outputs: favoured,
        })
    }

    /// Number L of outputs.
    #[must_use]
    pub const fn output_count(&self) -> u32 {
        self.output_count
    }

    /// Pattern S: the outputs that cell 0 favours, ascending.
    #[must_use]
    pub fn favoured_outputs(&self) -> &[u32] {
        &self.cell_zero_favoured_outputs
    }

    /// Returns true if `cell` favours `output`. Both are below the number of outputs.
    #[must_use]
    pub fn cell_favours_output(&self, cell: u32, output: u32) -> bool {
        // Rotate the output back to cell 0.
        let place = (output + self.output_count - cell) % self.output_count;
        self.cell_zero_favoured_outputs
            .binary_search(&place)
            .is_ok()
    }

    /// Computes the threshold for drawing a favoured output, at local ε.
    #[must_use]
    pub fn favoured_output_thresholds(&self, epsilon: f64) -> Thresholds {
        Thresholds::for_fixed_favoured_count(
            epsilon,
            self.cell_zero_favoured_outputs.len() as u32,
            self.output_count,
        )
    }
}
