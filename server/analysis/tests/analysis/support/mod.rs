//! Helpers shared by several of these tests.

pub(crate) mod crowd;
pub(crate) mod exact;
pub(crate) mod reduction;
