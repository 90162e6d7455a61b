//! From one person's entries to a report.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use crate::domain::{Domain, Entry, ValueKind};
use crate::error::Error;
#[cfg(doc)]
use crate::mechanism::hash_bin;
use crate::mechanism::{Prepared, Report};
use crate::task::Task;

/// A report with what the client may know about its making.
///
/// ```
/// use hushbin::{Entry, Randomizer};
/// use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
///
/// # let task: hushbin::Task = serde_json::from_str(r#"{
/// #     "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign",
/// #     "mechanism": { "name": "collision", "rule": "heaviest", "favoured": 2,
/// #         "hashing": "balanced", "buckets": 12 }
/// # }"#).unwrap();
/// let many: Vec<Entry> = (0..4).map(|item| Entry { item, value: 1.0 }).collect();
/// let mut rng = ChaCha20Rng::seed_from_u64(1);
/// let made = Randomizer::new(&task).randomize(&many, &mut rng).unwrap();
/// // One of four entries was left out: s is 3.
/// assert!(made.sampled_down);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Randomized {
    /// The randomised message.
    pub report: Report,
    /// Whether the input had more than s entries, so that some were left out.
    /// For the client's own count; never part of a report.
    pub sampled_down: bool,
}

/// The maker of reports for one task, with what can be prepared once and the
/// memory that would otherwise be allocated for every report.
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
    /// For the check of entries that come unsorted.
    keys: Vec<u64>,
    prepared: Prepared,
}

impl Randomizer {
    /// Prepares for `task`.
    #[must_use]
    pub fn new(task: &Task) -> Self {
        let domain = task.domain();
        Self {
            domain,
            kind: task.value(),
            keys: Vec::new(),
            prepared: task.mechanism().randomizer(&domain, task.epsilon()),
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
        let sampled_down = self.draw(entries, rng)?;
        Ok(Randomized {
            report: self.prepared.take(),
            sampled_down,
        })
    }

    /// The same, with the encoded report appended to `bytes`, so that nothing
    /// else is allocated once the longest input has been seen; returns whether
    /// the input had more than s entries, so that some were left out.
    ///
    /// # Errors
    /// As [`Randomizer::randomize`]; nothing is appended.
    pub fn randomize_encoded<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        rng: &mut R,
        bytes: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let sampled_down = self.draw(entries, rng)?;
        self.prepared.encode(bytes);
        Ok(sampled_down)
    }

    fn draw<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        rng: &mut R,
    ) -> Result<bool, Error> {
        self.domain.check(entries, self.kind, &mut self.keys)?;
        Ok(self.prepared.randomize(entries, rng))
    }
}
