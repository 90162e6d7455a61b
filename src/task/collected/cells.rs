//! Cells of numbers, as estimates are made of them.

use crate::task::local::scale::{Cells, Scale};

impl Scale {
    /// The unit, where there is one.
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
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
}
