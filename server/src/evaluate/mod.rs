//! Simulations of a task on people whose truth is known, and how wrong its
//! estimates come out.

mod data_set;
mod outcome;
mod simulate;

pub(crate) use data_set::DataSet;
pub(crate) use outcome::{Errors, Outcome, Repeated};
pub(crate) use simulate::simulate;
