//! Random people, and the errors of a task's estimates for them.

use std::path::PathBuf;

use hushbin::sample::{draw_below, move_random_subset_to_front};
use hushbin::{Entry, Randomizer, Task};
use hushbin_analysis::estimate::{Estimand, Totals, point_estimates};
use hushbin_tests::expectation::Expectation;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use tempfile::TempDir;

/// A temporary directory with a task and people.
pub(crate) struct Simulation {
    directory: TempDir,
    items: u32,
    people: Vec<Vec<Entry>>,
}

/// Results of several runs.
pub(crate) struct Found {
    /// Squared error, averaged over items and runs.
    pub(crate) mse: f64,
    pub(crate) mse_standard_error: f64,
    pub(crate) predicted_mse: f64,
    pub(crate) predicted_squared_bias: f64,
    /// Squared bias, averaged over items: the square of the mean error over runs, minus the part
    /// due to noise.
    pub(crate) squared_bias: f64,
}

impl Simulation {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            items: 0,
            people: Vec::new(),
        }
    }

    /// Path of the task file.
    pub(crate) fn task(&self) -> PathBuf {
        self.directory.path().join("task.json")
    }

    /// Creates people with values of these magnitudes. Items and signs are uniformly random.
    pub(crate) fn scatter<'a>(
        &mut self,
        items: u32,
        people: impl Iterator<Item = &'a [f64]>,
        seed: u64,
    ) {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut deck: Vec<u64> = (0..u64::from(items)).collect();
        let person = |magnitudes: &[f64]| {
            move_random_subset_to_front(&mut rng, &mut deck, magnitudes.len());
            let signed = |(&item, &value): (&u64, &f64)| Entry {
                item,
                value: [value, -value][draw_below(&mut rng, 2) as usize],
            };
            let mut entries: Vec<_> = deck.iter().zip(magnitudes).map(signed).collect();
            entries.sort_by_key(|entry| entry.item);
            entries
        };
        (self.items, self.people) = (items, people.map(person).collect());
    }

    /// Creates people who all have the first items with the value 1. `entries` has the number of
    /// items per person.
    pub(crate) fn agree(&mut self, items: u32, entries: impl Iterator<Item = u32>) {
        let one = |item| Entry { item, value: 1.0 };
        let person = |entries| (0..u64::from(entries)).map(one).collect();
        (self.items, self.people) = (items, entries.map(person).collect());
    }

    /// Randomises and estimates `runs` times, with consecutive seeds.
    pub(crate) fn run(&self, task: &Task, estimand: Estimand, runs: u64, seed: u64) -> Found {
        let question = &task.questions()[0];
        let mut expectation = Expectation::new(question, estimand, self.items).unwrap();
        self.people.iter().for_each(|own| expectation.add(own));
        let truth: Vec<f64> = expectation.truth().collect();
        let asked: Vec<u64> = (0..u64::from(self.items)).collect();
        let errors = |run| -> Vec<f64> {
            let mut rng = ChaCha20Rng::seed_from_u64(seed + run);
            let (mut randomizer, mut totals) = (Randomizer::new(task), Totals::new(task));
            for entries in &self.people {
                totals.add_report(&randomizer.randomize(entries, &mut rng).unwrap().report);
            }
            let points = point_estimates(task, &totals, &asked);
            let estimates = points.iter().map(|own| own.get(estimand).unwrap().estimate);
            estimates
                .zip(&truth)
                .map(|(own, truth)| own - truth)
                .collect()
        };
        let errors: Vec<Vec<f64>> = (0..runs).into_par_iter().map(errors).collect();
        let (runs, items) = (runs as f64, f64::from(self.items));
        let square = |errors: &[f64]| errors.iter().map(|e| e * e).sum::<f64>() / items;
        let squares: Vec<f64> = errors.iter().map(|run| square(run)).collect();
        let mse = squares.iter().sum::<f64>() / runs;
        let spread: f64 = squares.iter().map(|own| (own - mse).powi(2)).sum();
        let average = |item: usize| errors.iter().map(|run| run[item]).sum::<f64>() / runs;
        let averages: Vec<f64> = (0..truth.len()).map(average).collect();
        Found {
            mse,
            mse_standard_error: (spread / (runs - 1.0) / runs).sqrt(),
            predicted_mse: expectation.mean_squared_error(),
            predicted_squared_bias: expectation.squared_bias(),
            // E[average²] = bias² + variance/runs, and the mean square of all errors is bias² +
            // variance.
            squared_bias: (runs * square(&averages) - mse) / (runs - 1.0),
        }
    }
}
