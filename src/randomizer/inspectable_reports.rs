//! Reports that tests and simulations inspect instead of sending.

use rand_core::CryptoRng;

use super::report_maker::Randomizer;
use crate::domain::Entry;
use crate::error::Error;
use crate::mechanism::Report;
use crate::task::Task;

/// Report, together with information that only its client may learn.
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
/// assert!(made.was_sampled_down);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RandomizedReport {
    /// Randomised report.
    pub report: Report,
    /// True if the input had more than s entries, so that some were left out. The value is only for
    /// the client's own count and is never part of a report.
    pub was_sampled_down: bool,
}

impl Randomizer {
    /// Creates a randomizer for `task`.
    #[must_use]
    pub fn new(task: &Task) -> Self {
        Self::from_task(task.clone())
    }

    /// Randomises one person's entries into a report, for a task of one question.
    ///
    /// # Errors
    /// [`Error::UnknownItem`], [`Error::ValueOutOfRange`], [`Error::DuplicateItem`], or
    /// [`Error::WrongAnswerCount`]. On an error no report is made and no randomness is drawn.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        rng: &mut R,
    ) -> Result<RandomizedReport, Error> {
        self.randomize_answers(&[entries], rng)
    }

    /// Randomises one person's answers into a report. An answer is a list of entries, and the
    /// answers are in the order of the questions. The entries depend on the kind of question:
    ///
    /// - For one number, there is an entry for item 0, whose value is the number.
    /// - For several numbers, the values of the entries are the numbers. The items are the indices
    ///   of the numbers.
    /// - For a cross-tabulation, the item is the row. The value is the index of the column or, if
    ///   the columns are levels or bins, the number.
    /// - For a question of kind `together`, there is an entry for each part. Its value is the index
    ///   of an option.
    /// - For a text, there is an entry of value 1 for each [prefix](crate::task::PrefixLengths).
    ///
    /// The seed determines which question the report answers. Answers to all questions are first
    /// checked for errors.
    ///
    /// # Errors
    /// As for [`Randomizer::randomize`], for the first [question](Error::ErrorInQuestion) with a wrong
    /// answer.
    pub fn randomize_answers<R: CryptoRng + ?Sized>(
        &mut self,
        answers: &[&[Entry]],
        rng: &mut R,
    ) -> Result<RandomizedReport, Error> {
        let sampled_down = self.randomize_to_buffer(answers, rng)?;
        Ok(RandomizedReport {
            report: self.question_randomizers[self.last_question_index].take_report(),
            was_sampled_down: sampled_down,
        })
    }
}
