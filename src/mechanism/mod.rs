//! The mechanisms: each a module with its parameters, its rates, its
//! randomizer and the support of its reports.

mod auto;
mod budget;
pub mod coco;
pub mod collision;
mod crowd;
mod favoured;
pub mod hash_bin;
pub mod occupancy;
mod search;

pub(crate) use auto::Search;
pub use auto::{Candidate, Objective};
pub use budget::{Budget, alpha};
pub use crowd::{Crowd, PEOPLE, Predicted, SquaredError};

use alloc::vec::Vec;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::domain::{Domain, Entry, Signed};
use crate::error::Error;
use crate::hash::{Keys, closed_sign, open_sign};
use crate::report::Report;
use crate::task::{Task, ValueKind};
use coco::Coco;
use collision::Collision;
use hash_bin::HashBin;

/// A mechanism with all its parameters, chosen by a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Mechanism {
    /// Frequencies of items with signs, from one bucket.
    Collision(Collision),
    /// Means, from one side of a pair of buckets.
    Coco(Coco),
    /// Means, from noisy sums of real values.
    HashBin(HashBin),
}

impl Mechanism {
    /// The mechanism's name, as in a task file.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Collision(_) => "collision",
            Self::Coco(_) => "coco",
            Self::HashBin(_) => "hash-bin",
        }
    }

    /// Which inputs a report hardly tells apart.
    #[must_use]
    pub const fn neighbours(&self) -> Neighbours {
        match self {
            Self::Collision(_) | Self::Coco(_) => Neighbours::Any,
            Self::HashBin(hash_bin) => match hash_bin.level() {
                hash_bin::Level::User { .. } => Neighbours::Any,
                hash_bin::Level::Event => Neighbours::OneItem,
                hash_bin::Level::Neighbouring { distance, .. } => Neighbours::Within(distance),
            },
        }
    }

    /// δ: the guarantee of ε fails with at most this probability. 0 but for
    /// hash-bin with a δ.
    #[must_use]
    pub fn delta(&self) -> f64 {
        match self {
            Self::Collision(_) | Self::Coco(_) => 0.0,
            Self::HashBin(hash_bin) => hash_bin.realised_delta(),
        }
    }

    pub(crate) fn check(&self, domain: &Domain) -> Result<(), Error> {
        match self {
            Self::Collision(collision) => collision.check(domain),
            Self::Coco(coco) => coco.check(domain),
            Self::HashBin(hash_bin) => hash_bin.check(domain),
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
            Self::HashBin(hash_bin) => hash_bin
                .sampling(domain.items(), epsilon)
                .effective_epsilon(),
        }
    }
}

/// The pairs of inputs that ε is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Neighbours {
    /// Any two: a person's whole input is protected.
    Any,
    /// Two that differ in the value of one item: every entry is protected by
    /// itself.
    OneItem,
    /// Two whose values differ by at most this much in sum.
    Within(f64),
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
/// the input. This rests on the generator alone. Hash-bin below user level
/// promises it for [neighbours](hash_bin::Level) only, and with a δ that rests
/// on the hash too.
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
    /// For the check of entries that come unsorted.
    keys: Vec<u64>,
    prepared: Prepared,
}

#[derive(Debug, Clone)]
enum Prepared {
    Collision(collision::Randomizer),
    Coco(coco::Randomizer),
    HashBin(hash_bin::Randomizer),
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
            keys: Vec::new(),
            prepared: match task.mechanism() {
                Mechanism::Collision(collision) => Prepared::Collision(collision::Randomizer::new(
                    collision,
                    &domain,
                    task.epsilon(),
                )),
                Mechanism::Coco(coco) => {
                    Prepared::Coco(coco::Randomizer::new(coco, &domain, task.epsilon()))
                }
                Mechanism::HashBin(hash_bin) => {
                    Prepared::HashBin(hash_bin::Randomizer::new(hash_bin, &domain, task.epsilon()))
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
        let mut report = Report::empty();
        let sampled_down = self.randomize_into(entries, rng, &mut report)?;
        Ok(Randomized {
            report,
            sampled_down,
        })
    }

    /// The same into a report whose memory is used again, so that nothing is
    /// allocated once the longest input has been seen; returns whether the input
    /// had more than s entries, so that some were left out.
    ///
    /// # Errors
    /// As [`Randomizer::randomize`]; the report is left as it was.
    pub fn randomize_into<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        rng: &mut R,
        report: &mut Report,
    ) -> Result<bool, Error> {
        self.domain.check(entries, self.kind, &mut self.keys)?;
        if let Prepared::HashBin(hash_bin) = &mut self.prepared {
            hash_bin.randomize(entries, rng, report.bins_mut());
            return Ok(false);
        }
        let sampled_down = self.domain.draw_signed(entries, rng, &mut self.signed);
        *report = match &mut self.prepared {
            Prepared::Collision(collision) => {
                Report::Collision(collision.randomize(&self.signed, rng))
            }
            Prepared::Coco(coco) => Report::Coco(coco.randomize(&self.signed, rng)),
            Prepared::HashBin(_) => unreachable!("handled above"),
        };
        Ok(sampled_down)
    }
}

/// The fair sign of an element without a sign of its own (an item, or a
/// padding).
#[inline]
fn element_sign(domain: &Domain, keys: &Keys, element: u64) -> i8 {
    match domain.items() {
        // Elements of a closed domain are below d + s < 2³².
        Some(_) => closed_sign(keys, element as u32),
        None => open_sign(keys, element),
    }
}
