//! What several of these tests share.

pub(crate) mod coco;
pub(crate) mod collision;
pub(crate) mod exact;
pub(crate) mod generators;
pub(crate) mod hash_bin;
pub(crate) mod significance;
pub(crate) mod task_files;
