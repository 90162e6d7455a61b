//! Makes the reports of simulated people and folds them into totals, on all cores and with the code
//! used in production.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use hushbin::{Entry, Randomizer, Report, Task};
use rand_core::SeedableRng;
use rayon::prelude::*;

use hushbin_analysis::estimate::{EstimateError, Totals};
use hushbin_analysis::heavy_hitters::{SearchError, TextReports};

/// Errors of a simulation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum SimulateError {
    /// Number of people out of range.
    #[error("people is {asked}, expected at most {there}, the size of the data set")]
    PeopleOutOfRange {
        /// Requested number of people.
        asked: usize,
        /// Number of people in the data set.
        there: usize,
    },
    /// Question without a list of items. A simulation needs the list to know the true values.
    #[error("question {question:?} allows any item: list the items to simulate it")]
    UnlistedItems {
        /// Name of the question.
        question: String,
    },
    /// Estimates that are not possible.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// Search for texts that is not possible.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// Value that is invalid for the task.
    #[error("person {person}: {source}")]
    InvalidAnswer {
        /// Index of the person, from 0.
        person: usize,
        /// Error of the randomizer.
        source: hushbin::Error,
    },
}

/// Number of people in a block. A block has one stream of random numbers and one time measurement.
const BLOCK_PEOPLE: usize = 4096;

/// Makes and folds the reports of the first `people` people, in blocks that are spread over all
/// cores. `answers` returns a person's entries for each question. `progress` is called with the
/// number of people done.
///
/// Each block draws from a separate stream of the generator. The result therefore depends on the
/// generator's seed and not on the number of cores.
///
/// # Errors
/// [`SimulateError::InvalidAnswer`] if the randomizer refuses an answer.
pub(super) fn simulate_reports<'a>(
    task: &Task,
    answers: &(impl Fn(usize) -> Vec<&'a [Entry]> + Sync),
    people: usize,
    rng: &ChaCha20Rng,
    progress: &(impl Fn(usize) + Sync),
) -> Result<FoldedBlocks, SimulateError> {
    let done = AtomicUsize::new(0);
    let randomizer = Randomizer::new(task);
    let nobody = || FoldedBlocks::new(task, randomizer.clone());
    let add_block = |mut part: FoldedBlocks, index: usize| {
        let first = index * BLOCK_PEOPLE;
        let block = first..people.min(first + BLOCK_PEOPLE);
        let mut rng = ChaCha20Rng::from_seed(rng.get_seed());
        rng.set_stream(index as u64);
        let size = block.len();
        part.add_block(answers, block, &mut rng)?;
        progress(done.fetch_add(size, Ordering::Relaxed) + size);
        Ok(part)
    };
    (0..people.div_ceil(BLOCK_PEOPLE))
        .into_par_iter()
        .try_fold(nobody, add_block)
        .try_reduce(nobody, |a, b| Ok(a.merge(&b)))
}

/// Totals over the reports of some blocks of people, and the times spent on making and folding.
pub(super) struct FoldedBlocks {
    randomizer: Randomizer,
    block_report_buffer: Vec<Report>,
    pub(super) totals: Totals,
    /// Reports on each question of kind text.
    pub(super) texts: Vec<TextReports>,
    pub(super) answers_over_sparsity: usize,
    pub(super) randomizing_time: Duration,
    pub(super) folding_time: Duration,
}

impl FoldedBlocks {
    fn new(task: &Task, randomizer: Randomizer) -> Self {
        Self {
            randomizer,
            block_report_buffer: Vec::with_capacity(BLOCK_PEOPLE),
            totals: Totals::new(task),
            texts: (0..task.questions().len())
                .filter_map(|question| TextReports::new(task, question))
                .collect(),
            answers_over_sparsity: 0,
            randomizing_time: Duration::ZERO,
            folding_time: Duration::ZERO,
        }
    }

    fn add_block<'a>(
        &mut self,
        answers: &impl Fn(usize) -> Vec<&'a [Entry]>,
        block: Range<usize>,
        rng: &mut ChaCha20Rng,
    ) -> Result<(), SimulateError> {
        self.block_report_buffer.clear();
        let begin = Instant::now();
        for person in block {
            let made = self.randomizer.randomize_answers(&answers(person), rng);
            let made = made.map_err(|source| SimulateError::InvalidAnswer { person, source })?;
            self.answers_over_sparsity += usize::from(made.was_sampled_down);
            self.block_report_buffer.push(made.report);
        }
        let randomized = Instant::now();
        for report in &self.block_report_buffer {
            self.totals.add_report(report);
            self.texts
                .iter_mut()
                .for_each(|texts| texts.add_report(report));
        }
        self.folding_time += randomized.elapsed();
        self.randomizing_time += randomized - begin;
        Ok(())
    }

    fn merge(mut self, other: &Self) -> Self {
        self.totals.merge(&other.totals);
        for (own, others) in self.texts.iter_mut().zip(&other.texts) {
            own.merge(others);
        }
        self.answers_over_sparsity += other.answers_over_sparsity;
        self.randomizing_time += other.randomizing_time;
        self.folding_time += other.folding_time;
        self
    }
}

#[cfg(test)]
mod tests {
    use hushbin::TaskDraft;
    use hushbin_analysis::estimate::{Estimand, point_estimates};
    use hushbin_tests::expectation::Expectation;

    use super::*;

    struct Crowd(Vec<Vec<Entry>>);

    fn task(text: &str) -> Task {
        let draft: TaskDraft = serde_json::from_str(text).unwrap();
        draft.resolve_task().unwrap()
    }

    fn on_cores(cores: usize, task: &Task, crowd: &Crowd, seed: u64) -> FoldedBlocks {
        let rng = ChaCha20Rng::seed_from_u64(seed);
        let people = crowd.0.len();
        let most = AtomicUsize::new(0);
        let progress = |done| {
            most.fetch_max(done, Ordering::Relaxed);
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(cores);
        let pool = pool.build().unwrap();
        let part = pool.install(|| {
            let answers = |person: usize| vec![&crowd.0[person][..]];
            simulate_reports(task, &answers, people, &rng, &progress)
        });
        assert_eq!(most.into_inner(), people);
        part.unwrap()
    }

    #[test]
    fn outcomes_depend_on_the_seed_and_not_on_the_cores() {
        let task =
            task(r#"{ "id": "t", "items": 20, "sparsity": 2, "epsilon": 1.0, "value": "real" }"#);
        // More than two blocks of people, with 1 to 3 entries each.
        let entry = |person: u64, entry| Entry {
            item: (7 * person + entry) % 20,
            value: if entry == 0 { 1.0 } else { -0.5 },
        };
        let person = |person| {
            let mut entries: Vec<_> = (0..=person % 3).map(|own| entry(person, own)).collect();
            entries.sort_by_key(|own| own.item);
            entries
        };
        let crowd = Crowd((0..2 * BLOCK_PEOPLE as u64 + 100).map(person).collect());
        let outcome = |cores, seed| {
            let part = on_cores(cores, &task, &crowd, seed);
            (part.totals.encode(), part.answers_over_sparsity)
        };
        let alone = on_cores(1, &task, &crowd, 5);
        assert_eq!(alone.totals.report_count(), crowd.0.len() as u64);
        assert!(alone.answers_over_sparsity > 0);
        let alone = (alone.totals.encode(), alone.answers_over_sparsity);
        for cores in [2, 3] {
            assert_eq!(outcome(cores, 5), alone);
        }
        assert_ne!(outcome(1, 6), alone);
    }

    /// Checks that blocks draw different random numbers. If all blocks drew the same numbers,
    /// people with equal answers would make equal reports in every block. The errors would then be
    /// as large as with the people of a single block.
    #[test]
    fn blocks_draw_from_streams_of_their_own() {
        let task =
            task(r#"{ "id": "t", "items": 20, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#);
        let entry = Entry {
            item: 3,
            value: 1.0,
        };
        let crowd = Crowd(vec![vec![entry]; 16 * BLOCK_PEOPLE]);
        let totals = on_cores(2, &task, &crowd, 7).totals;
        let mut expectation = Expectation::new(&task.questions()[0], Estimand::Mean, 20).unwrap();
        crowd.0.iter().for_each(|own| expectation.add(own));
        let asked: Vec<u64> = (0..20).collect();
        let points = point_estimates(&task, &totals, &asked);
        let estimates = points
            .iter()
            .map(|own| own.get(Estimand::Mean).unwrap().estimate);
        let squares = estimates
            .zip(expectation.truth())
            .map(|(own, truth)| (own - truth).powi(2));
        let (mse, predicted) = (
            squares.sum::<f64>() / 20.0,
            expectation.mean_squared_error(),
        );
        // With 20 items, this limit is nine standard deviations above the expected value.
        assert!(mse < 4.0 * predicted, "{mse} instead of {predicted}");
    }
}
