//! Learn from browsers without watching people: local differential privacy for
//! sparse vectors.
//!
//! hushbin turns what one person did — a few items out of many, each with a
//! value — into a randomised report that bounds what anyone can conclude about
//! that person, and from which a collector estimates totals. This crate is the
//! part that runs where the data is: it validates tasks, makes reports, and
//! says which elements a report supports. Estimation from many reports, with
//! error bars, lives in the collector, `hushbin-server`.
//!
//! ```
//! use hushbin::{Entry, Randomizer, TaskDraft, Upload, UploadId};
//! use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
//!
//! // What is asked: at most two of three settings, at ε = 2 for each report.
//! let draft: TaskDraft = serde_json::from_str(r#"{
//!     "id": "settings",
//!     "items": ["dark-mode", "autoplay", "captions"],
//!     "sparsity": 2,
//!     "epsilon": 2.0,
//!     "value": "sign"
//! }"#)?;
//! let task = draft.resolve()?;
//!
//! // A person's answers become one report. (Seed from the operating system!)
//! let mut rng = ChaCha20Rng::seed_from_u64(42);
//! let answers = [Entry { item: 0, value: 1.0 }, Entry { item: 1, value: -1.0 }];
//! let report = Randomizer::new(&task).randomize(&answers, &mut rng)?.report;
//!
//! // What travels: 43 bytes.
//! let upload = Upload { id: UploadId([0; 16]), reports: vec![report] };
//! let bytes = upload.encode(&task.fingerprint());
//! assert_eq!(Upload::decode(&bytes, &task)?, upload);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Words
//!
//! A [`Task`] says what is collected, under which parameters. An *item* is an
//! index or key of a person's vector; an *element* is an item with its sign, or
//! a padding (see [`domain`]). A *bucket* is where elements are hashed to, a
//! *bin* holds a sum of values. A [`Report`] is one randomised message; an
//! [`Upload`] is a request that carries reports. *Local ε* is the privacy loss
//! of one report against everybody. More of them: [`docs::glossary`]; how a value
//! travels, and what stands on what: [`docs::architecture`]; why it is built this
//! way: [`docs::design`].
//!
//! # What this crate does not do
//!
//! It holds no generator and no entropy source, no clock and no I/O: callers
//! bring a [`rand_core::CryptoRng`]. It does not count how often a person
//! reports: ε is spent anew by each report.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `reports` | questions of one part, and reports by Collision |
//! | `complete` | `reports`, and all mechanisms, the rules of papers, questions of several parts, and trees |
//! | `sums` | [`sums`] through a shuffler |
//! | `collector` (default) | `complete`, `sums`, and task files, decoding, and the elements that a report supports |
//! | `analysis` | `collector`, and what chooses parameters and knows how often reports hit what |
//! | `wasm`, `wasm-sums` | bindings for web pages: of reports, of [`sums`] |
//!
//! The crate needs `alloc` and nothing else. Without `collector` it holds what randomises and
//! nothing else: tasks come as canonical bytes, and those that need more are
//! [`Error::UnknownMechanism`].

#![no_std]

extern crate alloc;

pub mod bounds;
mod canonical;
#[cfg(feature = "analysis")]
pub mod choose;
// For the analysis, whose totals are encoded as reports are.
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
pub use task::{Items, item_key};
pub use upload::UploadId;
#[cfg(feature = "reports")]
pub use {
    domain::{Entry, ValueKind},
    mechanism::Mechanism,
    randomizer::Randomizer,
    task::{Question, Task},
};
#[cfg(feature = "collector")]
pub use {
    fingerprint::ParseHexError, mechanism::Report, randomizer::Randomized, task::TaskParts,
    upload::Upload,
};
