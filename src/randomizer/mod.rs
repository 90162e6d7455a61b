//! Randomising of one person's entries into a report.

#[cfg(feature = "collector")]
mod collected;
mod maker;

#[cfg(feature = "collector")]
pub use collected::Randomized;
pub use maker::Randomizer;
