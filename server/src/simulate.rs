//! The whole way natively, over people whose truth is known: the same
//! randomizer and estimator as in use, and how wrong the estimates come out.

use std::time::{Duration, Instant};

use hushbin::{Items, Randomizer, Task};
use rand_core::CryptoRng;
use serde::Serialize;

use crate::data::DataSet;
use crate::estimate::{Estimand, Expectation, Totals, points};

/// What a simulation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// People in the crowd.
    pub people: usize,
    /// Reports folded, one for each of them.
    pub reports: u64,
    /// Items estimated.
    pub items: u32,
    /// What was estimated of each.
    pub estimand: Estimand,
    /// Total variation error: the sum of absolute errors over all items.
    pub tve: f64,
    /// The largest absolute error.
    pub max_abs_error: f64,
    /// Squared error, averaged over items.
    pub mse: f64,
    /// What it is expected to be.
    pub predicted_mse: f64,
    /// Nanoseconds to randomise one person's entries.
    pub randomize_ns: f64,
    /// Nanoseconds to fold one report into totals.
    pub decode_ns: f64,
    /// Lines of the data set that a later one of the same person and item
    /// replaced.
    pub replaced: usize,
    /// People who had more entries left than the sparsity.
    pub sampled_down: usize,
    /// Mean squared error of answering 0 for every item: what any estimate must
    /// beat to be worth having.
    pub zero_mse: f64,
    /// Largest absolute error of answering 0 for every item.
    pub zero_max_abs_error: f64,
}

/// Why a simulation cannot run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The task asks about other items than the data set has.
    #[error("the task has {task} items, the data set {data}")]
    Items {
        /// Of the task.
        task: String,
        /// Of the data set.
        data: u32,
    },
    /// More people asked for than there are.
    #[error("{asked} people asked for, the data set has {there}")]
    People {
        /// Asked for.
        asked: usize,
        /// In the data set.
        there: usize,
    },
    /// The task's mechanism does not estimate this.
    #[error("the task's mechanism, {mechanism}, does not estimate \"{}\"", estimand.as_str())]
    Estimand {
        /// Its name.
        mechanism: &'static str,
        /// What was asked for.
        estimand: Estimand,
    },
    /// A value that the task does not take.
    #[error("person {person}: {source}")]
    Entry {
        /// Whose.
        person: usize,
        /// What is wrong.
        source: hushbin::Error,
    },
}

/// People randomised between two looks at the clock.
const BLOCK: usize = 4096;

/// Simulates the first `people` of a data set, calling `progress` with the
/// number of people done.
///
/// # Errors
/// [`SimulateError`].
pub fn simulate<R: CryptoRng + ?Sized>(
    task: &Task,
    data: &DataSet,
    people: usize,
    estimand: Estimand,
    rng: &mut R,
    mut progress: impl FnMut(usize),
) -> Result<Outcome, SimulateError> {
    let items = data.items();
    if task.items().count() != Some(items) {
        return Err(SimulateError::Items {
            task: match task.items() {
                Items::Open(_) => "open".to_owned(),
                closed => closed.count().unwrap_or(0).to_string(),
            },
            data: items,
        });
    }
    if people == 0 || people > data.people() {
        return Err(SimulateError::People {
            asked: people,
            there: data.people(),
        });
    }
    let mut randomizer = Randomizer::new(task);
    let mut totals = Totals::new(task);
    let refused = SimulateError::Estimand {
        mechanism: task.mechanism().name(),
        estimand,
    };
    let mut expectation = Expectation::new(task, estimand, items).ok_or_else(|| refused.clone())?;
    let mut reports = Vec::with_capacity(BLOCK);
    let (mut randomizing, mut decoding) = (Duration::ZERO, Duration::ZERO);
    let mut sampled_down = 0;
    for first in (0..people).step_by(BLOCK) {
        let block = first..people.min(first + BLOCK);
        reports.clear();
        let begin = Instant::now();
        for person in block.clone() {
            let made = randomizer
                .randomize(data.person(person), rng)
                .map_err(|source| SimulateError::Entry { person, source })?;
            sampled_down += usize::from(made.sampled_down);
            reports.push(made.report);
        }
        let randomized = Instant::now();
        for report in &reports {
            totals.fold(report);
        }
        decoding += randomized.elapsed();
        randomizing += randomized - begin;
        for person in block.clone() {
            expectation.add(data.person(person));
        }
        progress(block.end);
    }

    let asked: Vec<u64> = (0..u64::from(items)).collect();
    let estimates = points(task, &totals, &asked);
    let mut outcome = Outcome {
        people,
        reports: totals.reports(),
        items,
        estimand,
        tve: 0.0,
        max_abs_error: 0.0,
        mse: 0.0,
        predicted_mse: expectation.mean_squared_error(),
        randomize_ns: randomizing.as_nanos() as f64 / people as f64,
        decode_ns: decoding.as_nanos() as f64 / people as f64,
        replaced: data.replaced(),
        sampled_down,
        zero_mse: 0.0,
        zero_max_abs_error: 0.0,
    };
    for (points, truth) in estimates.iter().zip(expectation.truth()) {
        let point = points.get(estimand).ok_or_else(|| refused.clone())?;
        let error = (point.estimate - truth).abs();
        outcome.tve += error;
        outcome.max_abs_error = outcome.max_abs_error.max(error);
        outcome.mse += error * error / f64::from(items);
        outcome.zero_mse += truth * truth / f64::from(items);
        outcome.zero_max_abs_error = outcome.zero_max_abs_error.max(truth.abs());
    }
    Ok(outcome)
}
