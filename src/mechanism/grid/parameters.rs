//! The parameters of the grid, and how many cells it has.

use crate::bounds;
use crate::error::{Error, error};
use crate::mechanism::cube::Thresholds;

/// The parameters of the grid: k, the number of attributes that a report is about, and r,
/// the number of steps from −1 to 1 between the levels that they are rounded to.
///
/// ```
/// use hushbin::mechanism::grid::Grid;
///
/// let grid = Grid::new(2, 4)?;
/// assert_eq!((grid.drawn(), grid.steps()), (2, 4));
/// assert_eq!(grid.cells(), 25);
/// assert_eq!([0, 1, 4].map(|level| grid.value(level)), [-1.0, -0.5, 1.0]);
/// assert!(Grid::new(13, 1).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Grid {
    drawn: u32,
    steps: u32,
    /// Follows from both.
    cells: u32,
}

impl Grid {
    /// Most cells: all of them are listed where reports are accounted for exactly.
    pub const MOST_CELLS: u32 = 4096;

    /// Parameters within their ranges.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when k is outside [`bounds::DRAWN`] or r outside
    /// [`bounds::STEPS`]; [`Error::Combination`] when there are more cells than
    /// [`Grid::MOST_CELLS`]. Whether the parameters suit a domain is checked by
    /// [`Task::of_questions`](crate::Task::of_questions).
    pub fn new(drawn: u32, steps: u32) -> Result<Self, Error> {
        bounds::DRAWN.check(f64::from(drawn))?;
        bounds::STEPS.check(f64::from(steps))?;
        let mut cells = 1;
        for _ in 0..drawn {
            cells *= steps + 1;
            if cells > Self::MOST_CELLS {
                return Err(error!(Combination {
                    reason: "a grid has at most 4096 cells: fewer \"drawn\", or fewer \"steps\"",
                }));
            }
        }
        Ok(Self {
            drawn,
            steps,
            cells,
        })
    }

    /// k.
    #[must_use]
    pub const fn drawn(&self) -> u32 {
        self.drawn
    }

    /// r.
    #[must_use]
    pub const fn steps(&self) -> u32 {
        self.steps
    }

    /// r + 1.
    #[must_use]
    pub const fn levels(&self) -> u32 {
        self.steps + 1
    }

    /// M = (r + 1)ᵏ.
    #[must_use]
    pub const fn cells(&self) -> u32 {
        self.cells
    }

    /// The threshold sampled at local budget ε: of the input's own cell among M.
    ///
    /// A cell has the same probability for whatever other cell is the input's, and an input
    /// between levels is a mixture of cells.
    #[must_use]
    pub fn thresholds(&self, epsilon: f64) -> Thresholds {
        Thresholds::new(epsilon, 1, u64::from(self.cells) - 1)
    }
}
