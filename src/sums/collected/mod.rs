//! Tasks of sums as collectors know them: in files, in bytes, and by the messages that arrive.

mod decode;
mod file;
mod getters;
mod written;

pub use file::SumDraft;
