//! Randomising of one person's entries into a report.

#[cfg(feature = "collector")]
mod collected;
mod report_maker;

#[cfg(feature = "collector")]
pub use collected::RandomizedReport;
pub use report_maker::{MemoSlot, Randomizer};
