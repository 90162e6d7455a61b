//! Tasks of sums for collectors: in files, in bytes, and decoding of messages.

mod decode;
mod file;
mod getters;
mod written;

pub use file::SumDraft;
