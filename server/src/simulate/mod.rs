//! Simulations of a task on people with known true answers, and the errors of its estimates.

mod answers;
mod columns;
mod compared;
mod lines;
mod reports;
mod sums;
mod survey;
mod texts;

pub(crate) use answers::Answers;
pub(crate) use compared::{Compared, Tally};
pub(crate) use lines::Format;
pub(crate) use sums::{SumData, SumOutcome, simulate_sums};
pub(crate) use survey::{Found, Survey, survey};
pub(crate) use texts::{ComparedText, FoundTexts};
