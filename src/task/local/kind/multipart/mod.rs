//! Kinds of questions with several parts. Only complete builds have them.

mod cross;
mod numbers;
mod part;
mod together;

pub use cross::Cross;
pub use numbers::Numbers;
#[cfg(feature = "collector")]
pub(in crate::task) use part::PartKind;
pub use part::QuestionPart;
pub use together::Together;
