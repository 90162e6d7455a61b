//! Tasks in collectors: task files, construction from parts, and decoding of reports.

mod budget_file;
mod build;
mod canonical;
mod decode;
pub(crate) mod file;
mod kinds;
#[cfg(feature = "analysis")]
mod parameter_choice_builders;
pub(crate) mod part_file;
mod prefix_keys;
mod purpose;
mod ratings_task_fields;
pub(crate) mod scale_getters;

pub use purpose::{BinSpacing, NumberPurpose};
pub use ratings_task_fields::RatingsTaskFields;
