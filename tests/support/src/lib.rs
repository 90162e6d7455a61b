//! Shared support of the tests and benches of several crates.

#![allow(clippy::unwrap_used, missing_docs)]

pub mod byte_vectors;
#[cfg(not(target_arch = "wasm32"))]
pub mod cable;
#[cfg(feature = "analysis")]
pub mod contest;
pub mod errata;
#[cfg(feature = "analysis")]
pub mod expectation;
pub mod fillings;
pub mod generators;
#[cfg(feature = "laws")]
pub mod laws;
pub mod marks;
#[cfg(target_os = "linux")]
pub mod memory;
#[cfg(feature = "analysis")]
pub mod mixtures;
#[cfg(feature = "sealing")]
pub mod oblivious;
#[cfg(unix)]
pub mod postgres;
#[cfg(not(target_arch = "wasm32"))]
pub mod process;
pub mod question_vectors;
#[cfg(feature = "sealing")]
pub mod sealing;
pub mod significance;
pub mod sum_vectors;
pub mod uploads;
