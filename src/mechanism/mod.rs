//! The mechanisms: each a module with its parameters, its rates, its
//! randomizer and the support of its reports.

pub mod coco;
pub mod collision;
mod favoured;
pub mod occupancy;
mod search;

use alloc::vec::Vec;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::domain::{Domain, Entry, Signed};
use crate::error::Error;
use crate::report::Report;
use crate::task::{Task, ValueKind};
use coco::Coco;
use collision::Collision;

/// A mechanism with all its parameters, chosen by a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Mechanism {
    /// Frequencies of items with signs, from one bucket.
    Collision(Collision),
    /// Means, from one side of a pair of buckets.
    Coco(Coco),
}

impl Mechanism {
    /// The mechanism's name, as in a task file.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Collision(_) => "collision",
            Self::Coco(_) => "coco",
        }
    }

    pub(crate) fn check(&self, domain: &Domain) -> Result<(), Error> {
        match self {
            Self::Collision(collision) => collision.check(domain),
            Self::Coco(coco) => coco.check(domain),
        }
    }

    pub(crate) fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64 {
        match self {
            Self::Collision(collision) => collision
                .thresholds(domain.sparsity(), epsilon)
                .effective_epsilon(),
            Self::Coco(coco) => coco
                .thresholds(domain.sparsity(), epsilon)
                .effective_epsilon(),
        }
    }
}

/// A report with what the client may know about its making.
#[derive(Debug, Clone, PartialEq)]
pub struct Randomized {
    /// The randomised message.
    pub report: Report,
    /// Whether the input had more than s entries, so that some were left out.
    /// For the client's own count; never part of a report.
    pub sampled_down: bool,
}

/// Makes reports for one task; holds what can be prepared once and the memory
/// that would otherwise be allocated for every report.
///
/// # Guarantee
/// Each call of [`Randomizer::randomize`] is
/// [`Task::effective_epsilon`]-locally differentially private: for any two
/// inputs and any report, the probabilities of making that report differ by a
/// factor of at most exp(ε), the seed being public and drawn independently of
/// the input. This rests on the generator alone.
///
/// ```
/// use hushbin::{Entry, Randomizer, TaskDraft};
/// use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
///
/// let draft: TaskDraft = serde_json::from_str(
///     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let task = draft.resolve().unwrap();
/// let mut randomizer = Randomizer::new(&task);
///
/// // A test's generator; a page's is seeded by the operating system.
/// let mut rng = ChaCha20Rng::seed_from_u64(1);
/// let input = [Entry { item: 3, value: 1.0 }, Entry { item: 17, value: -1.0 }];
/// let made = randomizer.randomize(&input, &mut rng).unwrap();
/// assert!(!made.sampled_down);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    domain: Domain,
    kind: ValueKind,
    signed: Vec<Signed>,
    prepared: Prepared,
}

#[derive(Debug, Clone)]
enum Prepared {
    Collision(collision::Randomizer),
    Coco(coco::Randomizer),
}

impl Randomizer {
    /// Prepares for `task`.
    #[must_use]
    pub fn new(task: &Task) -> Self {
        let domain = task.domain();
        Self {
            domain,
            kind: task.value(),
            signed: Vec::with_capacity(task.sparsity() as usize),
            prepared: match task.mechanism() {
                Mechanism::Collision(collision) => Prepared::Collision(collision::Randomizer::new(
                    collision,
                    &domain,
                    task.epsilon(),
                )),
                Mechanism::Coco(coco) => {
                    Prepared::Coco(coco::Randomizer::new(coco, &domain, task.epsilon()))
                }
            },
        }
    }

    /// Randomises one person's entries into a report.
    ///
    /// # Errors
    /// [`Error::UnknownItem`], [`Error::ValueRange`] or
    /// [`Error::DuplicateItem`]; no report is made and no randomness drawn.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        rng: &mut R,
    ) -> Result<Randomized, Error> {
        let sampled_down = self
            .domain
            .sparsify(entries, self.kind, rng, &mut self.signed)?;
        let report = match &mut self.prepared {
            Prepared::Collision(collision) => {
                Report::Collision(collision.randomize(&self.signed, rng))
            }
            Prepared::Coco(coco) => Report::Coco(coco.randomize(&self.signed, rng)),
        };
        Ok(Randomized {
            report,
            sampled_down,
        })
    }
}
