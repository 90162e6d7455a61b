//! Settings of a collector, from a file, environment variables and flags.
//!
//! One struct defines all three: its fields are the keys of the file, and its attributes name flags
//! and variables. The conversion to [`ServerConfig`](crate::cli::serve::config::ServerConfig) replaces missing
//! settings by defaults.

mod config;
mod option_parsing;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod values;

pub(super) use values::{RUNTIME_CHANGEABLE_KEYS, ServeSettings};
