//! Accounting of sums.
mod counts;
mod noise;
mod profile;
pub use noise::*;
