//! Tasks of sums for collectors: in files, in bytes, and decoding of messages.

mod canonical;
mod decode;
mod file;
mod getters;

pub use file::SumDraft;
