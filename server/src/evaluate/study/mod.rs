//! The papers' experiments with every competitor: units of work that can be done in any
//! order and resumed, and tables, figures and a page of what they found.

mod axis;
mod census;
mod choices;
mod computed;
mod contestant;
mod crowd;
mod curves;
mod data;
mod dense;
mod drawn;
mod engine;
mod error;
mod experiment;
mod figure;
mod learning;
mod measured;
mod neighbouring;
mod numbers;
mod page;
mod prepared;
mod protocol;
mod random;
mod ratings;
mod report;
mod runs;
mod score;
mod size;
mod sparse;
mod table;
mod ways;
mod wins;
mod workload;

pub(crate) use data::Data;
pub(crate) use engine::{Settings, run};
pub(crate) use experiment::Experiment;
pub(crate) use page::place;
pub(crate) use report::write;
pub(crate) use size::Size;

/// All experiments.
pub(crate) fn experiments(size: Size) -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(ratings::Ratings::of_p1(size)),
        Box::new(ratings::Ratings::of_p2(size)),
        Box::new(sparse::Sparse::as_printed(size)),
        Box::new(sparse::Sparse::as_coded(size)),
        Box::new(neighbouring::Neighbouring::new(size)),
        Box::new(computed::Amplification::new(size)),
        Box::new(computed::Buckets),
        Box::new(numbers::Numbers::new(size)),
        Box::new(choices::Choices::new(size)),
        Box::new(learning::Learning::new(size)),
        Box::new(learning::Federated::new(size)),
        Box::new(ways::Ways::new()),
    ]
}
