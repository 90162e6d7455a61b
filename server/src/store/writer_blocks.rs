//! Blocks that the writer of an analyser takes: contradictions between them, and batches that wait for
//! more.

use std::sync::Arc;

use data_encoding::HEXLOWER;

use super::commit_group::CommitGroup;
use super::engine::EngineError;
use super::error::StoreError;
use super::open_blocks::BlockGroups;
use super::request::UploadRequest;
use super::shuffled_block::BlockError;
use super::task::StoredTask;
use super::writer::Writer;

/// Time in seconds for which an analyser keeps a batch open for the missing blocks of a shuffled
/// batch, once the batch is due. A shuffler that was stopped for an upgrade is back by then, and
/// the largest batches have been opened.
pub(super) const MAX_BLOCK_WAIT_SECONDS: u64 = 6 * 3600;

impl Writer {
    /// Checks that a block contradicts no other block in the open batch, or in `groups`, which are
    /// not committed yet. Also checks that the block before it is there: a database that failed
    /// over may have lost it, although it was acknowledged. The shuffler then sends all blocks again.
    ///
    /// # Errors
    /// [`StoreError::InvalidBlock`], or when storage fails.
    pub(super) fn check_block(
        &mut self,
        UploadRequest {
            task, submission, ..
        }: &UploadRequest,
        groups: &[CommitGroup],
    ) -> Result<(), StoreError> {
        let Some(block) = &submission.block else {
            return Ok(());
        };
        let id = task.task().id();
        let stored = self.blocks_of_open_batch(task);
        let stored = stored.map_err(|error| StoreError::from_engine_error(error, id))?;
        stored.check(block)?;
        let seems_to_lack = stored.lack_block_before(block);
        let own_group = groups.iter().filter(|group| Arc::ptr_eq(&group.task, task));
        let mut waiting = own_group.flat_map(|group| &group.blocks);
        waiting.try_for_each(|other| block.check_agrees_with(other))?;
        if !seems_to_lack {
            return Ok(());
        }
        // Another process may have stored the block before this one.
        let stored = self.reread_blocks_of_open_batch(task);
        let stored = stored.map_err(|error| StoreError::from_engine_error(error, id))?;
        if !stored.lack_block_before(block) {
            return Ok(());
        }
        tracing::error!(
            task = id,
            shuffler = HEXLOWER.encode(&block.origin.shuffler),
            "refused: the block before this one is missing, although its shuffler has the receipt"
        );
        Err(BlockError::MissingBlock.into())
    }

    /// Returns the blocks in a task's open batch.
    fn blocks_of_open_batch(&mut self, task: &StoredTask) -> Result<&BlockGroups, EngineError> {
        let (key, batch) = (task.key(), self.open_batch_number(task));
        let read = || self.engine.open_block_bodies(key);
        self.open_blocks.of_batch(key, batch, read)
    }

    /// Reads the blocks in a task's open batch from storage again, because other processes may have
    /// stored further ones.
    fn reread_blocks_of_open_batch(
        &mut self,
        task: &StoredTask,
    ) -> Result<&BlockGroups, EngineError> {
        self.open_blocks.forget(task.key());
        self.blocks_of_open_batch(task)
    }

    /// Returns the number of the batch that the engine's next commit is for, or 0 if the task was
    /// deleted.
    pub(super) fn open_batch_number(&self, task: &StoredTask) -> u64 {
        let batches = self.engine.batches(task.key());
        batches.last().map_or(0, |open| open.number)
    }

    /// Returns true if a task's open batch may close: if no block of a shuffled batch is still to
    /// come into it, or if it has waited for long enough.
    ///
    /// The messages of some blocks are a random sample of a shuffled batch. Estimates from them
    /// would have a larger error than is stated. Another process that shares the journal may store
    /// a first block just after this check. The release then reports that it lacks blocks.
    pub(super) fn has_complete_blocks(
        &mut self,
        task: &StoredTask,
        batch: u64,
    ) -> Result<bool, EngineError> {
        Ok(!task.has_block_records()
            || self.are_blocks_complete(task)?
            || task.block_wait_seconds(batch, &self.clock) >= MAX_BLOCK_WAIT_SECONDS)
    }

    /// Returns true if the groups of all blocks in a task's open batch have a last block, also when
    /// they are read from storage again.
    fn are_blocks_complete(&mut self, task: &StoredTask) -> Result<bool, EngineError> {
        if !self.blocks_of_open_batch(task)?.are_complete() {
            return Ok(false);
        }
        Ok(self.reread_blocks_of_open_batch(task)?.are_complete())
    }
}
