//! From one person's entries to a report.

#[cfg(feature = "collector")]
mod collected;
mod maker;

#[cfg(feature = "collector")]
pub use collected::Randomized;
pub use maker::Randomizer;
