//! Binding that randomises numbers, or answers to questions, into messages for a shuffler.

use alloc::vec::Vec;

use chacha20::ChaCha20Rng;
use wasm_bindgen::prelude::wasm_bindgen;

use super::common::{ThrownErrorNumber, entropy_seeded_generator, error_number, new_upload_header};
use crate::sums::{self, CodingLoss, Message, SumTask};

/// Maximum length of an omitted part of a vector that [`SumRandomizer::left`] does not count. The
/// vector has a length of at most 1.
const OMITTED_LENGTH_TOLERANCE: f64 = 1e-6;

/// Randomizer of messages, and source of upload headers, for one task of sums.
#[wasm_bindgen]
pub struct SumRandomizer {
    inner: sums::SumRandomizer,
    rng: ChaCha20Rng,
    /// Buffer for the messages of one call, reused between calls.
    messages: Vec<Message>,
    clipped: u32,
    left: u32,
}

#[wasm_bindgen]
impl SumRandomizer {
    /// Creates a randomizer for the task that these [canonical bytes](SumTask::canonical_bytes)
    /// encode, and seeds its random generator.
    ///
    /// # Errors
    /// Code of the error in the task, or [`ErrorCode::NoEntropy`](crate::ErrorCode::NoEntropy).
    #[wasm_bindgen(constructor)]
    pub fn new(task: &[u8]) -> Result<Self, ThrownErrorNumber> {
        let task = SumTask::from_canonical_bytes(task).map_err(|error| error_number(&error))?;
        Ok(Self {
            inner: sums::SumRandomizer::from_task(task),
            rng: entropy_seeded_generator()?,
            messages: Vec::new(),
            clipped: 0,
            left: 0,
        })
    }

    /// Randomises one person's numbers, one for each item in turn, or answers to questions. Returns
    /// all messages of the person in random order. Each message is padded with zeros to the length
    /// of the task's longest message.
    ///
    /// # Errors
    /// Code of the error in the answer. Then no random number is drawn.
    pub fn randomize(&mut self, values: &[f64]) -> Result<Vec<u8>, ThrownErrorNumber> {
        let CodingLoss {
            was_clipped,
            omitted_length,
        } = self
            .inner
            .randomize(values, &mut self.rng, &mut self.messages)
            .map_err(|error| error_number(&error))?;
        self.clipped = self.clipped.saturating_add(u32::from(was_clipped));
        self.left = self
            .left
            .saturating_add(u32::from(omitted_length > OMITTED_LENGTH_TOLERANCE));
        let mut bytes = Vec::new();
        self.inner.task.encode_padded(&self.messages, &mut bytes);
        Ok(bytes)
    }

    /// Returns the number of people with a number outside its limits, with a vector that was too
    /// long, or with a set of too many options. The count begins when this randomizer is created. The count stays in the client and is
    /// never sent.
    #[must_use]
    pub fn clipped(&self) -> u32 {
        self.clipped
    }

    /// Returns the number of people whose messages omit a part of the vector that is longer than
    /// 10⁻⁶. The count begins when this randomizer is created. The count stays in the client and is
    /// never sent.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Returns the header of an upload of `count` messages, with a new random id. The encoded
    /// messages follow, back to back.
    ///
    /// # Errors
    /// [`ErrorCode::OptionOutOfRange`](crate::ErrorCode::OptionOutOfRange) if an upload cannot hold `count`.
    pub fn upload_header(&mut self, count: u32) -> Result<Vec<u8>, ThrownErrorNumber> {
        new_upload_header(self.inner.task.fingerprint(), count, &mut self.rng)
    }
}
