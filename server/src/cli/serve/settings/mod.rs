//! What may be set of a collector: by a file, by the environment and by flags.
//!
//! One structure is all three: its fields are the file's keys, its attributes name flags
//! and variables. What is set nowhere has its default in [`Config`](crate::cli::serve::config::Config).

mod config;
mod given;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub(super) use given::{CHANGEABLE, Settings};
