//! Tasks in collectors: task files, construction from parts, and decoding of reports.

mod budget_file;
mod build;
mod canonical;
mod cells;
#[cfg(feature = "analysis")]
mod chosen;
mod decode;
pub(crate) mod file;
mod kinds;
pub(crate) mod part_file;
mod parts;
mod prefix_keys;
mod purpose;

pub use parts::TaskParts;
pub use purpose::{Purpose, Spacing};
