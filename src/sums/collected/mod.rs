//! Functions of sum tasks for collectors: task files, canonical bytes, and decoding of messages.

mod canonical;
mod cell_groups;
mod file;
mod getters;
mod message_decoding;
mod question_file;

pub use cell_groups::CellGroup;
pub use file::SumTaskDraft;
