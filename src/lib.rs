#![doc = include_str!("docs/crate.md")]
#![no_std]

extern crate alloc;

pub mod bounds;
mod canonical;
#[cfg(feature = "analysis")]
pub mod choose;
// Public only for `hushbin-analysis`, which encodes totals with the codec of reports.
#[doc(hidden)]
pub mod codec;
pub mod docs;
#[cfg(feature = "reports")]
pub mod domain;
mod error;
mod fingerprint;
#[cfg(feature = "reports")]
pub mod hash;
#[cfg(feature = "reports")]
pub mod mechanism;
pub mod mix;
#[cfg(feature = "reports")]
mod randomizer;
pub mod sample;
#[cfg(feature = "collector")]
pub mod sealed;
#[cfg(feature = "collector")]
pub mod solve;
mod sort;
#[cfg(feature = "sums")]
pub mod sums;
pub mod task;
pub mod upload;
#[cfg(any(feature = "wasm", feature = "wasm-sums"))]
pub mod wasm;

#[cfg(feature = "analysis")]
pub use choose::TaskDraft;
pub use error::{Error, ErrorCode};
pub use fingerprint::Fingerprint;
pub use task::{Items, item_name_hash};
pub use upload::UploadId;
#[cfg(feature = "reports")]
pub use {
    domain::{Entry, ValueKind},
    mechanism::Mechanism,
    randomizer::{MemoSlot, Randomizer},
    task::{Question, Task},
};
#[cfg(feature = "collector")]
pub use {
    fingerprint::ParseHexError, mechanism::Report, randomizer::RandomizedReport,
    task::RatingsTaskFields, upload::Upload,
};
