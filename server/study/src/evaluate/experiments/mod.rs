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
use crate::evaluate::measure::size::StudySize;

pub(crate) use data::DataSetMeans;
pub(crate) use learning::GradientLearning;

/// Returns all experiments that need no data set.
pub(crate) fn experiments_without_data_set(size: StudySize) -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(ratings::SignedRatings::for_paper_p1(size)),
        Box::new(ratings::SignedRatings::for_paper_p2(size)),
        Box::new(sparse::PopularItems::with_printed_crowds(size)),
        Box::new(sparse::PopularItems::with_coded_crowds(size)),
        Box::new(neighbouring::NeighbouringInputs::new(size)),
        Box::new(computed::ShuffleAmplification::new(size)),
        Box::new(computed::ErrorsByBuckets),
        Box::new(numbers::AttributeMeans::new(size)),
        Box::new(quantiles::Quantiles::new(size)),
        Box::new(choices::OptionShares::new(size)),
        Box::new(learning::GradientLearning::new(size)),
        Box::new(learning::FederatedLearning::new(size)),
        Box::new(question_forms::QuestionForms::new()),
        Box::new(peers::PeerComparison),
        Box::new(plans::PlanChecks::new(size)),
        Box::new(costs::ReportCosts::new(size)),
    ]
}
