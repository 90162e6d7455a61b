//! How likely reports are under an input.

mod neighbours;
mod ratio;

pub use neighbours::{Neighbours, neighbours};
pub use ratio::{Place, Sight, look};

use hushbin::domain::Signed;
use hushbin::mechanism::{coco, collision};
use hushbin::{Mechanism, Task};

/// The core's probabilities of buckets, given a seed, signed items and the signs
/// of paddings (bit i set for a negative one; Collision's paddings have none);
/// `None` where reports
/// have none.
#[must_use]
pub fn core_probabilities(
    task: &Task,
) -> Option<impl FnMut(u64, &[Signed], u64) -> Vec<f64> + use<>> {
    enum Core {
        Collision(collision::Randomizer),
        Coco(coco::Randomizer),
    }
    let (domain, epsilon) = (task.domain(), task.epsilon());
    let mut core = match task.mechanism() {
        Mechanism::Collision(collision) => {
            Core::Collision(collision::Randomizer::new(collision, &domain, epsilon))
        }
        Mechanism::Coco(coco) => Core::Coco(coco::Randomizer::new(coco, &domain, epsilon)),
        Mechanism::HashBin(_) => return None,
    };
    Some(move |seed, signed: &[Signed], paddings| match &mut core {
        Core::Collision(core) => core.probabilities(seed, signed),
        Core::Coco(core) => core.probabilities(seed, signed, paddings),
    })
}
