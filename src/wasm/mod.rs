//! Bindings for web pages: the core behind numbers and typed arrays.
//!
//! Nothing here formats, parses or looks names up, which JavaScript does with
//! less to download; errors are thrown as the numbers of [`ErrorCode`].
//!
//! The generator is ChaCha20, seeded by the browser's `crypto.getRandomValues`
//! when a maker of reports or messages is made. There is no other source, no
//! fallback, and no way to hand a seed in.

#[cfg(feature = "wasm")]
mod reports;
#[cfg(feature = "wasm-sums")]
mod sums;

#[cfg(feature = "wasm")]
pub use reports::Randomizer;
#[cfg(feature = "wasm-sums")]
pub use sums::SumRandomizer;

use alloc::vec::Vec;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::bounds;
use crate::error::{Error, ErrorCode};
use crate::fingerprint::Fingerprint;
use crate::sample::word;
use crate::upload::{self, UploadId};

/// A thrown [`ErrorCode`].
type Thrown = u32;

fn thrown(error: &Error) -> Thrown {
    error.code() as u32
}

/// The first 16 bytes of SHA-256: of a task's canonical bytes its [`Fingerprint`]; of an
/// item's name, in UTF-8, the first eight are its [key](crate::item_key) in open
/// questions, little endian.
#[wasm_bindgen]
#[must_use]
pub fn digest(bytes: &[u8]) -> Vec<u8> {
    Fingerprint::from_canonical(bytes).0.to_vec()
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

/// What an upload of `count` reports or messages of a task begins with, under an id of its own.
///
/// # Errors
/// [`ErrorCode::OutOfRange`] where an upload cannot hold so many.
fn header(task: Fingerprint, count: u32, rng: &mut ChaCha20Rng) -> Result<Vec<u8>, Thrown> {
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

/// What std would bring, in a module that pages download.
#[cfg(feature = "module")]
mod module {
    #[global_allocator]
    static ALLOCATOR: lol_alloc::LockedAllocator<lol_alloc::FreeListAllocator> =
        lol_alloc::LockedAllocator::new(lol_alloc::FreeListAllocator::new());

    /// Traps without a message, which would cost a tenth of the download.
    /// JavaScript sees a `RuntimeError` and starts the module afresh.
    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        core::arch::wasm32::unreachable()
    }
}
