//! Simulations of shuffled sums on people with known numbers.

use std::collections::HashMap;
use std::path::Path;

use hushbin::sums::{CountedKind, CountedQuestions, SumRandomizer, SumTask};
use hushbin::{Items, TaskDraft};
use hushbin_analysis::estimate::EstimateOptions;
use hushbin_analysis::sums::{SumEstimate, SumEstimates, SumPlan, SumQuery, SumTotals};
use rand_core::CryptoRng;
use serde::Serialize;
use serde_json::{Value, json};

use super::answers::Answers;
use super::columns::parse_number_cell;
use super::error_tally::{ComparedEstimate, ErrorTally};
use super::lines::{
    DataError, DataFormat, for_each_object, for_each_record, line_error, open_data_set,
};

/// Answers of all people to a task through a shuffler, in the form that the randomizer takes.
pub(crate) struct SumData {
    answers: Vec<Vec<f64>>,
}

impl SumData {
    /// Reads a file: CSV with a header of item names, or JSON lines with one object for each
    /// person. Questions are read as those of tasks with a local ε.
    ///
    /// # Errors
    /// [`DataError`] for the first invalid line. Also if questions are too large for a task with a
    /// local ε.
    pub(crate) fn open(
        path: &Path,
        format: DataFormat,
        task: &SumTask,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        match task.summed_quantity().counted_questions() {
            Some(questions) => Self::open_questions(path, format, task, questions),
            None => Ok(Self::open_numbers(path, format, task)?),
        }
    }

    fn open_questions(
        path: &Path,
        format: DataFormat,
        task: &SumTask,
        questions: &CountedQuestions,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        // Both kinds of task describe questions in the same words. The ε is of no consequence:
        // nothing is randomised by this task.
        let asked = serde_json::to_value(task)?["questions"].take();
        let local = json!({ "id": task.id(), "epsilon": 1.0, "questions": asked });
        let local = serde_json::from_value::<TaskDraft>(local)?.resolve_task()?;
        let answers = Answers::open(path, format, &local)?;
        let person = |person| {
            let given = answers.answers_of_person(person);
            let numbers = given.into_iter().flatten();
            let is_number = matches!(questions.kind(), CountedKind::Number { .. });
            numbers
                .map(|entry| match is_number {
                    true => entry.value,
                    false => entry.item as f64,
                })
                .collect()
        };
        Ok(Self {
            answers: (0..answers.person_count()).map(person).collect(),
        })
    }

    fn open_numbers(path: &Path, format: DataFormat, task: &SumTask) -> Result<Self, DataError> {
        let reader = open_data_set(path)?;
        let mut data = Self {
            answers: Vec::new(),
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
        let mut numbers = Vec::new();
        for item in 0..u64::from(items.item_count().unwrap_or(0)) {
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
            numbers.push(number);
        }
        self.answers.push(numbers);
        Ok(None)
    }

    /// Returns the number of people.
    pub(crate) fn person_count(&self) -> usize {
        self.answers.len()
    }

    /// Returns the mean of each item over the first `people` people. For questions, the mean is the
    /// share of people behind an option, in a bin, or who say yes.
    fn means(&self, task: &SumTask, people: usize) -> Vec<f64> {
        let quantity = task.summed_quantity();
        let mut means = vec![0.0; quantity.items().item_count().unwrap_or(0) as usize];
        let one = 1.0 / people as f64;
        let counted = quantity.counted_questions();
        let edges = counted.and_then(CountedQuestions::bin_edges);
        for answer in self.answers_of_first_people(people) {
            match counted.map(CountedQuestions::kind) {
                None | Some(CountedKind::Flags) => {
                    let numbers = means.iter_mut().zip(answer);
                    numbers.for_each(|(mean, own)| *mean += own * one);
                }
                Some(CountedKind::Choice { .. } | CountedKind::Set { .. }) => {
                    answer.iter().for_each(|own| means[*own as usize] += one);
                }
                Some(CountedKind::Number { .. }) => {
                    let edges = edges.as_deref().unwrap_or_default();
                    // Inner edges only: numbers outside are counted in the first or last bin.
                    let inner = &edges[1..edges.len() - 1];
                    means[inner.partition_point(|edge| *edge <= answer[0])] += one;
                }
            }
        }
        means
    }

    fn answers_of_first_people(&self, people: usize) -> impl Iterator<Item = &[f64]> {
        self.answers.iter().take(people).map(Vec::as_slice)
    }
}

/// Result of simulating sums.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SumSimulationResult {
    pub(crate) people: usize,
    pub(crate) runs: u64,
    /// True if the means are shares of people, because options are counted.
    pub(crate) are_shares: bool,
    /// Maximum number of messages of one person.
    pub(crate) messages: u32,
    /// Mean number of messages of one person in the simulated batches.
    pub(crate) mean_messages: f64,
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

/// Returns the stated errors of the estimates of a batch, next to those of locally private reports.
fn predicted_item_errors(
    found: &[SumEstimate],
    plan: &SumPlan,
    people: usize,
) -> Vec<PredictedItemErrors> {
    // The plan is for the minimum number of people; standard errors fall with the square root.
    let scale = (plan.task.min_people() as f64 / people as f64).sqrt();
    let items = found.iter().enumerate();
    let predicted = items.map(|(item, own)| PredictedItemErrors {
        stated_error: own.mean.standard_error,
        local_error: scale * local_standard_error(plan, item),
    });
    predicted.collect()
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
    let truths = data.means(task, people);
    let (mut tally, mut items, mut clipped, mut runs) = (ErrorTally::default(), Vec::new(), 0, 0);
    let plan = SumPlan::new(task.clone())?;
    let begun = std::time::Instant::now();
    let mut sent = 0;
    for mut rng in rngs {
        let mut totals = SumTotals::new(task);
        totals.add_people(people as u64);
        for answer in data.answers_of_first_people(people) {
            let lost = randomizer.randomize(answer, &mut rng, &mut messages)?;
            clipped += u64::from(lost.was_clipped);
            messages.iter().for_each(|own| totals.add_message(*own));
        }
        sent += totals.message_count();
        let found = SumEstimates::new(task, &totals, &query)?.estimates;
        let compared = found.iter().zip(&truths).map(|(own, &truth)| {
            ComparedEstimate::from_estimate(&own.item, own.unit.as_deref(), truth, &own.mean)
        });
        tally.add_run(compared.collect());
        items = predicted_item_errors(&found, &plan, people);
        runs += 1;
        progress(runs * people as u64);
    }
    let nanoseconds = begun.elapsed().as_nanos() as f64;
    Ok(SumSimulationResult {
        people,
        runs,
        are_shares: task.summed_quantity().counted_questions().is_some(),
        messages: *task.message_count_range().end(),
        mean_messages: sent as f64 / (runs as f64 * people as f64),
        clipped: clipped.checked_div(runs).ok_or("there are no runs")?,
        confidence,
        items,
        tally: tally.into_averages(),
        randomize_ns: nanoseconds / (runs as f64 * people as f64),
    })
}
