//! Tasks in collectors: task files, construction from parts, and decoding of reports.

mod budget_file;
mod build;
mod canonical;
#[cfg(feature = "analysis")]
mod parameter_choice_builders;
mod decode;
pub(crate) mod file;
mod kinds;
pub(crate) mod part_file;
mod prefix_keys;
mod purpose;
mod scale_getters;
mod ratings_task_fields;

pub use purpose::{BinSpacing, NumberPurpose};
pub use ratings_task_fields::RatingsTaskFields;
