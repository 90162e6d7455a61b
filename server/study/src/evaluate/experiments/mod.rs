//! Experiments of the study, with one module for each group of experiments.

mod choices;
mod costs;
mod data;
mod formula_figures;
mod learning;
mod neighbouring;
mod numbers;
mod peers;
mod plan_checks;
mod popular_items;
mod quantiles;
mod question_forms;
mod rating_measurements;
mod ratings;
mod shuffled;

use crate::evaluate::measure::experiment::Experiment;
use crate::evaluate::measure::size::StudySize;

pub(crate) use data::DataSetMeansExperiment;
pub(crate) use learning::GradientLearningExperiment;

/// Returns all experiments that need no data set.
pub(crate) fn experiments_without_data_set(size: StudySize) -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(ratings::RatingsExperiment::for_paper_p1(size)),
        Box::new(ratings::RatingsExperiment::for_paper_p2(size)),
        Box::new(popular_items::PopularItemsExperiment::with_printed_crowds(
            size,
        )),
        Box::new(popular_items::PopularItemsExperiment::with_coded_crowds(
            size,
        )),
        Box::new(neighbouring::NeighbouringInputsExperiment::new(size)),
        Box::new(formula_figures::ShuffleAmplificationExperiment::new(size)),
        Box::new(formula_figures::ErrorsByBucketsExperiment),
        Box::new(numbers::AttributeMeansExperiment::new(size)),
        Box::new(quantiles::QuantilesExperiment::new(size)),
        Box::new(choices::OptionSharesExperiment::new(size)),
        Box::new(learning::GradientLearningExperiment::new(size)),
        Box::new(learning::FederatedLearningExperiment::new(size)),
        Box::new(question_forms::QuestionFormsExperiment::new()),
        Box::new(peers::PeerComparisonExperiment),
        Box::new(shuffled::ShuffledProtocolsExperiment::new(size)),
        Box::new(plan_checks::PlanChecksExperiment::new(size)),
        Box::new(costs::ReportCostsExperiment::new(size)),
    ]
}
