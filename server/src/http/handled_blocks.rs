//! Memory of the blocks that shufflers have sent.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::role::signature::SignerId;

/// Maximum number of blocks that are remembered as handled. A shuffler sends the blocks of a batch one
/// by one, each until it has the receipt.
const MAX_HANDLED_BLOCKS: usize = 1024;

/// Latest blocks whose receipts were made, with the shufflers that sent them. So the reports that a
/// block omits are counted once, however often the block is sent.
#[derive(Debug, Default)]
pub(super) struct HandledBlocks(Mutex<VecDeque<(SignerId, String)>>);

impl HandledBlocks {
    /// Remembers a block by its receipt. Returns true if it is not remembered already.
    pub(super) fn is_new(&self, shuffler: SignerId, receipt: &str) -> bool {
        let mut blocks = self.0.lock();
        let mut known = blocks.iter();
        if known.any(|(sender, own)| *sender == shuffler && own == receipt) {
            return false;
        }
        blocks.truncate(MAX_HANDLED_BLOCKS - 1);
        blocks.push_front((shuffler, receipt.to_owned()));
        true
    }
}
