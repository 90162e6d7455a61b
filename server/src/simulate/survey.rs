//! Simulations of tasks of questions: what is answered about each, beside the truth.

use chacha20::ChaCha20Rng;
use hushbin::task::Kind;
use hushbin::{Entry, Question, Task};
use hushbin_analysis::estimate::{Estimand, Estimates, Estimator, Options, Query, Totals};
use hushbin_analysis::heavy_hitters;
use serde::Serialize;

use super::answers::Answers;
use super::reports::{SimulateError, randomize};
use super::texts::{Crowd, FoundTexts};

/// What simulations of a task found, on average over `runs`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Survey {
    /// People who reported.
    pub(crate) people: usize,
    /// How often they did.
    pub(crate) runs: usize,
    /// Confidence of the intervals.
    pub(crate) confidence: f64,
    /// People who had more entries than the sparsity of a question that they answered.
    pub(crate) sampled_down: usize,
    /// Nanoseconds to randomise one person's answers, on one core.
    pub(crate) randomize_ns: f64,
    /// Nanoseconds to fold one report into totals, on one core.
    pub(crate) decode_ns: f64,
    /// By question, those for texts aside.
    pub(crate) questions: Vec<Found>,
    /// By question for a text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) texts: Vec<FoundTexts>,
}

/// What was found of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Found {
    /// Its name.
    pub(crate) question: String,
    /// Its kind.
    pub(crate) kind: &'static str,
    /// How many reports answered it.
    pub(crate) reports: f64,
    /// What was estimated of each item.
    pub(crate) estimand: Estimand,
    /// Number of items, options, bins or levels.
    pub(crate) items: usize,
    /// Squared error, averaged over items; of several numbers as a part of their ranges.
    pub(crate) mse: f64,
    /// The same by the standard errors that were stated.
    pub(crate) stated_mse: f64,
    /// Of answering 0.
    pub(crate) zero_mse: f64,
    /// Largest error of any item and run.
    pub(crate) max_abs_error: f64,
    /// Part of the items whose interval holds the truth.
    pub(crate) covered: f64,
    /// Part of the runs in which all simultaneous intervals of the question do.
    pub(crate) all_covered: f64,
    /// How many answers lay beyond the range of a number.
    pub(crate) clipped: u64,
    /// Mean and quantiles of a number, or means within rows of a cross, of the first run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) numbers: Vec<Compared>,
}

/// A number that was estimated, and the truth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Compared {
    /// The row of a cross, within which it is the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) row: Option<String>,
    /// The part of people below it; `None` for the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quantile: Option<f64>,
    /// The estimate.
    pub(crate) estimate: f64,
    /// Its interval.
    pub(crate) interval: [f64; 2],
    /// The truth, of answers moved into the range.
    pub(crate) truth: f64,
}

/// Simulates the first `people` once for each generator, calling `progress` with how many
/// of a run are done.
///
/// # Errors
/// [`SimulateError`].
pub(crate) fn survey(
    task: &Task,
    answers: &Answers,
    people: usize,
    search: &heavy_hitters::Options,
    rngs: impl Iterator<Item = ChaCha20Rng>,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<Survey, SimulateError> {
    check_people(people, answers.people())?;
    let estimator = Estimator::for_task(task.clone());
    let confidence = search.confidence;
    let truth = |index| Truth::new(task, index, answers, people, confidence);
    let is_text = |&index: &usize| matches!(task.questions()[index].kind(), Kind::Text(_));
    let (texts, listed): (Vec<usize>, Vec<usize>) = (0..task.questions().len()).partition(is_text);
    let truths: Vec<Truth> = listed
        .iter()
        .copied()
        .map(truth)
        .collect::<Result<_, _>>()?;
    let crowd = |index| Crowd::new(task, index, answers, people, search);
    let mut crowds: Vec<Crowd> = texts.into_iter().map(crowd).collect::<Result<_, _>>()?;
    let none = |(&index, truth): (&usize, &Truth)| {
        Found::new(&task.questions()[index], truth, answers.clipped(index))
    };
    let mut questions: Vec<Found> = listed.iter().zip(&truths).map(none).collect();
    let (mut runs, mut sampled_down, mut nanoseconds) = (0, 0, [0.0; 2]);
    for (run, rng) in rngs.enumerate() {
        let of = |person| answers.person(person);
        let whole = randomize(task, &of, people, &rng, &|done| progress(run, done))?;
        for (found, truth) in questions.iter_mut().zip(&truths) {
            found.add(truth, &estimator, &whole.totals);
        }
        for (crowd, reports) in crowds.iter_mut().zip(&whole.texts) {
            crowd.search(reports)?;
        }
        for (sum, time) in nanoseconds
            .iter_mut()
            .zip([whole.randomizing, whole.decoding])
        {
            *sum += time.as_nanos() as f64 / people as f64;
        }
        runs += 1;
        sampled_down += whole.sampled_down;
    }
    let [randomize_ns, decode_ns] = nanoseconds.map(|time| time / f64::from(runs));
    Ok(Survey {
        people,
        runs: runs as usize,
        confidence,
        sampled_down: sampled_down / runs as usize,
        randomize_ns,
        decode_ns,
        questions: questions
            .into_iter()
            .map(|own| own.averaged(runs))
            .collect(),
        texts: crowds.into_iter().map(|crowd| crowd.found(runs)).collect(),
    })
}

/// Checks that there are so many people.
fn check_people(asked: usize, there: usize) -> Result<(), SimulateError> {
    match (1..=there).contains(&asked) {
        true => Ok(()),
        false => Err(SimulateError::People { asked, there }),
    }
}

/// What is true of the answers to a question, and how to ask for it.
struct Truth {
    query: Query,
    /// By item asked for.
    by_item: Vec<f64>,
    /// What errors are parts of: of one of several numbers the width of its range.
    widths: Vec<f64>,
    /// Ascending; of a number.
    numbers: Vec<f64>,
    /// Number of people and sum of their numbers, by row of a cross that has means.
    rows: Vec<[f64; 2]>,
}

impl Truth {
    fn new(
        task: &Task,
        index: usize,
        answers: &Answers,
        people: usize,
        confidence: f64,
    ) -> Result<Self, SimulateError> {
        let question = &task.questions()[index];
        if question.items().count().is_none() {
            return Err(SimulateError::Open {
                question: question.name().to_owned(),
            });
        }
        let query = Query::new(
            task,
            &Options {
                question: (!task.is_unnamed()).then(|| question.name().to_owned()),
                confidence,
                ..Options::default()
            },
        )?;
        let mut truth = Self {
            by_item: vec![0.0; query.items().len()],
            widths: vec![1.0; query.items().len()],
            query,
            numbers: Vec::new(),
            rows: Vec::new(),
        };
        for person in 0..people {
            for entry in answers.answer(person, index) {
                truth.add(question, entry, people as f64);
            }
        }
        truth.numbers.sort_by(f64::total_cmp);
        Ok(truth)
    }

    fn add(&mut self, question: &Question, entry: &Entry, people: f64) {
        // All items are asked for, in their order.
        let item = entry.item as usize;
        let (cell, next) = match question.kind() {
            Kind::Number(scale) => {
                let [min, max] = scale.range();
                self.numbers.push(entry.value.clamp(min, max));
                scale.cell(entry.value)
            }
            Kind::Cross(cross) => {
                if let Some(scale) = cross.columns().scale().filter(|own| own.edges().is_none()) {
                    let [min, max] = scale.range();
                    self.rows.resize(cross.shape()[0] as usize, [0.0; 2]);
                    self.rows[item][0] += 1.0;
                    self.rows[item][1] += entry.value.clamp(min, max);
                }
                cross.cell(entry.item as u32, entry.value)
            }
            Kind::Together(together) => (together.cell(item, entry.value as u32), 0.0),
            Kind::Numbers(of) => {
                let [min, max] = of[item].range();
                self.by_item[item] += entry.value.clamp(min, max) / people;
                self.widths[item] = max - min;
                return;
            }
            _ => {
                self.by_item[item] += entry.value / people;
                return;
            }
        };
        let cell = cell as usize;
        self.by_item[cell] += (1.0 - next) / people;
        if next > 0.0 {
            self.by_item[cell + 1] += next / people;
        }
    }

    /// Mean and quantiles as answered, beside the true ones.
    fn compare(&self, answer: &Estimates) -> Vec<Compared> {
        let Some(number) = &answer.number else {
            return self.compare_rows(answer);
        };
        let people = self.numbers.len() as f64;
        let mean = number.mean.iter().map(|mean| Compared {
            row: None,
            quantile: None,
            estimate: mean.estimate,
            interval: mean.interval,
            truth: self.by_item[0],
        });
        let quantiles = number.quantiles.iter().map(|quantile| Compared {
            row: None,
            quantile: Some(quantile.quantile),
            estimate: quantile.estimate,
            interval: quantile.interval,
            truth: self.numbers[(quantile.quantile * people) as usize],
        });
        mean.chain(quantiles).collect()
    }

    /// Means within rows that have an estimate, beside the true ones.
    fn compare_rows(&self, answer: &Estimates) -> Vec<Compared> {
        let means = answer
            .cross
            .iter()
            .flat_map(|cross| &cross.conditional_means);
        let compared = means.zip(&self.rows).filter_map(|(own, [people, sum])| {
            Some(Compared {
                row: Some(own.row.to_string()),
                quantile: None,
                estimate: own.mean.estimate?,
                interval: own.mean.interval,
                truth: sum / people,
            })
        });
        compared.filter(|own| own.truth.is_finite()).collect()
    }
}

impl Found {
    /// What is found of no runs.
    fn new(question: &Question, truth: &Truth, clipped: u64) -> Self {
        let items = truth.by_item.len();
        let parts = truth.by_item.iter().zip(&truth.widths);
        let squares = parts.map(|(truth, width)| (truth / width).powi(2));
        Self {
            question: question.name().to_owned(),
            kind: question.kind().name(),
            reports: 0.0,
            estimand: if question.domain().is_rated() {
                Estimand::Mean
            } else {
                Estimand::Share
            },
            items,
            mse: 0.0,
            stated_mse: 0.0,
            zero_mse: squares.sum::<f64>() / items as f64,
            max_abs_error: 0.0,
            covered: 0.0,
            all_covered: 0.0,
            clipped,
            numbers: Vec::new(),
        }
    }

    /// Adds what a run found.
    fn add(&mut self, truth: &Truth, estimator: &Estimator, totals: &Totals) {
        let answer = estimator.estimates(totals, &truth.query);
        self.reports += answer.reports as f64;
        let items = self.items as f64;
        let mut all = true;
        let truths = truth.by_item.iter().zip(&truth.widths);
        for (item, (&truly, width)) in answer.estimates.iter().zip(truths) {
            let mut estimates = item.estimates();
            let asked = estimates.find(|(estimand, _)| *estimand == self.estimand);
            let Some((_, estimate)) = asked else {
                continue;
            };
            let error = (estimate.estimate - truly) / width;
            let holds = |[low, high]: [f64; 2]| (low..=high).contains(&truly);
            self.mse += error * error / items;
            self.stated_mse += (estimate.standard_error / width).powi(2) / items;
            self.covered += f64::from(u8::from(holds(estimate.interval))) / items;
            self.max_abs_error = self.max_abs_error.max(error.abs());
            all &= holds(estimate.simultaneous_interval);
        }
        self.all_covered += f64::from(u8::from(all));
        if self.numbers.is_empty() {
            self.numbers = truth.compare(&answer);
        }
    }

    /// Averages what was added over so many runs.
    fn averaged(self, runs: u32) -> Self {
        let average = |sum: f64| sum / f64::from(runs);
        Self {
            reports: average(self.reports),
            mse: average(self.mse),
            stated_mse: average(self.stated_mse),
            covered: average(self.covered),
            all_covered: average(self.all_covered),
            ..self
        }
    }
}
