//! Bindings for web pages: the core behind numbers and typed arrays.
//!
//! Nothing here formats, parses or looks names up, which JavaScript does with
//! less to download; errors are thrown as the numbers of [`ErrorCode`](crate::error::ErrorCode).
//!
//! The generator is ChaCha20, seeded by the browser's `crypto.getRandomValues`
//! when a maker of reports or messages is made. There is no other source, no
//! fallback, and no way to hand a seed in.

mod common;
#[cfg(feature = "wasm")]
mod reports;
#[cfg(feature = "wasm-sums")]
mod sums;

#[cfg(feature = "wasm")]
pub use reports::Randomizer;
#[cfg(feature = "wasm-sums")]
pub use sums::SumRandomizer;

use alloc::vec::Vec;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::fingerprint::Fingerprint;

/// The first 16 bytes of SHA-256: of a task's canonical bytes its [`Fingerprint`]; of an item's
/// name, in UTF-8, the first eight are its [key](crate::item_key) in open questions, little endian.
#[wasm_bindgen]
#[must_use]
pub fn digest(bytes: &[u8]) -> Vec<u8> {
    Fingerprint::from_canonical(bytes).0.to_vec()
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
