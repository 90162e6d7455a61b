//! The rates of a task's mechanism: with which probabilities a report supports what.

use hushbin::mechanism::{coco, collision, hash_bin};
use hushbin::{Mechanism, Task};

/// The rates of one mechanism, over a task's domain at its ε.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rates {
    Collision(collision::Rates),
    Coco(coco::Rates),
    HashBin(hash_bin::Rates),
}

impl Rates {
    /// The rates of the task's reports.
    pub(super) fn for_task(task: &Task) -> Self {
        let (domain, epsilon) = (task.domain(), task.epsilon());
        match task.mechanism() {
            Mechanism::Collision(collision) => Self::Collision(collision.rates(&domain, epsilon)),
            Mechanism::Coco(coco) => Self::Coco(coco.rates(&domain, epsilon)),
            Mechanism::HashBin(hash_bin) => Self::HashBin(hash_bin.rates(&domain, epsilon)),
        }
    }
}
