//! Reports.

use alloc::vec::Vec;

use chacha20::ChaCha20Rng;
use wasm_bindgen::prelude::wasm_bindgen;

use super::common::{Thrown, generator, header, thrown};
use crate::domain::Entry;
use crate::error::ErrorCode;
use crate::task::Task;

/// The error of arrays whose lengths do not go together.
const LENGTHS: Thrown = ErrorCode::Combination as u32;

/// The maker of reports and uploads for one task.
#[wasm_bindgen]
pub struct Randomizer {
    inner: crate::randomizer::Randomizer,
    rng: ChaCha20Rng,
    /// Kept between reports for its memory.
    entries: Vec<Entry>,
    sampled_down: u32,
}

#[wasm_bindgen]
impl Randomizer {
    /// Prepares for the task of these
    /// [canonical bytes](Task::canonical_bytes) and seeds the generator.
    ///
    /// # Errors
    /// The code of what is wrong with the task, or [`ErrorCode::NoEntropy`].
    #[wasm_bindgen(constructor)]
    pub fn new(task: &[u8]) -> Result<Self, Thrown> {
        let task = Task::from_canonical_bytes(task).map_err(|error| thrown(&error))?;
        Ok(Self {
            inner: crate::randomizer::Randomizer::of(task),
            rng: generator()?,
            entries: Vec::new(),
            sampled_down: 0,
        })
    }

    /// Randomises people's answers: each person has, for each question in turn, the
    /// next entry of `lengths`, the number of entries that follow in `items` and
    /// `values`. The encoded reports, back to back.
    ///
    /// Where a question is open, all items are two words, low before high: its own
    /// those that the [`digest`](super::digest) of their name begins with.
    ///
    /// # Errors
    /// The code of what is wrong with the first person's answers that are not
    /// right; no report is returned then.
    pub fn randomize(
        &mut self,
        lengths: &[u32],
        items: &[u32],
        values: &[f64],
    ) -> Result<Vec<u8>, Thrown> {
        // Wider than an address, which lengths that do not fit could wrap around.
        let total = lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
        let questions = self.inner.task().questions().len();
        let people = lengths.chunks_exact(questions);
        let count = values.len();
        let words = if items.len() == count { 1 } else { 2 };
        let fits = count as u64 == total && items.len() == words * count;
        if !fits || !people.remainder().is_empty() {
            return Err(LENGTHS);
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
                .randomize_encoded(&answers, &mut self.rng, &mut bytes)
                .map_err(|error| thrown(&error))?;
            self.sampled_down = self.sampled_down.saturating_add(u32::from(sampled_down));
        }
        Ok(bytes)
    }

    /// How many reports had to leave entries out. For the client alone.
    #[must_use]
    pub fn sampled_down(&self) -> u32 {
        self.sampled_down
    }

    /// What an upload of `count` reports begins with, under an id of its own; the
    /// encoded reports follow, back to back.
    ///
    /// # Errors
    /// [`ErrorCode::OutOfRange`] where an upload cannot hold so many.
    pub fn upload_header(&mut self, count: u32) -> Result<Vec<u8>, Thrown> {
        header(self.inner.task().fingerprint(), count, &mut self.rng)
    }
}
