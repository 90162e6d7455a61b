//! Simulations of a task on people with known true answers, and the errors of its estimates.

mod answers;
mod columns;
mod error_tally;
mod lines;
mod reports;
mod sums;
mod survey;
mod texts;

pub(crate) use answers::Answers;
pub(crate) use error_tally::{ComparedEstimate, ErrorTally};
pub(crate) use lines::Format;
pub(crate) use sums::{SumData, SumOutcome, simulate_sums};
pub(crate) use survey::{QuestionResult, Survey, survey};
pub(crate) use texts::{ComparedText, TextQuestionResult};
