//! Simulations of sums through a shuffler on people whose numbers are known.

use std::collections::HashMap;
use std::path::Path;

use csv::StringRecord;
use hushbin::sums::{SumRandomizer, SumTask};
use hushbin_analysis::estimate::{Label, Options};
use hushbin_analysis::sums::{SumEstimates, SumPlan, SumQuery, SumTotals};
use rand_core::CryptoRng;
use serde::Serialize;
use serde_json::{Map, Value};

use super::columns::number;
use super::lines::{DataError, Format, for_each_object, for_each_record, open, refuse};

/// The numbers of people, each as many as the task has items.
pub(crate) struct SumData {
    items: usize,
    numbers: Vec<f64>,
}

impl SumData {
    /// Reads a file: as CSV under a header of the items' names, as JSON lines an object each.
    ///
    /// # Errors
    /// [`DataError`], naming the first line that is wrong.
    pub(crate) fn open(path: &Path, format: Format, task: &SumTask) -> Result<Self, DataError> {
        let reader = open(path)?;
        let items = task.measure().items().count().unwrap_or(0) as usize;
        let mut data = Self {
            items,
            numbers: Vec::new(),
        };
        match format {
            Format::Csv => for_each_record(reader, |header| {
                let (header, data) = (header.clone(), &mut data);
                Ok(move |record: &StringRecord| {
                    let cells = record.iter().map(|cell| number(cell.trim()));
                    data.add(task, &header.iter().map(str::to_owned).zip(cells).collect())
                })
            })?,
            Format::JsonLines => for_each_object(reader, |given| data.add(task, &given))?,
        }
        match data.people() {
            0 => Err(refuse(1, &"there are no answers")),
            _ => Ok(data),
        }
    }

    fn add(&mut self, task: &SumTask, given: &Map<String, Value>) -> Result<(), String> {
        let items = task.measure().items();
        let mut own: HashMap<u64, f64> = HashMap::new();
        for (name, value) in given {
            let item = items.resolve(name);
            let item = item.ok_or_else(|| format!("the task has no item {name:?}"))?;
            let value = value.as_f64();
            own.insert(
                item,
                value.ok_or_else(|| format!("{name:?} is no finite number"))?,
            );
        }
        if own.len() != self.items {
            return Err(format!("{} numbers, expected {}", own.len(), self.items));
        }
        self.numbers
            .extend((0..self.items as u64).map(|item| own[&item]));
        Ok(())
    }

    /// How many people there are.
    pub(crate) fn people(&self) -> usize {
        self.numbers.len() / self.items
    }

    fn first(&self, people: usize) -> impl Iterator<Item = &[f64]> {
        self.numbers.chunks_exact(self.items).take(people)
    }
}

/// How wrong sums came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SumOutcome {
    pub(crate) people: usize,
    pub(crate) runs: u64,
    /// Messages of one person.
    pub(crate) messages: u32,
    /// People with a number beyond its limits, or a vector that is too long.
    pub(crate) clipped: u64,
    /// Confidence of the intervals.
    pub(crate) confidence: f64,
    /// By item.
    pub(crate) items: Vec<SumItem>,
    /// The part of intervals that hold the truth, each by itself.
    pub(crate) covered: f64,
    /// The part of runs of which all simultaneous intervals do.
    pub(crate) all_covered: f64,
    /// Nanoseconds to make one person's messages.
    pub(crate) randomize_ns: f64,
}

/// The mean of one item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SumItem {
    pub(crate) item: Label,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
    /// Of these people, as they are.
    pub(crate) truth: f64,
    /// Of the first run.
    pub(crate) estimate: f64,
    /// Root of the mean squared error over runs.
    pub(crate) error: f64,
    /// Root of the mean square of standard errors that were stated.
    pub(crate) stated_error: f64,
    /// Of reports that are (ε, 0)-private by themselves, with as many people, predicted.
    pub(crate) local_error: f64,
}

/// Runs a batch of these people once for each generator.
///
/// # Errors
/// For fewer people than a batch has at least, a confidence that is none, and what cannot be
/// accounted for.
pub(crate) fn simulate_sums<R: CryptoRng>(
    task: &SumTask,
    data: &SumData,
    people: usize,
    confidence: f64,
    rngs: impl Iterator<Item = R>,
    progress: impl Fn(u64),
) -> Result<SumOutcome, Box<dyn std::error::Error + Send + Sync>> {
    if (people as u64) < task.people() || people > data.people() {
        return Err(format!(
            "a batch has {} people at least, and the data {}: {people} are too few or too many",
            task.people(),
            data.people()
        )
        .into());
    }
    let options = Options {
        confidence,
        ..Options::default()
    };
    let query = SumQuery::new(task, &options)?;
    let (mut randomizer, mut messages) = (SumRandomizer::new(task), Vec::new());
    let mut found = Sums::new(data, people);
    let mut clipped = 0;
    let begun = std::time::Instant::now();
    for mut rng in rngs {
        let mut totals = SumTotals::new(task);
        for answer in data.first(people) {
            let lost = randomizer.randomize(answer, &mut rng, &mut messages)?;
            clipped += u64::from(lost.clipped);
            messages.iter().for_each(|own| totals.fold(*own));
        }
        found.add(SumEstimates::new(task, &totals, &query));
        progress(found.runs * people as u64);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let plan = SumPlan::new(task.clone())?;
    let scale = (task.people() as f64 / people as f64).sqrt();
    let local = |item: usize| {
        let own = plan.errors.get(item).or(plan.errors.first());
        own.map_or(f64::NAN, |own| own.local_standard_error * scale)
    };
    let runs = found.runs;
    Ok(SumOutcome {
        people,
        runs,
        messages: task.messages().count(),
        clipped: clipped.checked_div(runs).ok_or("there are no runs")?,
        confidence,
        covered: found.covered as f64 / (runs * data.items as u64) as f64,
        all_covered: found.all_covered as f64 / runs as f64,
        items: found.items(local),
        randomize_ns: 1e9 * seconds / (runs as f64 * people as f64),
    })
}

/// Sums over runs.
struct Sums {
    truths: Vec<f64>,
    runs: u64,
    /// Squared errors by item: as they are, and as stated.
    squares: Vec<[f64; 2]>,
    covered: u64,
    all_covered: u64,
    first: Option<SumEstimates>,
}

impl Sums {
    fn new(data: &SumData, people: usize) -> Self {
        let mut truths = vec![0.0; data.items];
        for answer in data.first(people) {
            let numbers = truths.iter_mut().zip(answer);
            numbers.for_each(|(sum, own)| *sum += own / people as f64);
        }
        Self {
            squares: vec![[0.0; 2]; truths.len()],
            truths,
            runs: 0,
            covered: 0,
            all_covered: 0,
            first: None,
        }
    }

    fn add(&mut self, found: SumEstimates) {
        self.runs += 1;
        let mut all = true;
        let known = self.truths.iter().zip(&mut self.squares);
        for (own, (truth, [error, stated])) in found.estimates.iter().zip(known) {
            *error += (own.mean.estimate - truth).powi(2);
            *stated += own.mean.standard_error.powi(2);
            let holds = |[low, high]: [f64; 2]| low <= *truth && *truth <= high;
            self.covered += u64::from(holds(own.mean.interval));
            all &= holds(own.mean.simultaneous_interval);
        }
        self.all_covered += u64::from(all);
        self.first.get_or_insert(found);
    }

    /// Errors by item, with the `local` error of each.
    fn items(self, local: impl Fn(usize) -> f64) -> Vec<SumItem> {
        let root = |square: f64| (square / self.runs as f64).sqrt();
        let estimates = self.first.into_iter().flat_map(|first| first.estimates);
        let known = self.truths.iter().zip(&self.squares);
        let items = estimates.zip(known).enumerate();
        items
            .map(|(item, (own, (&truth, &[error, stated])))| SumItem {
                item: own.item,
                unit: own.unit,
                truth,
                estimate: own.mean.estimate,
                error: root(error),
                stated_error: root(stated),
                local_error: local(item),
            })
            .collect()
    }
}
