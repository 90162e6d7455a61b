//! Simulations of a task. They compare its estimates with the known answers of simulated people.

mod answers;
mod columns;
mod error_tally;
mod lines;
mod reports;
mod sum_simulation;
mod survey_simulation;
mod texts;

pub(crate) use answers::Answers;
pub(crate) use error_tally::{ComparedEstimate, ErrorTally};
pub(crate) use lines::DataFormat;
pub(crate) use sum_simulation::{SumData, SumSimulationResult, simulate_sums};
pub(crate) use survey_simulation::{QuestionResult, SimulationResult, simulate_survey};
pub(crate) use texts::{ComparedText, TextQuestionResult};
