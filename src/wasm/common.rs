//! Functions shared by the bindings for reports and for messages.

use alloc::vec::Vec;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::bounds;
use crate::error::{Error, ErrorCode};
use crate::fingerprint::Fingerprint;
use crate::sample::draw_u64;
use crate::upload::{self, UploadId};

/// Number of an [`ErrorCode`]. The number is thrown as an exception in JavaScript.
pub(super) type ThrownErrorNumber = u32;

pub(super) fn error_number(error: &Error) -> ThrownErrorNumber {
    error.code() as u32
}

/// Creates a random generator and seeds it with 256 random bits from the browser.
///
/// # Errors
/// [`ErrorCode::NoEntropy`] if the browser provides no randomness.
pub(super) fn entropy_seeded_generator() -> Result<ChaCha20Rng, ThrownErrorNumber> {
    let mut seed = [0; 32];
    let filled = getrandom::fill(&mut seed);
    // A script may have replaced `getRandomValues` by a function that does nothing and leaves
    // zeros. Real randomness is all zeros only with probability 2⁻²⁵⁶.
    if filled.is_err() || seed == [0; 32] {
        return Err(ErrorCode::NoEntropy as u32);
    }
    Ok(ChaCha20Rng::from_seed(seed))
}

/// Returns the header of an upload of `count` reports or messages, with a new random id.
///
/// # Errors
/// [`ErrorCode::OptionOutOfRange`] if an upload cannot hold `count`.
pub(super) fn new_upload_header(
    task: Fingerprint,
    count: u32,
    rng: &mut ChaCha20Rng,
) -> Result<Vec<u8>, ThrownErrorNumber> {
    bounds::REPORTS_PER_UPLOAD_RANGE
        .check_in_range(f64::from(count))
        .map_err(|error| error_number(&error))?;
    // The id is drawn as two words. Filling an array would add another loop to the download.
    let mut id = [0; 16];
    for half in id.chunks_exact_mut(8) {
        half.copy_from_slice(&draw_u64(rng).to_le_bytes());
    }
    Ok(upload::upload_header(UploadId(id), &task, count))
}
