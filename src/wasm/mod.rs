//! Bindings for web pages: the core behind an interface of numbers and typed arrays.
//!
//! The module does not format, parse or look up names. JavaScript does these with less code to
//! download. Errors are thrown as the numbers of [`ErrorCode`](crate::error::ErrorCode).
//!
//! The random generator is ChaCha20. The browser's `crypto.getRandomValues` seeds it when a
//! randomizer is created. There is no other source of randomness and no fallback, and a page cannot
//! pass a seed.

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

/// Returns the first 16 bytes of the SHA-256 of `bytes`. The digest of a task's canonical bytes is
/// the task's [`Fingerprint`]. In open questions, the [key](crate::item_name_hash) of an item is a part
/// of the digest of the item's name in UTF-8: the first eight bytes, little endian.
#[wasm_bindgen]
#[must_use]
pub fn digest(bytes: &[u8]) -> Vec<u8> {
    Fingerprint::hash_canonical_bytes(bytes).0.to_vec()
}

/// Allocator and panic handler that replace those of std, in a module that pages download.
#[cfg(feature = "module")]
mod allocator_and_panic_handler {
    #[global_allocator]
    static ALLOCATOR: lol_alloc::LockedAllocator<lol_alloc::FreeListAllocator> =
        lol_alloc::LockedAllocator::new(lol_alloc::FreeListAllocator::new());

    /// Traps without a message, because messages would cost a tenth of the download. JavaScript
    /// sees a `RuntimeError` and restarts the module.
    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        core::arch::wasm32::unreachable()
    }
}
