//! Likelihoods of reports under inputs: how much likelier one is under one input than under another, by the
//! mechanisms' definitions.
//!
//! An audit that shared the randomizer's code would share its mistakes. This
//! is written from the definitions (Wang et al., "Differentially Private
//! Numerical Vector Analyses in the Local and Shuffle Model", Definition 5 and
//! Algorithm 1, and the rules `heaviest` and `strongest`; Zhou et al., "Locally
//! Differentially Private Sparse Vector Aggregation", Algorithm 1), in floating point
//! and from the requested ε. In common are the numbering of elements and the
//! hashes, which say what a report means.

mod buckets;
mod coco;
mod collision;
mod hash_bin;
mod neighbours;
mod observation;
#[cfg(test)]
mod tests;

pub use neighbours::{NeighbourPair, neighbour_pairs};
pub use observation::{Observation, Place};

use hushbin::domain::Signed;
use hushbin::{Entry, Mechanism, Report, Task, mechanism};

/// Observation of a report of `task` by an attacker who holds it against two
/// inputs of [`neighbour_pairs`].
///
/// Exact but for CoCo's rule `strongest` with fewer than s entries, where the
/// paddings, whose signs are secret, are left out; and for Laplace noise on sums
/// that are off the grid.
///
/// # Panics
/// If the report is of another mechanism.
#[must_use]
pub fn observe(task: &Task, inputs: [&[Entry]; 2], report: &Report) -> Observation {
    let (domain, epsilon) = (task.domain(), task.epsilon());
    match (task.mechanism(), report) {
        (Mechanism::Collision(collision), Report::Collision(report)) => {
            collision::observe(collision, &domain, epsilon.exp(), inputs, report)
        }
        (Mechanism::Coco(coco), Report::Coco(report)) => {
            coco::observe(coco, &domain, epsilon.exp(), inputs, report)
        }
        (Mechanism::HashBin(hash_bin), Report::HashBin(report)) => {
            let response = (report.seed, &report.response);
            hash_bin::observe(hash_bin, &domain, epsilon, inputs, response)
        }
        _ => panic!("reports are of the task's mechanism"),
    }
}

/// The core's probabilities of buckets, given a seed, signed items and the signs
/// of paddings (bit i set for a negative one; Collision's paddings have none);
/// `None` where reports have
/// none.
#[must_use]
pub fn core_probabilities(
    task: &Task,
) -> Option<impl FnMut(u64, &[Signed], u64) -> Vec<f64> + use<>> {
    enum Core {
        Collision(mechanism::collision::Randomizer),
        Coco(mechanism::coco::Randomizer),
    }
    let (domain, epsilon) = (task.domain(), task.epsilon());
    let mut core = match task.mechanism() {
        Mechanism::Collision(collision) => Core::Collision(mechanism::collision::Randomizer::new(
            collision, &domain, epsilon,
        )),
        Mechanism::Coco(coco) => {
            Core::Coco(mechanism::coco::Randomizer::new(coco, &domain, epsilon))
        }
        Mechanism::HashBin(_) => return None,
    };
    Some(move |seed, signed: &[Signed], paddings| match &mut core {
        Core::Collision(core) => core.probabilities(seed, signed),
        Core::Coco(core) => core.probabilities(seed, signed, paddings),
    })
}
