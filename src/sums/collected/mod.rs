//! Functions of sum tasks for collectors: task files, canonical bytes, and decoding of messages.

mod canonical;
mod message_decoding;
mod file;
mod getters;

pub use file::SumTaskDraft;
