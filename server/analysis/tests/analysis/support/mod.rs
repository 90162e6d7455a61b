//! What several of these tests share.

pub(crate) mod crowd;
pub(crate) mod exact;
pub(crate) mod reduction;
