//! Shared test support.

mod shares;
pub(crate) mod task_files;

pub(crate) use hushbin_tests::laws::{coco, collision, exact, hash_bin, loss};
pub(crate) use hushbin_tests::{generators, significance};
