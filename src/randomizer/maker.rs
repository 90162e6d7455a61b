//! From one person's entries to a report.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use crate::domain::{Entry, check_distinct, check_values};
use crate::error::{Error, error};
use crate::mechanism::Prepared;
use crate::sample::word;
use crate::task::{Kind, Question, Task};

/// The maker of reports for one task, with what can be prepared once and the
/// memory that would otherwise be allocated for every report.
///
/// # Guarantee
/// Each call that makes a report is
/// [`Task::effective_epsilon`]-locally differentially private: for any two
/// inputs and any report, the probabilities of making that report differ by a
/// factor of at most exp(ε), the seed being public and drawn independently of
/// the input. This rests on the generator alone. Hash-bin below user level
/// promises it for [neighbours](crate::mechanism::hash_bin::Level) only, and with a δ that rests
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
    task: Task,
    /// By question.
    pub(super) prepared: Vec<Prepared>,
    /// For the check of entries that come unsorted.
    keys: Vec<u64>,
    /// For numbers, once they are coded.
    coded: Vec<Entry>,
    /// The question last answered.
    pub(super) answered: usize,
}

impl Randomizer {
    pub(crate) fn of(task: Task) -> Self {
        let prepare = |question: &Question| {
            let mechanism = question.mechanism();
            mechanism.randomizer(&question.domain(), question.epsilon())
        };
        Self {
            prepared: task.questions().iter().map(prepare).collect(),
            task,
            keys: Vec::new(),
            coded: Vec::new(),
            answered: 0,
        }
    }

    /// The task.
    #[cfg(feature = "wasm")]
    pub(crate) const fn task(&self) -> &Task {
        &self.task
    }

    /// Randomises one person's answers, as `randomize_answers`, with the encoded report appended to
    /// `bytes`, so that nothing else is allocated once the longest input has been seen; returns
    /// whether the input had more than s entries, so that some were left out.
    ///
    /// # Errors
    /// As there; nothing is appended.
    pub fn randomize_encoded<R: CryptoRng + ?Sized>(
        &mut self,
        answers: &[&[Entry]],
        rng: &mut R,
        bytes: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let sampled_down = self.draw(answers, rng)?;
        self.prepared[self.answered].encode(bytes);
        Ok(sampled_down)
    }

    pub(super) fn draw<R: CryptoRng + ?Sized>(
        &mut self,
        answers: &[&[Entry]],
        rng: &mut R,
    ) -> Result<bool, Error> {
        let questions = self.task.questions();
        if answers.len() != questions.len() {
            return Err(error!(AnswerCount {
                given: answers.len(),
                expected: questions.len() as u32,
            }));
        }
        for (question, entries) in questions.iter().zip(answers) {
            let checked = check(question, entries, &mut self.keys);
            checked.map_err(|error| question.blame(error))?;
        }
        let seed = word(rng);
        self.answered = self.task.draw().question(seed);
        let kind = questions[self.answered].kind();
        let entries = kind.code(answers[self.answered], &mut self.coded, seed, rng);
        Ok(self.prepared[self.answered].randomize(entries, seed, rng))
    }
}

/// The check that entries answer a question; `keys` is memory for those that come unsorted.
///
/// # Errors
/// [`Error::UnknownItem`], [`Error::ValueRange`], [`Error::DuplicateItem`] or, where a number
/// of entries is to be given, [`Error::AnswerCount`].
fn check(question: &Question, entries: &[Entry], keys: &mut Vec<u64>) -> Result<(), Error> {
    let (kind, domain) = (question.kind(), question.domain());
    let count = |given: usize, expected: u32| match given == expected as usize {
        true => Ok(()),
        false => Err(error!(AnswerCount { given, expected })),
    };
    let mut items = domain.items();
    let coded = kind.coded();
    if let Some([expected, of]) = coded {
        count(entries.len(), expected)?;
        // A text that is short is all of several prefixes.
        items = items.map(|_| of);
    }
    let accepts = |item, value| kind.accepts(item, value);
    check_values(entries, items, &accepts, kind.expected())?;
    if coded.is_none() && !domain.is_padded() {
        let given = entries.iter().filter(|entry| entry.value != 0.0);
        count(given.count(), domain.sparsity())?;
    }
    match kind {
        Kind::Text(_) => Ok(()),
        _ => check_distinct(entries, keys),
    }
}
