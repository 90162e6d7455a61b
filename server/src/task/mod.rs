//! Tasks that are collected, and their files. A task collects local-DP reports, or sums through a
//! shuffler.

mod collected;
pub(crate) mod file_keys;
pub(crate) mod task_file;

pub use collected::{ReportOrSumDraft, ReportOrSumTask};
