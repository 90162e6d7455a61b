//! Cells of numbers, as estimates are made of them.

use alloc::vec::Vec;
use core::ops::Range;

use crate::error::{Error, error};
use crate::task::local::scale::{Cells, Scale};
use crate::task::local::tree::Tree;

impl Scale {
    /// The same with a tree over its bins, of these branches.
    ///
    /// # Errors
    /// [`Error::Combination`] where there are levels, and those of [`Tree::new`].
    ///
    /// ```
    /// use hushbin::task::Scale;
    ///
    /// let edges = (0..=64).map(f64::from).collect();
    /// let scale = Scale::bins(edges).unwrap().in_tree(vec![8, 8]).unwrap();
    /// assert_eq!((scale.cells(), scale.elements()), (64, 8 + 64));
    /// assert!(Scale::levels(0.0, 1.0, 64).unwrap().in_tree(vec![8, 8]).is_err());
    /// ```
    pub fn in_tree(mut self, branches: Vec<u32>) -> Result<Self, Error> {
        if self.edges().is_none() {
            return Err(error!(Combination {
                reason: "a \"tree\" is over bins, not over \"levels\"",
            }));
        }
        self.tree = Some(Tree::new(self.cells(), branches)?);
        Ok(self)
    }

    /// The unit, where there is one.
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
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

impl Tree {
    /// As in [`Tree::new`].
    #[must_use]
    pub fn branches(&self) -> &[u32] {
        &self.branches
    }

    /// How many bins there are.
    #[must_use]
    pub const fn bins(&self) -> u32 {
        self.bins
    }

    /// The nodes of a layer, as numbered among those of all layers from the top.
    ///
    /// # Panics
    /// If there is no such layer.
    #[must_use]
    pub fn layer(&self, layer: usize) -> Range<u32> {
        self.first(layer)..self.first(layer + 1)
    }
}
