//! Writer and reader of the canonical bytes of tasks. A task's fingerprint is the hash of these
//! bytes.

mod reader;
#[cfg(feature = "collector")]
mod writer;

pub(crate) use reader::CanonicalReader;
#[cfg(feature = "collector")]
pub(crate) use writer::{CanonicalWriter, WriteCanonical};
