//! Bindings for web pages: the core behind numbers and typed arrays.
//!
//! Nothing here formats, parses or looks names up, which JavaScript does with
//! less to download; errors are thrown as the numbers of [`ErrorCode`].
//!
//! The generator is ChaCha20, seeded by the browser's `crypto.getRandomValues`
//! when a [`Randomizer`] is made. There is no other source, no fallback, and
//! no way to hand a seed in.

use alloc::vec::Vec;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::bounds;
use crate::domain::Entry;
use crate::error::{Error, ErrorCode};
use crate::fingerprint::Fingerprint;
use crate::task::Task;
use crate::upload::{self, UploadId};

/// A thrown [`ErrorCode`].
type Thrown = u32;

fn thrown(error: &Error) -> Thrown {
    error.code() as u32
}

/// The error of arrays whose lengths do not go together.
const LENGTHS: Thrown = ErrorCode::Combination as u32;

/// The maker of reports and uploads for one task.
#[wasm_bindgen]
pub struct Randomizer {
    inner: crate::Randomizer,
    rng: ChaCha20Rng,
    fingerprint: Fingerprint,
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
        let inner = crate::Randomizer::new(&task);
        Ok(Self {
            inner,
            rng: generator()?,
            fingerprint: task.fingerprint(),
            entries: Vec::new(),
            sampled_down: 0,
        })
    }

    /// The task's fingerprint, 16 bytes.
    #[must_use]
    pub fn fingerprint(&self) -> Vec<u8> {
        self.fingerprint.0.to_vec()
    }

    /// Randomises one person's entries of a closed task; the encoded report.
    ///
    /// # Errors
    /// The code of what is wrong with the entries.
    pub fn randomize(&mut self, items: &[u32], values: &[f64]) -> Result<Vec<u8>, Thrown> {
        let mut bytes = Vec::new();
        self.append(items, values, &mut bytes)?;
        Ok(bytes)
    }

    /// As [`Randomizer::randomize`], for an open task, by [`item_key`].
    ///
    /// # Errors
    /// The code of what is wrong with the entries.
    pub fn randomize_open(&mut self, keys: &[u64], values: &[f64]) -> Result<Vec<u8>, Thrown> {
        let mut bytes = Vec::new();
        self.append(keys, values, &mut bytes)?;
        Ok(bytes)
    }

    /// Randomises many people of a closed task: person i has the next
    /// `lengths[i]` entries. The encoded reports, back to back.
    ///
    /// # Errors
    /// The code of what is wrong with the first person's entries that are not
    /// right; no report is returned then.
    pub fn randomize_many(
        &mut self,
        lengths: &[u32],
        mut items: &[u32],
        mut values: &[f64],
    ) -> Result<Vec<u8>, Thrown> {
        let mut bytes = Vec::new();
        for &length in lengths {
            let length = length as usize;
            let (own_items, later_items) = items.split_at_checked(length).ok_or(LENGTHS)?;
            let (own_values, later_values) = values.split_at_checked(length).ok_or(LENGTHS)?;
            self.append(own_items, own_values, &mut bytes)?;
            (items, values) = (later_items, later_values);
        }
        if items.is_empty() && values.is_empty() {
            Ok(bytes)
        } else {
            Err(LENGTHS)
        }
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
        bounds::REPORTS
            .check(f64::from(count))
            .map_err(|error| thrown(&error))?;
        // Two words: filling an array would be another generator's loop to download.
        let mut id = [0; 16];
        for half in id.chunks_exact_mut(8) {
            half.copy_from_slice(&self.rng.next_u64().to_le_bytes());
        }
        Ok(upload::header(UploadId(id), &self.fingerprint, count))
    }

    fn append<I: Copy + Into<u64>>(
        &mut self,
        items: &[I],
        values: &[f64],
        bytes: &mut Vec<u8>,
    ) -> Result<(), Thrown> {
        if items.len() != values.len() {
            return Err(LENGTHS);
        }
        self.entries.clear();
        self.entries
            .extend(items.iter().zip(values).map(|(&item, &value)| Entry {
                item: item.into(),
                value,
            }));
        let sampled_down = self
            .inner
            .randomize_encoded(&self.entries, &mut self.rng, bytes)
            .map_err(|error| thrown(&error))?;
        self.sampled_down = self.sampled_down.saturating_add(u32::from(sampled_down));
        Ok(())
    }
}

/// The key of an item's name in open tasks.
#[wasm_bindgen]
#[must_use]
pub fn item_key(name: &str) -> u64 {
    crate::item_key(name)
}

/// A generator with 256 bits of the browser's randomness, or no generator.
fn generator() -> Result<ChaCha20Rng, Thrown> {
    let mut seed = [0; 32];
    let filled = getrandom::fill(&mut seed);
    // A replaced `getRandomValues` that does nothing does not throw. Real
    // randomness leaves all zeros with probability 2⁻²⁵⁶.
    if filled.is_err() || seed == [0; 32] {
        return Err(ErrorCode::NoEntropy as u32);
    }
    Ok(ChaCha20Rng::from_seed(seed))
}

/// What std would bring, in the module that pages download.
#[cfg(feature = "wasm-module")]
mod module {
    #[global_allocator]
    static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

    /// Traps without a message, which would cost a tenth of the download.
    /// JavaScript sees a `RuntimeError` and starts the module afresh.
    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        core::arch::wasm32::unreachable()
    }
}
