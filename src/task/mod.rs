//! Tasks: questions, items, mechanisms and budgets.

#[cfg(feature = "collector")]
pub(crate) mod collected;
pub(crate) mod items;
#[cfg(any(feature = "complete", feature = "sums"))]
pub(crate) mod limits;
#[cfg(feature = "reports")]
pub(crate) mod local;
pub(crate) mod report_budget;

#[cfg(feature = "collector")]
pub use collected::{BinSpacing, NumberPurpose, RatingsTaskFields};
pub use items::{Items, OpenKeyword, check_task_id, item_name_hash, split_task_id};
#[cfg(any(feature = "complete", feature = "sums"))]
pub use limits::NumberLimits;
#[cfg(feature = "complete")]
pub use local::QuestionPart;
#[cfg(feature = "reports")]
pub use local::{
    Cross, NumberScale, Numbers, PrefixLengths, Question, QuestionFields, QuestionKind,
    QuestionSelector, Task, Together,
};
pub use report_budget::{CoverParameters, MemoParameters, ReportBudget};
