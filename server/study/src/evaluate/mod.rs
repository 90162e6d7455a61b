//! The papers' experiments with every competitor: units of work that can be done in any
//! order and resumed, and tables, figures and a page of what they found.

mod axis;
mod census;
mod contestant;
mod crowd;
mod data_set;
mod dense;
mod drawn;
mod engine;
mod error;
mod experiment;
mod experiments;
mod measured;
mod page;
mod people;
mod prepared;
mod protocol;
mod random;
mod report;
mod runs;
mod score;
mod size;
mod table;
mod wins;
mod workload;

pub(crate) use data_set::DataSet;
pub(crate) use engine::{Settings, run};
pub(crate) use experiments::{Data, Learning, experiments};
pub(crate) use page::place;
pub(crate) use people::Listed;
pub(crate) use report::write;
pub(crate) use size::Size;
