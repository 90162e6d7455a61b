//! Randomising of one person's entries into a report.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use crate::domain::{Entry, check_distinct, check_values};
use crate::error::{Error, error};
use crate::mechanism::PreparedRandomizer;
use crate::sample::draw_word;
use crate::task::{Kind, Question, Task};

/// Maker of reports for one task. It keeps prepared data, and buffers that would otherwise be
/// allocated for every report.
///
/// # Guarantee
/// Each call that makes a report is [`Task::effective_epsilon`]-locally differentially private. For
/// any two inputs and any report, the probabilities of making that report differ by a factor of at
/// most exp(ε). The seed is public and drawn independently of the input.
///
/// The guarantee relies only on the random generator. Below user level, the hash-bin mechanism
/// guarantees ε only between [neighbours](crate::mechanism::hash_bin::PrivacyLevel), with a δ that
/// also depends on the hash.
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
/// // A test's generator. A page's generator is seeded by the operating system.
/// let mut rng = ChaCha20Rng::seed_from_u64(1);
/// let input = [Entry { item: 3, value: 1.0 }, Entry { item: 17, value: -1.0 }];
/// let made = randomizer.randomize(&input, &mut rng).unwrap();
/// assert!(!made.sampled_down);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    task: Task,
    /// Prepared randomizer of each question.
    pub(super) prepared: Vec<PreparedRandomizer>,
    /// Buffer for the check of unsorted entries.
    keys: Vec<u64>,
    /// Buffer for the entries after coding by `Kind::answer_to_domain_entries`.
    coded_entries: Vec<Entry>,
    /// Index of the question that the latest report answers.
    pub(super) last_question: usize,
}

impl Randomizer {
    pub(crate) fn from_task(task: Task) -> Self {
        let prepare = |question: &Question| {
            let mechanism = question.mechanism();
            mechanism.randomizer(&question.domain(), question.epsilon())
        };
        Self {
            prepared: task.questions().iter().map(prepare).collect(),
            task,
            keys: Vec::new(),
            coded_entries: Vec::new(),
            last_question: 0,
        }
    }

    /// Returns the task that the randomizer was made for.
    #[cfg(feature = "wasm")]
    pub(crate) const fn task(&self) -> &Task {
        &self.task
    }

    /// Randomises one person's answers, as `randomize_answers` does, and appends the encoded report
    /// to `bytes`. Buffers grow with the longest input so far. For shorter inputs, only `bytes`
    /// allocates memory. Returns true if the input had more than s entries, so that some were left
    /// out.
    ///
    /// # Errors
    /// As for `randomize_answers`. On an error nothing is appended.
    pub fn randomize_and_encode<R: CryptoRng + ?Sized>(
        &mut self,
        answers: &[&[Entry]],
        rng: &mut R,
        bytes: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let sampled_down = self.randomize_to_buffer(answers, rng)?;
        self.prepared[self.last_question].encode_report(bytes);
        Ok(sampled_down)
    }

    pub(super) fn randomize_to_buffer<R: CryptoRng + ?Sized>(
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
        // Check all answers before anything is drawn, so that an error does not depend on the draw.
        for (question, entries) in questions.iter().zip(answers) {
            let checked = check_answer(question, entries, &mut self.keys);
            checked.map_err(|error| question.error_in_question(error))?;
        }
        // The seed is drawn independently of the answers, because it is public.
        let seed = draw_word(rng);
        self.last_question = self.task.question_draw().drawn_question(seed);
        let kind = questions[self.last_question].kind();
        let entries = kind.answer_to_domain_entries(
            answers[self.last_question],
            &mut self.coded_entries,
            seed,
            rng,
        );
        Ok(self.prepared[self.last_question].randomize(entries, seed, rng))
    }
}

/// Checks that the entries are a valid answer to the question. `keys` is a buffer for sorting
/// entries that are unsorted.
///
/// # Errors
/// [`Error::UnknownItem`], [`Error::ValueRange`], [`Error::DuplicateItem`] or, if the number of
/// entries is fixed, [`Error::AnswerCount`].
fn check_answer(question: &Question, entries: &[Entry], keys: &mut Vec<u64>) -> Result<(), Error> {
    let (kind, domain) = (question.kind(), question.domain());
    let count = |given: usize, expected: u32| match given == expected as usize {
        true => Ok(()),
        false => Err(error!(AnswerCount { given, expected })),
    };
    let mut items = domain.item_count();
    let coded = kind.entry_and_item_counts();
    if let Some([expected, of]) = coded {
        count(entries.len(), expected)?;
        // A short text has one item for several prefixes.
        items = items.map(|_| of);
    }
    let accepts = |item, value| kind.accepts_value(item, value);
    check_values(entries, items, &accepts, kind.accepted_values_text())?;
    if coded.is_none() && !domain.is_padded() {
        let given = entries.iter().filter(|entry| entry.value != 0.0);
        count(given.count(), domain.sparsity())?;
    }
    match kind {
        Kind::Text(_) => Ok(()),
        _ => check_distinct(entries, keys),
    }
}
