//! Experiments of the study, with one module for each group of experiments.

mod choices;
mod computed;
mod costs;
mod data;
mod learning;
mod neighbouring;
mod numbers;
mod peers;
mod plans;
mod quantiles;
mod question_forms;
mod ratings;
mod sparse;

use crate::evaluate::measure::experiment::Experiment;
use crate::evaluate::measure::size::Size;

pub(crate) use data::Data;
pub(crate) use learning::Learning;

/// Returns all experiments that need no data set.
pub(crate) fn experiments(size: Size) -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(ratings::Ratings::p1(size)),
        Box::new(ratings::Ratings::p2(size)),
        Box::new(sparse::Sparse::as_printed(size)),
        Box::new(sparse::Sparse::as_coded(size)),
        Box::new(neighbouring::Neighbouring::new(size)),
        Box::new(computed::Amplification::new(size)),
        Box::new(computed::Buckets),
        Box::new(numbers::Numbers::new(size)),
        Box::new(quantiles::Quantiles::new(size)),
        Box::new(choices::Choices::new(size)),
        Box::new(learning::Learning::new(size)),
        Box::new(learning::Federated::new(size)),
        Box::new(question_forms::QuestionForms::new()),
        Box::new(peers::Peers),
        Box::new(plans::Plans::new(size)),
        Box::new(costs::Costs::new(size)),
    ]
}
