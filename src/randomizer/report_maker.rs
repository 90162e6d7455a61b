//! Randomising of one person's entries into a report.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use crate::domain::{Entry, check_distinct_items, check_entry_values};
use crate::error::{Error, error};
use crate::mechanism::MemoAndReportThresholds;
use crate::mechanism::PreparedRandomizer;
use crate::sample::draw_u64;
use crate::task::{Question, QuestionKind, Task};

/// Memo that was drawn: the number of a slot, at least 0 and below [`MemoAndReportThresholds::slot_count`]. An option
/// has the same number as its slot, so this type keeps apart what must never be confused: a report
/// that is made from an option as if it were a memo reveals too much.
///
/// ```
/// use hushbin::MemoSlot;
///
/// // A memo that was stored earlier.
/// assert_eq!(MemoSlot(3).0, 3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoSlot(pub u32);

/// Maker of reports for one task. It keeps prepared data, and buffers that would otherwise be
/// allocated for every report.
///
/// # Guarantee
/// Each call that makes a report from answers is [`Task::achieved_report_epsilon`]-locally differentially private. For
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
/// let task = draft.resolve_task().unwrap();
/// let mut randomizer = Randomizer::new(&task);
///
/// // A test's generator. A page's generator is seeded by the operating system.
/// let mut rng = ChaCha20Rng::seed_from_u64(1);
/// let input = [Entry { item: 3, value: 1.0 }, Entry { item: 17, value: -1.0 }];
/// let made = randomizer.randomize(&input, &mut rng).unwrap();
/// assert!(!made.was_sampled_down);
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    task: Task,
    /// Prepared randomizer of each question.
    pub(super) question_randomizers: Vec<PreparedRandomizer>,
    /// Buffer for the check of unsorted entries.
    sort_key_buffer: Vec<u64>,
    /// Buffer for the entries after coding by `Kind::answer_to_domain_entries`.
    coded_entries: Vec<Entry>,
    /// Index of the question that the latest report answers.
    pub(super) last_question_index: usize,
}

impl Randomizer {
    pub(crate) fn from_task(task: Task) -> Self {
        let prepare = |question: &Question| {
            let (mechanism, domain) = (question.mechanism(), question.domain());
            let epsilon = question.epsilon();
            match task.memo_thresholds() {
                Some(stages) => stages.report_randomizer(mechanism, &domain, epsilon),
                None => mechanism.randomizer(&domain, epsilon),
            }
        };
        Self {
            question_randomizers: task.questions().iter().map(prepare).collect(),
            task,
            sort_key_buffer: Vec::new(),
            coded_entries: Vec::new(),
            last_question_index: 0,
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
        self.question_randomizers[self.last_question_index].encode_report(bytes);
        Ok(sampled_down)
    }

    /// Draws the memo of a person who has this option, for a task whose budget has a
    /// [memo](crate::task::MemoParameters). A flag has the options 0 (no) and 1 (yes). The memo is
    /// [`Memo::epsilon`](crate::task::MemoParameters::epsilon)-locally differentially private.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if the budget has no memo, and [`Error::UnknownItem`] if the option
    /// does not exist.
    pub fn draw_memo<R: CryptoRng + ?Sized>(
        &self,
        option: u32,
        rng: &mut R,
    ) -> Result<MemoSlot, Error> {
        let options = self.task.questions()[0].domain().item_count().unwrap_or(0);
        let stages = self.checked_memo_thresholds(option, options)?;
        Ok(MemoSlot(stages.draw_memo(option, rng)))
    }

    /// Makes a report from a memo, and appends the encoded report to `bytes`. The report reveals
    /// nothing but the memo, and more about the memo than [`Task::achieved_report_epsilon`]. Averaged over
    /// the draw of the memo, it reveals at most that ε about the answer.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if the budget has no memo, and [`Error::UnknownItem`] if `memo` is not
    /// a slot.
    pub fn encode_report_from_memo<R: CryptoRng + ?Sized>(
        &mut self,
        MemoSlot(memo): MemoSlot,
        rng: &mut R,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let slots = self
            .task
            .memo_thresholds()
            .map_or(0, |stages| stages.slot_count);
        self.checked_memo_thresholds(memo, slots)?;
        let seed = draw_u64(rng);
        self.question_randomizers[0].randomize(&[slot_entry(memo)], seed, rng);
        self.question_randomizers[0].encode_report(bytes);
        Ok(())
    }

    /// Returns the thresholds of the memo, after a check that `number` is below `limit`.
    fn checked_memo_thresholds(
        &self,
        number: u32,
        limit: u32,
    ) -> Result<&MemoAndReportThresholds, Error> {
        let Some(stages) = self.task.memo_thresholds() else {
            return Err(error!(InvalidCombination {
                reason: "the task's budget has no \"memo\"",
            }));
        };
        if number >= limit {
            return Err(error!(UnknownItem {
                item: u64::from(number),
                items: limit,
            }));
        }
        Ok(stages)
    }

    pub(super) fn randomize_to_buffer<R: CryptoRng + ?Sized>(
        &mut self,
        answers: &[&[Entry]],
        rng: &mut R,
    ) -> Result<bool, Error> {
        let questions = self.task.questions();
        if answers.len() != questions.len() {
            return Err(error!(WrongAnswerCount {
                given: answers.len(),
                expected: questions.len() as u32,
            }));
        }
        // Check all answers before anything is drawn, so that an error does not depend on the draw.
        for (question, entries) in questions.iter().zip(answers) {
            let checked = check_answer(question, entries, &mut self.sort_key_buffer);
            checked.map_err(|error| question.add_question_to_error(error))?;
        }
        // The seed is drawn independently of the answers, because it is public.
        let seed = draw_u64(rng);
        self.last_question_index = self.task.question_selector().question_index_for_seed(seed);
        if let Some(stages) = self.task.memo_thresholds() {
            // The second stage alone would reveal more of an answer than ε.
            let memo = stages.draw_memo(answered_slot(answers[0]), rng);
            return Ok(self.question_randomizers[0].randomize(&[slot_entry(memo)], seed, rng));
        }
        let kind = self.task.questions()[self.last_question_index].kind();
        let entries = kind.answer_to_domain_entries(
            answers[self.last_question_index],
            &mut self.coded_entries,
            seed,
            rng,
        );
        Ok(self.question_randomizers[self.last_question_index].randomize(entries, seed, rng))
    }
}

/// Returns the slot of a checked answer to a flag or a choice.
fn answered_slot(answer: &[Entry]) -> u32 {
    // Entries of value 0 count as absent.
    let given = answer.iter().find(|entry| entry.value != 0.0);
    given.expect("an answer has one option").item as u32
}

/// Returns the entry that stands for a memo, as input of the second stage.
fn slot_entry(memo: u32) -> Entry {
    Entry {
        item: u64::from(memo),
        value: 1.0,
    }
}

/// Checks that the entries are a valid answer to the question. `keys` is a buffer for sorting
/// entries that are unsorted.
///
/// # Errors
/// [`Error::UnknownItem`], [`Error::ValueOutOfRange`], [`Error::DuplicateItem`] or, if the number of
/// entries is fixed, [`Error::WrongAnswerCount`].
fn check_answer(question: &Question, entries: &[Entry], keys: &mut Vec<u64>) -> Result<(), Error> {
    let (kind, domain) = (question.kind(), question.domain());
    let count = |given: usize, expected: u32| match given == expected as usize {
        true => Ok(()),
        false => Err(error!(WrongAnswerCount { given, expected })),
    };
    let mut items = domain.item_count();
    let coded = kind.answer_entry_item_counts();
    if let Some([expected, of]) = coded {
        count(entries.len(), expected)?;
        // A short text has one item for several prefixes.
        items = items.map(|_| of);
    }
    let accepts = |item, value| kind.accepts_value(item, value);
    check_entry_values(entries, items, &accepts, kind.accepted_values_text())?;
    if coded.is_none() && !domain.is_padded() {
        let given = entries.iter().filter(|entry| entry.value != 0.0);
        count(given.count(), domain.sparsity())?;
    }
    match kind {
        QuestionKind::Text(_) => Ok(()),
        _ => check_distinct_items(entries, keys),
    }
}
