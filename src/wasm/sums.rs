//! Messages whose sums a shuffler hides.

use alloc::vec::Vec;

use chacha20::ChaCha20Rng;
use wasm_bindgen::prelude::wasm_bindgen;

use super::common::{Thrown, generator, header, thrown};
use crate::sums::{self, Lost, Message, SumTask};

/// The part of a vector of length 1 that may be left out of its messages and is not counted.
const LEFT: f64 = 1e-6;

/// The maker of messages and uploads for one task of sums.
#[wasm_bindgen]
pub struct SumRandomizer {
    inner: sums::SumRandomizer,
    rng: ChaCha20Rng,
    /// Kept between people for its memory.
    messages: Vec<Message>,
    clipped: u32,
    left: u32,
}

#[wasm_bindgen]
impl SumRandomizer {
    /// Prepares for the task of these [canonical bytes](SumTask::canonical_bytes) and seeds
    /// the generator.
    ///
    /// # Errors
    /// The code of what is wrong with the task, or
    /// [`ErrorCode::NoEntropy`](crate::ErrorCode::NoEntropy).
    #[wasm_bindgen(constructor)]
    pub fn new(task: &[u8]) -> Result<Self, Thrown> {
        let task = SumTask::from_canonical_bytes(task).map_err(|error| thrown(&error))?;
        Ok(Self {
            inner: sums::SumRandomizer::of(task),
            rng: generator()?,
            messages: Vec::new(),
            clipped: 0,
            left: 0,
        })
    }

    /// Randomises one person's numbers, one for each item in turn: all [`count`](Self::count)
    /// messages, in an order that says nothing, each padded by zeros to the task's longest.
    ///
    /// # Errors
    /// The code of what is wrong with the numbers; nothing is drawn then.
    pub fn randomize(&mut self, values: &[f64]) -> Result<Vec<u8>, Thrown> {
        let Lost { clipped, left } = self
            .inner
            .randomize(values, &mut self.rng, &mut self.messages)
            .map_err(|error| thrown(&error))?;
        self.clipped = self.clipped.saturating_add(u32::from(clipped));
        self.left = self.left.saturating_add(u32::from(left > LEFT));
        let mut bytes = Vec::new();
        self.inner.task.encode_padded(&self.messages, &mut bytes);
        Ok(bytes)
    }

    /// How many messages everybody sends.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.inner.task.messages().count()
    }

    /// How many people had a number beyond its limits, or too long a vector. For the client alone.
    #[must_use]
    pub fn clipped(&self) -> u32 {
        self.clipped
    }

    /// Of how many people's vectors more than 10⁻⁶ was left out. For the client alone.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.left
    }

    /// What an upload of `count` messages begins with, under an id of its own; the encoded
    /// messages follow, back to back.
    ///
    /// # Errors
    /// [`ErrorCode::OutOfRange`](crate::ErrorCode::OutOfRange) where an upload cannot hold so
    /// many.
    pub fn upload_header(&mut self, count: u32) -> Result<Vec<u8>, Thrown> {
        header(self.inner.task.fingerprint(), count, &mut self.rng)
    }
}
