//! Trials in which every person runs hushbin's randomiser.

use hushbin::sums::{Message, SumRandomizer, SumTask};
use hushbin_analysis::estimate::EstimateOptions;
use hushbin_analysis::sums::{SumEstimates, SumQuery, SumTotals};
use rand_chacha::ChaCha8Rng;

use super::measured_error::mean_squared_error;
use super::protocol_row::ONE_BY_ONE_PEOPLE;
use crate::evaluate::measure::experiment::StudyError;

/// Lets every person run the task's randomiser, and returns the mean squared error of the means
/// that hushbin's analyser estimates. `answer_of` returns a person's answer, and `truth_of` the
/// true mean of an item.
pub(super) fn randomize_one_by_one(
    task: &SumTask,
    answer_of: impl Fn(u64) -> Vec<f64>,
    truth_of: impl Fn(usize) -> f64,
    rng: &mut ChaCha8Rng,
) -> Result<f64, StudyError> {
    let mut randomizer = SumRandomizer::new(task);
    let mut totals = SumTotals::new(task);
    totals.add_people(ONE_BY_ONE_PEOPLE);
    let mut messages: Vec<Message> = Vec::new();
    for person in 0..ONE_BY_ONE_PEOPLE {
        randomizer.randomize(&answer_of(person), rng, &mut messages)?;
        messages.iter().for_each(|own| totals.add_message(*own));
    }
    let refused = |error: &dyn std::fmt::Display| StudyError::invalid_draft("hushbin", error);
    let query = SumQuery::new(task, &EstimateOptions::default());
    let query = query.map_err(|error| refused(&error))?;
    let found = SumEstimates::new(task, &totals, &query).map_err(|error| refused(&error))?;
    let means = found.estimates.iter().enumerate();
    Ok(mean_squared_error(
        means.map(|(item, own)| own.mean.estimate - truth_of(item)),
    ))
}
