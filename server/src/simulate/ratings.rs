//! The whole way natively, over people whose truth is known: the same
//! randomizer and estimator as in use, and how wrong the estimates come out.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hushbin::{Items, Question, Randomized, Randomizer, Report, Task};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use super::data_set::DataSet;
use super::outcome::{Errors, Outcome};
use hushbin_analysis::estimate::{
    Estimand, EstimateError, Expectation, Point, Totals, points, shrink,
};
use hushbin_analysis::heavy_hitters::{Reports, SearchError};

/// Why a simulation cannot run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum SimulateError {
    /// The data set holds answers to one question.
    #[error(
        "the data set has the ratings of items, the task asks something else: give its answers as .csv or .jsonl"
    )]
    Questions,
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
    /// A question without a list of items, whose truth is not known.
    #[error("question {question:?} is open: list its items to simulate it")]
    Open {
        /// Its name.
        question: String,
    },
    /// Estimates that cannot be given.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// Texts that cannot be searched for.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A value that the task does not take.
    #[error("person {person}: {source}")]
    Entry {
        /// Whose.
        person: usize,
        /// What is wrong.
        source: hushbin::Error,
    },
}

/// People who are randomised with one stream of random numbers, between two
/// looks at the clock.
const BLOCK: usize = 4096;

/// Simulates the first `people` of a data set on all cores, calling `progress`
/// with the number of people done.
///
/// Each block of people draws from a stream of its own of the generator, so the
/// outcome depends on the generator's seed and not on the number of cores.
///
/// # Errors
/// [`SimulateError`].
pub(crate) fn simulate(
    task: &Task,
    data: &DataSet,
    people: usize,
    estimand: Estimand,
    rng: &ChaCha20Rng,
    progress: impl Fn(usize) + Sync,
) -> Result<Outcome, SimulateError> {
    let question = check(task, data, people)?;
    let unestimated = || SimulateError::Estimand {
        mechanism: question.mechanism().name(),
        estimand,
    };
    let mut expectation =
        Expectation::new(question, estimand, data.items()).ok_or_else(unestimated)?;
    // Sums of doubles depend on their order, so one thread adds them up.
    let ((), whole) = rayon::join(
        || (0..people).for_each(|person| expectation.add(data.person(person))),
        || randomize(task, data, people, rng, &progress),
    );
    let whole = whole?;
    let asked: Vec<u64> = (0..u64::from(data.items())).collect();
    let points: Vec<Point> = points(task, &whole.totals, &asked)
        .iter()
        .map(|points| points.get(estimand))
        .collect::<Option<_>>()
        .ok_or_else(unestimated)?;
    let estimates: Vec<f64> = points.iter().map(|point| point.estimate).collect();
    let (shrunken, _) = shrink(&points);
    let shrunken: Vec<f64> = shrunken.iter().map(|item| item.estimate).collect();
    let nanoseconds = |time: Duration| time.as_nanos() as f64 / people as f64;
    Ok(Outcome {
        people,
        reports: whole.totals.reports(),
        items: data.items(),
        estimand,
        predicted_mse: expectation.mean_squared_error(),
        predicted_squared_bias: expectation.squared_bias(),
        randomize_ns: nanoseconds(whole.randomizing),
        decode_ns: nanoseconds(whole.decoding),
        replaced: data.replaced(),
        sampled_down: whole.sampled_down,
        errors: Errors::new(&estimates, expectation.truth()),
        shrunken_mse: Errors::new(&shrunken, expectation.truth()).mse,
    })
}

/// Whether the task can be asked of so many people of the data set.
fn check<'a>(task: &'a Task, data: &DataSet, people: usize) -> Result<&'a Question, SimulateError> {
    let question = match task.sole() {
        Some(sole) if sole.domain().is_padded() => sole,
        _ => return Err(SimulateError::Questions),
    };
    if question.items().count() != Some(data.items()) {
        return Err(SimulateError::Items {
            task: match question.items() {
                Items::Open(_) => "open".to_owned(),
                closed => closed.count().unwrap_or(0).to_string(),
            },
            data: data.items(),
        });
    }
    if people == 0 || people > data.people() {
        return Err(SimulateError::People {
            asked: people,
            there: data.people(),
        });
    }
    Ok(question)
}

/// Reports of the people, folded, a block at a time on any core.
pub(super) fn randomize(
    task: &Task,
    data: &impl People,
    people: usize,
    rng: &ChaCha20Rng,
    progress: &(impl Fn(usize) + Sync),
) -> Result<Part, SimulateError> {
    let done = AtomicUsize::new(0);
    let randomizer = Randomizer::new(task);
    let nobody = || Part::new(task, randomizer.clone());
    let add_block = |mut part: Part, index: usize| {
        let first = index * BLOCK;
        let block = first..people.min(first + BLOCK);
        let mut rng = rng.clone();
        rng.set_stream(index as u64);
        let size = block.len();
        part.add(data, block, &mut rng)?;
        progress(done.fetch_add(size, Ordering::Relaxed) + size);
        Ok(part)
    };
    (0..people.div_ceil(BLOCK))
        .into_par_iter()
        .try_fold(nobody, add_block)
        .try_reduce(nobody, |a, b| Ok(a.merge(&b)))
}

/// Those whose reports are simulated.
pub(super) trait People: Sync {
    /// One person's report.
    fn report(
        &self,
        person: usize,
        randomizer: &mut Randomizer,
        rng: &mut ChaCha20Rng,
    ) -> Result<Randomized, hushbin::Error>;
}

impl People for DataSet {
    fn report(
        &self,
        person: usize,
        randomizer: &mut Randomizer,
        rng: &mut ChaCha20Rng,
    ) -> Result<Randomized, hushbin::Error> {
        randomizer.randomize(self.person(person), rng)
    }
}

/// Some of the blocks.
pub(super) struct Part {
    randomizer: Randomizer,
    reports: Vec<Report>,
    pub(super) totals: Totals,
    /// Of questions for texts, those who answered.
    pub(super) texts: Vec<Reports>,
    pub(super) sampled_down: usize,
    pub(super) randomizing: Duration,
    pub(super) decoding: Duration,
}

impl Part {
    fn new(task: &Task, randomizer: Randomizer) -> Self {
        Self {
            randomizer,
            reports: Vec::with_capacity(BLOCK),
            totals: Totals::new(task),
            texts: (0..task.questions().len())
                .filter_map(|question| Reports::new(task, question))
                .collect(),
            sampled_down: 0,
            randomizing: Duration::ZERO,
            decoding: Duration::ZERO,
        }
    }

    fn add(
        &mut self,
        data: &impl People,
        block: Range<usize>,
        rng: &mut ChaCha20Rng,
    ) -> Result<(), SimulateError> {
        self.reports.clear();
        let begin = Instant::now();
        for person in block {
            let made = data
                .report(person, &mut self.randomizer, rng)
                .map_err(|source| SimulateError::Entry { person, source })?;
            self.sampled_down += usize::from(made.sampled_down);
            self.reports.push(made.report);
        }
        let randomized = Instant::now();
        for report in &self.reports {
            self.totals.fold(report);
            self.texts.iter_mut().for_each(|texts| texts.fold(report));
        }
        self.decoding += randomized.elapsed();
        self.randomizing += randomized - begin;
        Ok(())
    }

    fn merge(mut self, other: &Self) -> Self {
        self.totals.merge(&other.totals);
        for (own, others) in self.texts.iter_mut().zip(&other.texts) {
            own.merge(others);
        }
        self.sampled_down += other.sampled_down;
        self.randomizing += other.randomizing;
        self.decoding += other.decoding;
        self
    }
}

#[cfg(test)]
mod tests {
    use hushbin::TaskDraft;
    use rand_core::SeedableRng;

    use super::*;
    use crate::simulate::Repeated;

    /// More than two blocks of people, with 1 to 3 entries each.
    fn crowd(people: usize) -> DataSet {
        let mut text = format!("{people} 20 3\n");
        for person in 0..people {
            for entry in 0..=person % 3 {
                let item = (7 * person + entry) % 20;
                text += &format!("{person} {item} {}\n", if entry == 0 { 1.0 } else { -0.5 });
            }
        }
        DataSet::read(text.as_bytes()).unwrap()
    }

    fn on_cores(cores: usize, task: &Task, data: &DataSet, seed: u64) -> Outcome {
        let rng = ChaCha20Rng::seed_from_u64(seed);
        let most = AtomicUsize::new(0);
        let progress = |done| {
            most.fetch_max(done, Ordering::Relaxed);
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(cores);
        let pool = pool.build().unwrap();
        let estimand = Estimand::Mean;
        let outcome =
            pool.install(|| simulate(task, data, data.people(), estimand, &rng, progress));
        assert_eq!(most.into_inner(), data.people());
        Outcome {
            randomize_ns: 0.0,
            decode_ns: 0.0,
            ..outcome.unwrap()
        }
    }

    /// A clipped sum has a bias that is known: what is measured over runs is
    /// what is predicted, which noise alone is not.
    #[test]
    fn bias_is_told_from_noise() {
        let outcomes = |mechanism: &str| -> Repeated {
            let draft: TaskDraft = serde_json::from_str(&format!(
                r#"{{ "id": "t", "items": 20, "sparsity": 3, "epsilon": 8.0, "value": "real",
                     "mechanism": {mechanism} }}"#,
            ))
            .unwrap();
            let entries = (0..4000).flat_map(|person| (0..3).map(move |item| (person, item)));
            let lines = entries.map(|(person, item)| format!("{person} {item} 1\n"));
            let text = "4000 20 3\n".to_owned() + &lines.collect::<String>();
            let data = DataSet::read(text.as_bytes()).unwrap();
            let task = draft.resolve().unwrap();
            let runs: Vec<_> = (0..12)
                .map(|seed| on_cores(2, &task, &data, seed))
                .collect();
            Repeated::from_outcomes(&runs).unwrap()
        };
        let clipped = outcomes(r#"{ "name": "hash-bin", "clip": 0.5 }"#);
        let predicted = clipped.average.predicted_squared_bias;
        let measured = clipped.squared_bias.unwrap();
        assert!(predicted > 1e-4);
        // Noise of 20 items over 12 runs leaves less than a tenth.
        assert!(
            (measured / predicted - 1.0).abs() < 0.1,
            "{measured} {predicted}"
        );
        let unbiased = outcomes(r#""coco""#);
        assert_eq!(unbiased.average.predicted_squared_bias, 0.0);
        assert!(unbiased.squared_bias.unwrap() < unbiased.average.errors.mse);
    }

    #[test]
    fn outcomes_depend_on_the_seed_and_not_on_the_cores() {
        let draft: TaskDraft = serde_json::from_str(
            r#"{ "id": "t", "items": 20, "sparsity": 2, "epsilon": 1.0, "value": "real" }"#,
        )
        .unwrap();
        let (task, data) = (draft.resolve().unwrap(), crowd(2 * BLOCK + 100));
        let alone = on_cores(1, &task, &data, 5);
        assert_eq!(alone.reports, data.people() as u64);
        assert!(alone.sampled_down > 0);
        for cores in [2, 3] {
            assert_eq!(on_cores(cores, &task, &data, 5), alone);
        }
        assert_ne!(on_cores(1, &task, &data, 6), alone);
    }

    /// Blocks of equal people that drew the same numbers would make the same
    /// reports: the error would be that of one block.
    #[test]
    fn blocks_draw_from_streams_of_their_own() {
        let draft: TaskDraft = serde_json::from_str(
            r#"{ "id": "t", "items": 20, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
        )
        .unwrap();
        let people = 16 * BLOCK;
        let mut text = format!("{people} 20 1\n");
        (0..people).for_each(|person| text += &format!("{person} 3 1\n"));
        let data = DataSet::read(text.as_bytes()).unwrap();
        let outcome = on_cores(2, &draft.resolve().unwrap(), &data, 7);
        // Over 20 items that is nine standard deviations too much.
        assert!(
            outcome.errors.mse < 4.0 * outcome.predicted_mse,
            "{} instead of {}",
            outcome.errors.mse,
            outcome.predicted_mse
        );
    }
}
