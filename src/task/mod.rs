//! Tasks: questions, items, mechanisms and budgets.

pub(crate) mod budget;
#[cfg(feature = "collector")]
pub(crate) mod collected;
pub(crate) mod items;
#[cfg(any(feature = "complete", feature = "sums"))]
pub(crate) mod limits;
#[cfg(feature = "reports")]
pub(crate) mod local;

pub use budget::{Answers, Budget};
#[cfg(feature = "collector")]
pub use collected::{Purpose, Spacing, TaskParts};
pub use items::{Items, Open, item_key};
#[cfg(any(feature = "complete", feature = "sums"))]
pub use limits::Limits;
#[cfg(feature = "complete")]
pub use local::Part;
#[cfg(feature = "reports")]
pub use local::{
    Cross, Draw, Kind, Numbers, Prefixes, Question, QuestionParts, Scale, Task, Together,
};
