//! Simulations of shuffled sums on people with known numbers.

use std::collections::HashMap;
use std::path::Path;

use hushbin::Items;
use hushbin::sums::{SumRandomizer, SumTask};
use hushbin_analysis::estimate::EstimateOptions;
use hushbin_analysis::sums::{SumEstimates, SumPlan, SumQuery, SumTotals};
use rand_core::CryptoRng;
use serde::Serialize;
use serde_json::Value;

use super::columns::parse_number_cell;
use super::error_tally::{ComparedEstimate, ErrorTally};
use super::lines::{
    DataError, DataFormat, for_each_object, for_each_record, line_error, open_data_set,
};

/// Numbers of all people: each person has one number for each item of the task.
pub(crate) struct SumData {
    item_count: usize,
    numbers: Vec<f64>,
}

impl SumData {
    /// Reads a file: CSV with a header of item names, or JSON lines with one object for each
    /// person.
    ///
    /// # Errors
    /// [`DataError`] for the first invalid line.
    pub(crate) fn open(path: &Path, format: DataFormat, task: &SumTask) -> Result<Self, DataError> {
        let reader = open_data_set(path)?;
        let items = task.summed_quantity().items().item_count().unwrap_or(0) as usize;
        let mut data = Self {
            item_count: items,
            numbers: Vec::new(),
        };
        let all = task.summed_quantity().items();
        let item = |name: &str| {
            let item = all.find_item(name);
            item.ok_or_else(|| format!("the task has no item {name:?}"))
        };
        match format {
            DataFormat::Csv => for_each_record(reader, item, |items, record| {
                let numbers = record.iter().map(parse_number_cell);
                data.add_person(all, &items.iter().copied().zip(numbers).collect())
            })?,
            DataFormat::JsonLines => for_each_object(reader, |given| {
                let numbers = given
                    .into_iter()
                    .map(|(name, value)| Ok((item(&name)?, value)));
                data.add_person(all, &numbers.collect::<Result<_, String>>()?)
            })?,
        }
        match data.person_count() {
            0 => Err(line_error(1, &"there are no answers")),
            _ => Ok(data),
        }
    }

    /// Adds one person, who has a number for each item. Returns a description of the missing
    /// number.
    fn add_person(
        &mut self,
        items: &Items,
        given: &HashMap<u64, Value>,
    ) -> Result<Option<String>, String> {
        for item in 0..self.item_count as u64 {
            let value = given.get(&item).unwrap_or(&Value::Null);
            let Some(number) = value.as_f64() else {
                let name = match items {
                    Items::Named(names) => names[item as usize].clone(),
                    _ => item.to_string(),
                };
                return match value {
                    Value::Null => Ok(Some(format!("{name:?}: there is no answer"))),
                    _ => Err(format!("{name:?}: expected a finite number, found {value}")),
                };
            };
            self.numbers.push(number);
        }
        Ok(None)
    }

    /// Returns the number of people.
    pub(crate) fn person_count(&self) -> usize {
        self.numbers.len() / self.item_count
    }

    /// Returns the mean of each item over the first `people` people.
    fn means(&self, people: usize) -> Vec<f64> {
        let mut means = vec![0.0; self.item_count];
        for answer in self.numbers_of_first_people(people) {
            let numbers = means.iter_mut().zip(answer);
            numbers.for_each(|(mean, own)| *mean += own / people as f64);
        }
        means
    }

    fn numbers_of_first_people(&self, people: usize) -> impl Iterator<Item = &[f64]> {
        self.numbers.chunks_exact(self.item_count).take(people)
    }
}

/// Result of simulating sums.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SumSimulationResult {
    pub(crate) people: usize,
    pub(crate) runs: u64,
    /// Number of messages of one person.
    pub(crate) messages: u32,
    /// Number of people whose answer was clipped, as the mean over runs. An answer is clipped if a
    /// number is outside its limits, or the norm of the numbers is too large.
    pub(crate) clipped: u64,
    /// Confidence of the intervals.
    pub(crate) confidence: f64,
    /// Predicted errors of each item.
    pub(crate) items: Vec<PredictedItemErrors>,
    #[serde(flatten)]
    pub(crate) tally: ErrorTally,
    /// Nanoseconds to make one person's messages.
    pub(crate) randomize_ns: f64,
}

/// Predicted errors of the mean of one item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PredictedItemErrors {
    /// Standard error stated with the estimate.
    pub(crate) stated_error: f64,
    /// Predicted standard error if the same number of people sent (ε, 0)-private reports instead.
    pub(crate) local_error: f64,
}

/// Returns the standard error in a batch of minimum size if people sent locally private reports
/// with the same ε instead.
fn local_standard_error(plan: &SumPlan, item: usize) -> f64 {
    let own = plan.errors.get(item).or(plan.errors.first());
    own.map_or(f64::NAN, |own| own.local_standard_error)
}

/// Simulates a batch of the first `people` people once for each random generator.
///
/// # Errors
/// If `people` is below the minimum of a batch or above the number of people in the data set. Also
/// if the confidence is out of range, or if no privacy account of the task can be computed.
pub(crate) fn simulate_sums<R: CryptoRng>(
    task: &SumTask,
    data: &SumData,
    people: usize,
    confidence: f64,
    rngs: impl Iterator<Item = R>,
    progress: impl Fn(u64),
) -> Result<SumSimulationResult, Box<dyn std::error::Error + Send + Sync>> {
    let (fewest, there) = (task.min_people() as usize, data.person_count());
    if !(fewest..=there).contains(&people) {
        return Err(format!("{people} of {there} people, expected {fewest} or more").into());
    }
    let options = EstimateOptions {
        confidence,
        ..EstimateOptions::default()
    };
    let query = SumQuery::new(task, &options)?;
    let (mut randomizer, mut messages) = (SumRandomizer::new(task), Vec::new());
    let truths = data.means(people);
    let (mut tally, mut items, mut clipped, mut runs) = (ErrorTally::default(), Vec::new(), 0, 0);
    let plan = SumPlan::new(task.clone())?;
    // The plan is for the minimum number of people; standard errors fall with the square root.
    let scale = (task.min_people() as f64 / people as f64).sqrt();
    let begun = std::time::Instant::now();
    for mut rng in rngs {
        let mut totals = SumTotals::new(task);
        for answer in data.numbers_of_first_people(people) {
            let lost = randomizer.randomize(answer, &mut rng, &mut messages)?;
            clipped += u64::from(lost.was_clipped);
            messages.iter().for_each(|own| totals.add_message(*own));
        }
        let found = SumEstimates::new(task, &totals, &query)?.estimates;
        let compared = found.iter().zip(&truths).map(|(own, &truth)| {
            ComparedEstimate::from_estimate(&own.item, own.unit.as_deref(), truth, &own.mean)
        });
        tally.add_run(compared.collect());
        let stated = found
            .iter()
            .zip(0..)
            .map(|(own, item)| PredictedItemErrors {
                stated_error: own.mean.standard_error,
                local_error: scale * local_standard_error(&plan, item),
            });
        items = stated.collect();
        runs += 1;
        progress(runs * people as u64);
    }
    let nanoseconds = begun.elapsed().as_nanos() as f64;
    Ok(SumSimulationResult {
        people,
        runs,
        messages: *task.message_count_range().end(),
        clipped: clipped.checked_div(runs).ok_or("there are no runs")?,
        confidence,
        items,
        tally: tally.into_averages(),
        randomize_ns: nanoseconds / (runs as f64 * people as f64),
    })
}
