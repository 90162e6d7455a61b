//! Tasks whose reports are randomised under a local budget ε.

pub(super) mod canonical;
pub(super) mod kind;
pub(super) mod prefix_lengths;
pub(crate) mod question;
mod question_draw;
pub(super) mod scale;
#[cfg(not(feature = "complete"))]
mod slim;
pub(crate) mod task_definition;

#[cfg(feature = "complete")]
pub use kind::QuestionPart;
pub use kind::{Cross, Numbers, QuestionKind, Together};
pub use prefix_lengths::PrefixLengths;
pub use question::{Question, QuestionFields};
pub use question_draw::QuestionSelector;
pub use scale::NumberScale;
pub use task_definition::Task;
