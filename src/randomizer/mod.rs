//! Randomising of one person's entries into a report.

#[cfg(feature = "collector")]
mod inspectable_reports;
mod report_maker;

#[cfg(feature = "collector")]
pub use inspectable_reports::RandomizedReport;
pub use report_maker::{MemoSlot, Randomizer};
