//! Reports that are made to be looked at, not sent.

use rand_core::CryptoRng;

use super::maker::Randomizer;
use crate::domain::Entry;
use crate::error::Error;
use crate::mechanism::Report;
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

impl Randomizer {
    /// Prepares for `task`.
    #[must_use]
    pub fn new(task: &Task) -> Self {
        Self::of(task.clone())
    }

    /// Randomises one person's entries into a report, where a task asks one question.
    ///
    /// # Errors
    /// [`Error::UnknownItem`], [`Error::ValueRange`], [`Error::DuplicateItem`], or
    /// [`Error::AnswerCount`]; no report is made and no randomness drawn.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        rng: &mut R,
    ) -> Result<Randomized, Error> {
        self.randomize_answers(&[entries], rng)
    }

    /// Randomises one person's answers into a report: the entries for each question, in their
    /// order. A number is the value of an entry for item 0, several are the values of entries for
    /// their items; of a cross the item is the row, the value the index of the column or the
    /// number; of what is asked together there is an entry for each part, whose value is the index
    /// of an option. A text is an entry for each [prefix](crate::task::Prefixes), of value 1.
    ///
    /// Which question the report answers is drawn by the seed, before the answers are
    /// looked at for anything but errors.
    ///
    /// # Errors
    /// As [`Randomizer::randomize`], of the first [question](Error::Question) with a
    /// wrong answer.
    pub fn randomize_answers<R: CryptoRng + ?Sized>(
        &mut self,
        answers: &[&[Entry]],
        rng: &mut R,
    ) -> Result<Randomized, Error> {
        let sampled_down = self.draw(answers, rng)?;
        Ok(Randomized {
            report: self.prepared[self.answered].take(),
            sampled_down,
        })
    }
}
