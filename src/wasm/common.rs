//! What makers of reports and makers of messages share.

use alloc::vec::Vec;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::bounds;
use crate::error::{Error, ErrorCode};
use crate::fingerprint::Fingerprint;
use crate::sample::word;
use crate::upload::{self, UploadId};

/// A thrown [`ErrorCode`].
pub(super) type Thrown = u32;

pub(super) fn thrown(error: &Error) -> Thrown {
    error.code() as u32
}

/// A generator with 256 bits of the browser's randomness, or no generator.
pub(super) fn generator() -> Result<ChaCha20Rng, Thrown> {
    let mut seed = [0; 32];
    let filled = getrandom::fill(&mut seed);
    // A replaced `getRandomValues` that does nothing does not throw. Real
    // randomness leaves all zeros with probability 2⁻²⁵⁶.
    if filled.is_err() || seed == [0; 32] {
        return Err(ErrorCode::NoEntropy as u32);
    }
    Ok(ChaCha20Rng::from_seed(seed))
}

/// What an upload of `count` reports or messages of a task begins with, under an id of its own.
///
/// # Errors
/// [`ErrorCode::OutOfRange`] where an upload cannot hold so many.
pub(super) fn header(
    task: Fingerprint,
    count: u32,
    rng: &mut ChaCha20Rng,
) -> Result<Vec<u8>, Thrown> {
    bounds::REPORTS
        .check(f64::from(count))
        .map_err(|error| thrown(&error))?;
    // Two words: filling an array would be another generator's loop to download.
    let mut id = [0; 16];
    for half in id.chunks_exact_mut(8) {
        half.copy_from_slice(&word(rng).to_le_bytes());
    }
    Ok(upload::header(UploadId(id), &task, count))
}
