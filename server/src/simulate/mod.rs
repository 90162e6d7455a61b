//! Simulations of a task on people whose truth is known, and how wrong its estimates come out.

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
