//! Groups of the cells of questions, for estimates.

use alloc::vec::Vec;

use crate::error::Error;
use crate::sums::counted_questions::{CountedKind, CountedQuestions, bin_edge};

/// Cells about which every person sends the same number of own messages.
///
/// The own messages of a group are known to be `own_messages` for each upload. The counts of a
/// group therefore reveal how many noise messages it has.
///
/// ```
/// use hushbin::Items;
/// use hushbin::sums::{CellGroup, CountedKind, CountedQuestions};
///
/// let choice = CountedKind::Choice { name: "theme".into() };
/// let groups = CountedQuestions::new(choice, Items::Count(3))?.cell_groups();
/// assert_eq!(groups, [CellGroup { cells: 3, own_messages: 1 }]);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellGroup {
    /// Number of cells. They follow the cells of the previous group.
    pub cells: u32,
    /// Number of own messages that every person sends about these cells.
    pub own_messages: u32,
}

impl CountedQuestions {
    /// Kind of the questions.
    #[must_use]
    pub const fn kind(&self) -> &CountedKind {
        &self.kind
    }

    /// Groups of cells, in the order of the cells.
    #[must_use]
    pub fn cell_groups(&self) -> Vec<CellGroup> {
        let group = |cells, own_messages| CellGroup {
            cells,
            own_messages,
        };
        let count = self.item_count();
        match self.kind {
            CountedKind::Choice { .. } => alloc::vec![group(count, 1)],
            CountedKind::Set { sparsity, .. } => alloc::vec![group(count + sparsity, sparsity)],
            CountedKind::Flags => alloc::vec![group(2, 1); count as usize],
            CountedKind::Number { .. } => {
                let levels = [self.upper_node_count(), count];
                let levels = levels.into_iter().filter(|nodes| *nodes > 0);
                levels.map(|nodes| group(nodes, 1)).collect()
            }
        }
    }

    /// Cells of an answer, all different. A set with more than s options has as many cells as options,
    /// of which a person sends a random subset.
    ///
    /// # Errors
    /// As [`SumRandomizer::randomize`](crate::sums::SumRandomizer::randomize).
    pub fn cells_of_answer(&self, answer: &[f64]) -> Result<Vec<u32>, Error> {
        let mut cells = Vec::new();
        self.answer_to_cells(answer, &mut cells)?;
        Ok(cells)
    }

    /// Edges of the bins of a number, ascending. `None` for other kinds. A bin includes its lower
    /// edge and excludes its upper edge; only the last bin includes both.
    #[must_use]
    pub fn bin_edges(&self) -> Option<Vec<f64>> {
        let CountedKind::Number { limits, .. } = &self.kind else {
            return None;
        };
        let bins = self.item_count();
        let lower = (0..bins).map(|index| bin_edge(limits, index, bins));
        Some(lower.chain([limits.range()[1]]).collect())
    }
}
