//! Simulations of tasks of questions: what is answered about each, beside the truth.

use chacha20::ChaCha20Rng;
use hushbin::task::Kind;
use hushbin::{Entry, Question, Task};
use hushbin_analysis::estimate::{Estimand, Estimates, Estimator, Options, Query, Totals};
use hushbin_analysis::heavy_hitters;
use serde::Serialize;

use super::answers::Answers;
use super::compared::{Compared, Tally};
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
    /// Part of people whose reports answer it.
    pub(crate) share: f64,
    /// How many reports answered it.
    pub(crate) reports: f64,
    /// What was estimated of each item.
    pub(crate) estimand: Estimand,
    /// Number of items, options, bins or levels.
    pub(crate) items: usize,
    /// Squared error, averaged over items; of several numbers as a part of their ranges. As all
    /// that follows it is of the runs in which somebody answered, and not a number without any.
    pub(crate) mse: f64,
    /// The same by the standard errors that were stated.
    pub(crate) stated_mse: f64,
    /// Of answering 0.
    pub(crate) zero_mse: f64,
    /// Items.
    #[serde(flatten)]
    pub(crate) shares: Tally,
    /// How many answers lay beyond the range of a number.
    pub(crate) clipped: u64,
    /// Mean and quantiles of a number, or means within rows of a cross.
    #[serde(skip_serializing_if = "Tally::is_empty")]
    pub(crate) numbers: Tally,
    /// Runs in which somebody answered.
    #[serde(skip)]
    answered: u32,
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
    let none =
        |(&index, truth): (&usize, &Truth)| Found::new(task, index, truth, answers.clipped(index));
    let mut questions: Vec<Found> = listed.iter().zip(&truths).map(none).collect();
    let (mut runs, mut sampled_down, mut nanoseconds) = (0, 0, [0.0; 2]);
    for (run, rng) in rngs.enumerate() {
        let of = |person| answers.person(person);
        let whole = randomize(task, &of, people, &rng, &|done| progress(run, done))?;
        for (found, truth) in questions.iter_mut().zip(&truths) {
            found.add(task, truth, &estimator, &whole.totals);
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
                if let Some(levels) = cross.levels() {
                    let [min, max] = levels.range();
                    self.rows.resize(cross.shape()[0] as usize, [0.0; 2]);
                    self.rows[item][0] += 1.0;
                    self.rows[item][1] += entry.value.clamp(min, max);
                    // Cells of levels are not estimated.
                    return;
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

    /// Least number that at least this part of people have or are below.
    fn quantile(&self, part: f64) -> f64 {
        let people = self.numbers.len();
        // What a product is rounded up by is no person.
        let reached = (part * people as f64 - 1e-9).ceil() as usize;
        self.numbers[reached.clamp(1, people) - 1]
    }

    /// Mean and quantiles, or means within rows, beside the true ones.
    fn numbers(&self, question: &Question, answer: &Estimates) -> Vec<Compared> {
        let unit = unit(question, 0);
        let Some(number) = &answer.number else {
            let cross = answer.cross.iter();
            let means = cross.flat_map(|cross| &cross.conditional_means);
            let means = means.zip(&self.rows).map(|(own, [people, sum])| {
                let what = format!("mean of {}", own.row);
                let intervals = [own.mean.interval, own.mean.simultaneous_interval];
                Compared::new(&what, unit, sum / people, own.mean.estimate, intervals)
            });
            return means.collect();
        };
        let mean = number.mean.iter();
        let mean = mean.map(|own| Compared::of(&"mean", unit, self.by_item[0], own));
        let quantiles = number.quantiles.iter().map(|own| {
            let what = match own.quantile {
                0.5 => "median".to_owned(),
                part => format!("quantile {part}"),
            };
            let truth = self.quantile(own.quantile);
            let intervals = [own.interval, own.simultaneous_interval];
            Compared::new(&what, unit, truth, Some(own.estimate), intervals)
        });
        mean.chain(quantiles).collect()
    }
}

/// Unit of a number, of one of several, or of the numbers in rows.
fn unit(question: &Question, item: usize) -> Option<&str> {
    match question.kind() {
        Kind::Number(scale) => scale.unit(),
        Kind::Numbers(of) => of[item].unit(),
        Kind::Cross(cross) => cross.columns().scale()?.unit(),
        _ => None,
    }
}

impl Found {
    /// What is found of no runs.
    fn new(task: &Task, index: usize, truth: &Truth, clipped: u64) -> Self {
        let question = &task.questions()[index];
        let items = truth.by_item.len();
        let parts = truth.by_item.iter().zip(&truth.widths);
        let squares = parts.map(|(truth, width)| (truth / width).powi(2));
        Self {
            question: question.name().to_owned(),
            kind: question.kind().name(),
            share: task.share(index),
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
            shares: Tally::default(),
            clipped,
            numbers: Tally::default(),
            answered: 0,
        }
    }

    /// Adds what a run found, if anybody answered.
    fn add(&mut self, task: &Task, truth: &Truth, estimator: &Estimator, totals: &Totals) {
        let question = &task.questions()[truth.query.question()];
        let answer = estimator.estimates(totals, &truth.query);
        if answer.reports == 0 {
            return;
        }
        self.answered += 1;
        self.reports += answer.reports as f64;
        let items = self.items as f64;
        let mut found = Vec::with_capacity(self.items);
        let truths = truth.by_item.iter().zip(&truth.widths).enumerate();
        for (item, (index, (&truly, width))) in answer.estimates.iter().zip(truths) {
            let mut estimates = item.estimates();
            let asked = estimates.find(|(estimand, _)| *estimand == self.estimand);
            let Some((_, own)) = asked else {
                continue;
            };
            let error = (own.estimate - truly) / width;
            self.mse += error * error / items;
            self.stated_mse += (own.standard_error / width).powi(2) / items;
            let unit = match question.kind() {
                Kind::Numbers(_) => unit(question, index),
                _ => None,
            };
            found.push(Compared::of(&item.item, unit, truly, own));
        }
        self.shares.add(found);
        self.numbers.add(truth.numbers(question, &answer));
    }

    /// Averages what was added over the runs in which somebody answered.
    fn averaged(self, runs: u32) -> Self {
        let average = |sum: f64| sum / f64::from(self.answered);
        Self {
            reports: self.reports / f64::from(runs),
            mse: average(self.mse),
            stated_mse: average(self.stated_mse),
            shares: self.shares.averaged(),
            numbers: self.numbers.averaged(),
            ..self
        }
    }
}
