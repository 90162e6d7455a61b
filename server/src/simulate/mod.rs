//! Simulations of a task on people whose truth is known, and how wrong its
//! estimates come out.

mod answers;
mod columns;
mod data_set;
mod outcome;
mod ratings;
mod sums;
mod survey;
mod texts;

pub(crate) use answers::{Answers, Format};
pub(crate) use data_set::DataSet;
pub(crate) use outcome::{Errors, Outcome, Repeated};
pub(crate) use ratings::simulate;
pub(crate) use sums::{SumData, SumOutcome, simulate_sums};
pub(crate) use survey::{Compared, Found, Survey, survey};
pub(crate) use texts::{ComparedText, FoundTexts};
