//! The papers' experiments with every competitor: units of work that can be done in any
//! order and resumed, and tables, figures and a page of what they found.

mod contestant;
mod engine;
mod experiment;
mod figure;
mod prepared;
mod ratings;
mod report;
mod runs;
mod score;
mod size;
mod table;
mod workload;

pub(crate) use engine::{Settings, run};
use experiment::Experiment;
pub(crate) use report::write;
pub(crate) use size::Size;

/// All experiments.
pub(crate) fn experiments(size: Size) -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(ratings::Ratings::of_p1(size)),
        Box::new(ratings::Ratings::of_p2(size)),
    ]
}
