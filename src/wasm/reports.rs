//! Binding that randomises answers into reports.

use alloc::vec::Vec;

use chacha20::ChaCha20Rng;
use wasm_bindgen::prelude::wasm_bindgen;

use super::common::{ThrownErrorNumber, entropy_seeded_generator, error_number, new_upload_header};
use crate::domain::Entry;
use crate::error::ErrorCode;
use crate::randomizer::MemoSlot;
use crate::task::Task;

/// Number that is thrown if the lengths of arrays do not match.
const MISMATCHED_LENGTHS_ERROR: ThrownErrorNumber = ErrorCode::InvalidCombination as u32;

/// Randomizer of reports, and source of upload headers, for one task.
#[wasm_bindgen]
pub struct Randomizer {
    inner: crate::randomizer::Randomizer,
    rng: ChaCha20Rng,
    /// Buffer for the entries of one call, reused between calls.
    entries: Vec<Entry>,
    sampled_down: u32,
}

#[wasm_bindgen]
impl Randomizer {
    /// Creates a randomizer for the task that these [canonical bytes](Task::canonical_bytes)
    /// encode, and seeds its random generator.
    ///
    /// # Errors
    /// Code of the error in the task, or [`ErrorCode::NoEntropy`].
    #[wasm_bindgen(constructor)]
    pub fn new(task: &[u8]) -> Result<Self, ThrownErrorNumber> {
        let task = Task::from_canonical_bytes(task).map_err(|error| error_number(&error))?;
        Ok(Self {
            inner: crate::randomizer::Randomizer::from_task(task),
            rng: entropy_seeded_generator()?,
            entries: Vec::new(),
            sampled_down: 0,
        })
    }

    /// Randomises people's answers and returns the encoded reports, back to back. `lengths` has one
    /// number of entries for each person and question: all questions of the first person, then
    /// those of the next. The entries are in `items` and `values`, in the same order.
    ///
    /// If any question of the task is open, every item takes two 32-bit words, low before high. An
    /// item of an open question is then the first eight bytes of the [`digest`](super::digest) of
    /// its name.
    ///
    /// # Errors
    /// Code of the error of the first person whose answers are invalid. Then no report is returned.
    pub fn randomize(
        &mut self,
        lengths: &[u32],
        items: &[u32],
        values: &[f64],
    ) -> Result<Vec<u8>, ThrownErrorNumber> {
        // A 32-bit sum of forged lengths could overflow.
        let total = lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
        let questions = self.inner.task().questions().len();
        let people = lengths.chunks_exact(questions);
        let count = values.len();
        // The lengths show whether items take one word or two.
        let words = if items.len() == count { 1 } else { 2 };
        let fits = count as u64 == total && items.len() == words * count;
        if !fits || !people.remainder().is_empty() {
            return Err(MISMATCHED_LENGTHS_ERROR);
        }
        let item = |words: &[u32]| {
            let high = words.get(1).map_or(0, |high| u64::from(*high) << 32);
            u64::from(words[0]) | high
        };
        let entry = |(words, &value): (&[u32], &f64)| Entry {
            item: item(words),
            value,
        };
        self.entries.clear();
        let items = items.chunks_exact(words);
        self.entries.extend(items.zip(values).map(entry));
        let mut bytes = Vec::new();
        let mut entries = &self.entries[..];
        let mut answers = Vec::new();
        for lengths in people {
            answers.clear();
            for &length in lengths {
                let (own, later) = entries.split_at(length as usize);
                answers.push(own);
                entries = later;
            }
            let sampled_down = self
                .inner
                .randomize_and_encode(&answers, &mut self.rng, &mut bytes)
                .map_err(|error| error_number(&error))?;
            self.sampled_down = self.sampled_down.saturating_add(u32::from(sampled_down));
        }
        Ok(bytes)
    }

    /// Draws the memo of a person who has this option, for a task with a memo.
    ///
    /// # Errors
    /// Code of the error if the option does not exist, or if the task has no memo.
    pub fn draw_memo(&mut self, option: u32) -> Result<u32, ThrownErrorNumber> {
        let memo = self.inner.draw_memo(option, &mut self.rng);
        memo.map(|slot| slot.0)
            .map_err(|error| error_number(&error))
    }

    /// Makes a report from a memo, and returns the encoded report.
    ///
    /// # Errors
    /// Code of the error if the memo is not a slot of the task, or if the task has no memo.
    pub fn randomize_memo(&mut self, memo: u32) -> Result<Vec<u8>, ThrownErrorNumber> {
        let mut bytes = Vec::new();
        let made = self
            .inner
            .encode_report_from_memo(MemoSlot(memo), &mut self.rng, &mut bytes);
        made.map_err(|error| error_number(&error))?;
        Ok(bytes)
    }

    /// Returns the number of reports from which this randomizer left out entries. This number stays
    /// in the client and is never sent.
    #[must_use]
    pub fn sampled_down(&self) -> u32 {
        self.sampled_down
    }

    /// Returns the header of an upload of `count` reports, with a new random id. The encoded
    /// reports follow, back to back.
    ///
    /// # Errors
    /// [`ErrorCode::OptionOutOfRange`] if an upload cannot hold `count`.
    pub fn upload_header(&mut self, count: u32) -> Result<Vec<u8>, ThrownErrorNumber> {
        new_upload_header(self.inner.task().fingerprint(), count, &mut self.rng)
    }
}
