//! Canonical bytes, which a task's identity is the hash of: writing and reading them.

mod reader;
#[cfg(feature = "collector")]
mod writer;

pub(crate) use reader::CanonicalReader;
#[cfg(feature = "collector")]
pub(crate) use writer::{Canonical, Written};
