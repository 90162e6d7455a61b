//! Bins that are joined to wider ones, so that a report tells of one of several layers.

use alloc::vec::Vec;

use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::{Error, error};
use crate::hash;

/// A tree over the bins of a number: layers of nodes, each of which joins neighbouring
/// nodes of the layer below, down to the bins themselves.
///
/// A report tells of the node that a person's bin is in, of one layer, which its seed draws.
/// The share of people below an edge then is a sum of few nodes, wide ones and some narrow
/// ones, where it is a sum of many bins without a tree.
///
/// ```
/// use hushbin::task::Tree;
///
/// // 100 bins, joined by eights, and those joined by four.
/// let tree = Tree::new(100, vec![4, 4, 8]).unwrap();
/// assert_eq!((tree.layers(), tree.nodes()), (3, 4 + 13 + 100));
/// assert_eq!(tree.layer(1), 4..17);
/// // Bin 50 is in the second of four nodes, 32 to 63.
/// assert_eq!(tree.node(0, 50), 1);
/// assert!(Tree::new(100, vec![5, 4, 8]).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    pub(in crate::task) bins: u32,
    pub(in crate::task) branches: Vec<u32>,
}

impl Tree {
    /// A tree of so many layers as there are `branches`: how many nodes the first layer has,
    /// and how many each node of a layer joins of the next, from the top. Where the bins do
    /// not fill them, the last node of a layer joins fewer.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the number of bins is outside [`bounds::CELLS`];
    /// [`Error::Combination`] unless there are two or more, each of them 2 or more, that
    /// multiply to the number of bins, or to what would be too few with one less at the top.
    pub fn new(bins: u32, branches: Vec<u32>) -> Result<Self, Error> {
        bounds::CELLS.check(f64::from(bins))?;
        let tree = Self { bins, branches };
        let valid = match &tree.branches[..] {
            [top, below @ ..] => {
                !below.is_empty()
                    && tree.branches.iter().all(|own| *own >= 2)
                    && bins.div_ceil(tree.joined(0)) == *top
            }
            [] => false,
        };
        if valid {
            return Ok(tree);
        }
        Err(error!(Combination {
            reason: "a \"tree\" has two or more layers of 2 or more branches, which multiply to the number of bins",
        }))
    }

    /// What [`Scale`](super::Scale) wrote.
    // As slim builds refuse them.
    #[allow(clippy::unnecessary_wraps)]
    pub(in crate::task) fn read_branches(
        reader: &mut CanonicalReader<'_>,
    ) -> Result<Vec<u32>, Error> {
        Ok(reader.list())
    }

    /// How many layers there are.
    #[must_use]
    pub fn layers(&self) -> usize {
        self.branches.len()
    }

    /// How many bins a node of a layer joins.
    ///
    /// # Panics
    /// If there is no such layer.
    #[must_use]
    pub fn joined(&self, layer: usize) -> u32 {
        let branches = self.branches[layer + 1..].iter();
        branches.fold(1, |all: u32, own| all.saturating_mul(*own))
    }

    /// How many nodes the layers above have.
    #[inline(never)]
    pub(in crate::task) fn first(&self, layer: usize) -> u32 {
        let nodes = |layer| self.bins.div_ceil(self.joined(layer));
        (0..layer).map(nodes).sum()
    }

    /// How many nodes all layers have.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.first(self.layers())
    }

    /// The node of a layer that a bin is in, as numbered among those of all layers.
    ///
    /// # Panics
    /// If there is no such layer.
    #[must_use]
    pub fn node(&self, layer: usize, bin: u32) -> u32 {
        self.first(layer) + bin / self.joined(layer)
    }

    /// The layer that a report tells of: each with the same probability.
    #[must_use]
    pub fn drawn(&self, seed: u64) -> usize {
        hash::drawn_part(seed, self.branches.len() as u32) as usize
    }
}
