//! Blocks in the open batches of an analyser's tasks. They are kept in memory, so that a new block is
//! compared with its group alone, and storage is asked once for all blocks of a batch.

use std::collections::{BTreeMap, HashMap};

use super::engine::{EngineError, TaskKey};
use super::origin::ReportOrigin;
use super::shuffled_block::{BlockError, BlockRecord};

/// Blocks of the open batch of each task that has received a block lately.
///
/// Other processes may store blocks in the same batch. So the writer forgets all blocks at each
/// check of due batches, and reads them again when it needs them.
#[derive(Debug, Default)]
pub(super) struct OpenBlocks(HashMap<TaskKey, (u64, BlockGroups)>);

/// Blocks of one batch, by group and by the number of reports before the block.
#[derive(Debug, Default)]
pub(super) struct BlockGroups(HashMap<ReportOrigin, BTreeMap<u64, BlockRecord>>);

impl OpenBlocks {
    /// Returns the blocks in the open batch of a task, which has the number `batch`. If they are not
    /// in memory, `read` returns the bodies of all records of blocks.
    ///
    /// # Errors
    /// The error of `read`.
    pub(super) fn of_batch(
        &mut self,
        task: TaskKey,
        batch: u64,
        read: impl FnOnce() -> Result<Vec<Vec<u8>>, EngineError>,
    ) -> Result<&BlockGroups, EngineError> {
        if self.0.get(&task).is_none_or(|(known, _)| *known != batch) {
            let mut groups = BlockGroups::default();
            for block in read()?.iter().filter_map(|body| BlockRecord::decode(body)) {
                groups.add(block);
            }
            self.0.insert(task, (batch, groups));
        }
        Ok(&self.0[&task].1)
    }

    /// Adds a block that was stored in the open batch, if the blocks of that batch are in memory.
    pub(super) fn add(&mut self, task: TaskKey, batch: u64, block: BlockRecord) {
        if let Some((known, groups)) = self.0.get_mut(&task)
            && *known == batch
        {
            groups.add(block);
        }
    }

    /// Forgets the blocks of a task.
    pub(super) fn forget(&mut self, task: TaskKey) {
        self.0.remove(&task);
    }

    /// Forgets the blocks of all tasks.
    pub(super) fn forget_all(&mut self) {
        self.0.clear();
    }
}

impl BlockGroups {
    fn add(&mut self, block: BlockRecord) {
        let group = self.0.entry(block.origin).or_default();
        group.insert(block.statement.reports_before, block);
    }

    /// Checks that a block contradicts no other block. Blocks of a group that agree do not overlap,
    /// so only the neighbours of the block can overlap with it.
    ///
    /// # Errors
    /// As [`BlockRecord::check_agrees_with`].
    pub(super) fn check(&self, block: &BlockRecord) -> Result<(), BlockError> {
        let Some(group) = self.0.get(&block.origin) else {
            return Ok(());
        };
        let begin = block.statement.reports_before;
        let before = group.range(..=begin).next_back();
        let after = group.range(begin.saturating_add(1)..).next();
        let mut neighbours = before.into_iter().chain(after);
        neighbours.try_for_each(|(_, other)| block.check_agrees_with(other))
    }

    /// Returns true if blocks are missing before this one: the batch has earlier blocks of its group,
    /// of which none ends where this one begins. Blocks before the first of them may be in another
    /// batch, which was closed meanwhile.
    pub(super) fn lack_block_before(&self, block: &BlockRecord) -> bool {
        let begin = block.statement.reports_before;
        let group = self.0.get(&block.origin);
        let Some(group) = group.filter(|group| !group.contains_key(&begin)) else {
            return false;
        };
        let before = group.range(..begin).next_back();
        before.is_some_and(|(_, other)| other.end() < begin)
    }

    /// Returns true if each group has its last block. A shuffler sends the blocks of a group in order,
    /// and each again until it is acknowledged.
    pub(super) fn are_complete(&self) -> bool {
        let mut groups = self.0.values();
        groups.all(|group| group.values().next_back().is_some_and(BlockRecord::is_last))
    }
}
