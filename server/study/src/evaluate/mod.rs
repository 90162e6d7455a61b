//! Reruns the experiments of the papers with every competitor. An experiment consists of
//! independent units of work, and an interrupted study resumes with the unfinished ones. Results
//! are tables, figures and an HTML page.

mod crowd;
mod experiments;
mod measure;
mod mechanism;
mod page;
mod run;

pub(crate) use crowd::data_set::EntryDataSet;
pub(crate) use crowd::people::PeopleTable;
pub(crate) use experiments::{
    DataSetMeansExperiment, GradientLearningExperiment, experiments_without_data_set,
};
pub(crate) use measure::experiment::Experiment;
pub(crate) use measure::size::StudySize;
pub(crate) use page::html::describe_cell;
pub(crate) use page::result_files::write_results;
pub(crate) use run::engine::{StudySettings, run_study};
