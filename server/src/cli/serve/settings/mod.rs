//! Settings of a collector, by a file, environment variables and flags.
//!
//! One struct has all three: its fields are the keys of the file, and its attributes name flags and
//! variables. [`Config`](crate::cli::serve::config::Config) gets the defaults of missing settings.

mod config;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod values;

pub(super) use values::{CHANGEABLE, Settings};
