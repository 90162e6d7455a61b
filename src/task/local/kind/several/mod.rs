//! Kinds of several parts. Only complete builds have them.

mod cross;
mod numbers;
mod part;
mod together;

pub use cross::Cross;
pub use numbers::Numbers;
#[cfg(feature = "collector")]
pub(in crate::task) use part::Asked;
pub use part::Part;
pub use together::Together;
