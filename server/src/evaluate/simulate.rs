//! The whole way natively, over people whose truth is known: the same
//! randomizer and estimator as in use, and how wrong the estimates come out.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hushbin::{Items, Randomizer, Report, Task};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;
use serde::Serialize;

use super::DataSet;
use hushbin_analysis::estimate::{Estimand, Expectation, Totals, points};

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
    /// The part of it that is expected to be bias, of entries left out or
    /// clipped.
    pub predicted_squared_bias: f64,
    /// Nanoseconds to randomise one person's entries, on one core.
    pub randomize_ns: f64,
    /// Nanoseconds to fold one report into totals, on one core.
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
    /// By item.
    #[serde(skip)]
    pub errors: Vec<f64>,
}

/// What several simulations of one task found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeated {
    /// How many there were.
    pub runs: usize,
    /// Averages over them.
    #[serde(flatten)]
    pub average: Outcome,
    /// Standard error of the averaged mean squared error.
    pub mse_standard_error: f64,
    /// The largest absolute error of any run.
    pub largest_error: f64,
    /// Squared bias, averaged over items: the squares of the errors averaged
    /// over runs, less what the noise leaves in them. `None` of a single run,
    /// which does not tell bias from noise.
    pub squared_bias: Option<f64>,
}

impl Repeated {
    /// Sums up runs of the same task, people and estimand; `None` if there are
    /// none.
    #[must_use]
    pub fn of(outcomes: &[Outcome]) -> Option<Self> {
        let first = outcomes.first()?;
        let runs = outcomes.len() as f64;
        let average = |of: fn(&Outcome) -> f64| outcomes.iter().map(of).sum::<f64>() / runs;
        let mse = average(|outcome| outcome.mse);
        let spread: f64 = outcomes.iter().map(|run| (run.mse - mse).powi(2)).sum();
        let errors: Vec<f64> = (0..first.errors.len())
            .map(|item| outcomes.iter().map(|run| run.errors[item]).sum::<f64>() / runs)
            .collect();
        // E[average²] = bias² + variance/runs, and the mean square of all errors
        // is bias² + variance.
        let square = errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64;
        let several = outcomes.len() > 1;
        Some(Self {
            runs: outcomes.len(),
            mse_standard_error: (spread / (runs - 1.0).max(1.0) / runs).sqrt(),
            largest_error: outcomes
                .iter()
                .fold(0.0, |most, run| run.max_abs_error.max(most)),
            squared_bias: several.then(|| (runs * square - mse) / (runs - 1.0)),
            average: Outcome {
                mse,
                tve: average(|outcome| outcome.tve),
                max_abs_error: average(|outcome| outcome.max_abs_error),
                randomize_ns: average(|outcome| outcome.randomize_ns),
                decode_ns: average(|outcome| outcome.decode_ns),
                sampled_down: average(|outcome| outcome.sampled_down as f64) as usize,
                errors,
                ..first.clone()
            },
        })
    }

    /// Whether the estimates are better than answering 0 for every item, on
    /// average and in the worst item.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        let Outcome {
            mse,
            zero_mse,
            max_abs_error,
            zero_max_abs_error,
            ..
        } = self.average;
        match (mse < zero_mse, max_abs_error < zero_max_abs_error) {
            (true, true) => "better than answering 0 for every item",
            (true, false) => {
                "better than answering 0 for every item on average, but the worst item is farther off"
            }
            (false, true) => {
                "worse than answering 0 for every item on average, but the worst item is closer"
            }
            (false, false) => {
                "worth nothing here: answering 0 for every item errs less, on average and in the worst item"
            }
        }
    }
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
pub fn simulate(
    task: &Task,
    data: &DataSet,
    people: usize,
    estimand: Estimand,
    rng: &ChaCha20Rng,
    progress: impl Fn(usize) + Sync,
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
    let refused = SimulateError::Estimand {
        mechanism: task.mechanism().name(),
        estimand,
    };
    let mut expectation = Expectation::new(task, estimand, items).ok_or_else(|| refused.clone())?;
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
    // Sums of doubles depend on their order, so one thread adds them up.
    let ((), whole) = rayon::join(
        || (0..people).for_each(|person| expectation.add(data.person(person))),
        || {
            let blocks = (0..people.div_ceil(BLOCK)).into_par_iter();
            blocks
                .try_fold(nobody, add_block)
                .try_reduce(nobody, |a, b| Ok(a.merge(&b)))
        },
    );
    let Part {
        totals,
        sampled_down,
        randomizing,
        decoding,
        ..
    } = whole?;

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
        predicted_squared_bias: expectation.squared_bias(),
        randomize_ns: randomizing.as_nanos() as f64 / people as f64,
        decode_ns: decoding.as_nanos() as f64 / people as f64,
        replaced: data.replaced(),
        sampled_down,
        zero_mse: 0.0,
        zero_max_abs_error: 0.0,
        errors: Vec::with_capacity(items as usize),
    };
    for (points, truth) in estimates.iter().zip(expectation.truth()) {
        let point = points.get(estimand).ok_or_else(|| refused.clone())?;
        let error = point.estimate - truth;
        outcome.errors.push(error);
        let error = error.abs();
        outcome.tve += error;
        outcome.max_abs_error = outcome.max_abs_error.max(error);
        outcome.mse += error * error / f64::from(items);
        outcome.zero_mse += truth * truth / f64::from(items);
        outcome.zero_max_abs_error = outcome.zero_max_abs_error.max(truth.abs());
    }
    Ok(outcome)
}

/// Some of the blocks.
struct Part {
    randomizer: Randomizer,
    reports: Vec<Report>,
    totals: Totals,
    sampled_down: usize,
    randomizing: Duration,
    decoding: Duration,
}

impl Part {
    fn new(task: &Task, randomizer: Randomizer) -> Self {
        Self {
            randomizer,
            reports: Vec::with_capacity(BLOCK),
            totals: Totals::new(task),
            sampled_down: 0,
            randomizing: Duration::ZERO,
            decoding: Duration::ZERO,
        }
    }

    fn add(
        &mut self,
        data: &DataSet,
        block: Range<usize>,
        rng: &mut ChaCha20Rng,
    ) -> Result<(), SimulateError> {
        self.reports.clear();
        let begin = Instant::now();
        for person in block {
            let made = self
                .randomizer
                .randomize(data.person(person), rng)
                .map_err(|source| SimulateError::Entry { person, source })?;
            self.sampled_down += usize::from(made.sampled_down);
            self.reports.push(made.report);
        }
        let randomized = Instant::now();
        for report in &self.reports {
            self.totals.fold(report);
        }
        self.decoding += randomized.elapsed();
        self.randomizing += randomized - begin;
        Ok(())
    }

    fn merge(mut self, other: &Self) -> Self {
        self.totals.merge(&other.totals);
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
            Repeated::of(&runs).unwrap()
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
        assert!(unbiased.squared_bias.unwrap() < unbiased.average.mse);
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
            outcome.mse < 4.0 * outcome.predicted_mse,
            "{} instead of {}",
            outcome.mse,
            outcome.predicted_mse
        );
    }
}
