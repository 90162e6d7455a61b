//! Tasks whose reports are randomised under a local budget ε.

pub(super) mod canonical;
mod draw;
pub(super) mod kind;
pub(super) mod prefixes;
pub(crate) mod question;
pub(super) mod scale;
#[cfg(not(feature = "complete"))]
mod slim;
pub(crate) mod task;

pub use draw::Draw;
#[cfg(feature = "complete")]
pub use kind::Part;
pub use kind::{Cross, Kind, Numbers, Together};
pub use prefixes::Prefixes;
pub use question::{Question, QuestionParts};
pub use scale::Scale;
pub use task::Task;
