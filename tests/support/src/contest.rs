//! Two mechanisms on the same random crowds: the ratio of their squared errors.

use hushbin::choose::{Objective, Population};
use hushbin::sample::{draw_below, move_random_subset_to_front};
use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{Estimand, Totals, point_estimates};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::expectation::Expectation;

/// A comparison of two tasks. Everyone has s entries of ±1, uniformly random.
pub struct Contest {
    ours: Task,
    theirs: Task,
    estimands: &'static [Estimand],
}

/// Mean squared error of the first task over that of the second.
pub struct Ratio {
    pub measured: f64,
    pub standard_error: f64,
}

pub fn task(items: u32, sparsity: u32, epsilon: f64, mechanism: &Value) -> Task {
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "contest", "items": items, "sparsity": sparsity, "epsilon": epsilon,
        "value": "sign", "mechanism": mechanism,
    }))
    .unwrap();
    draft.resolve_task().unwrap()
}

impl Contest {
    /// Compares all means: hushbin's choice against P1's CoCo with an independent hash, the rule
    /// `overwrite` and its best t ≥ 2s + 2.
    pub fn of_means(items: u32, sparsity: u32, epsilon: f64) -> Self {
        let paper = json!({ "name": "coco", "rule": "overwrite", "hashing": "independent" });
        Self {
            ours: task(items, sparsity, epsilon, &json!("auto")),
            theirs: task(items, sparsity, epsilon, &paper),
            estimands: &[Estimand::Mean],
        }
    }

    /// Compares the frequencies of all items with either sign: hushbin's choice against P1's
    /// Collision with an independent hash, the rule `occupied` and its t = floor(s·e + 2s − 1).
    pub fn of_frequencies(items: u32, sparsity: u32, epsilon: f64) -> Self {
        let frequency = json!({ "name": "auto", "objective": "frequency" });
        let s = f64::from(sparsity);
        let paper = json!({
            "name": "collision", "rule": "occupied", "hashing": "independent",
            "buckets": (s * epsilon.exp() + 2.0 * s - 1.0).floor() as u32,
        });
        Self {
            ours: task(items, sparsity, epsilon, &frequency),
            theirs: task(items, sparsity, epsilon, &paper),
            estimands: &[Estimand::Plus, Estimand::Minus],
        }
    }

    /// Returns the predicted ratio.
    pub fn predicted(&self) -> f64 {
        let error = |task: &Task| -> f64 {
            let value = |i: u32| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
            let entry = |i: u32| Entry {
                item: u64::from(i),
                value: value(i),
            };
            let entries: Vec<Entry> = (0..task.questions()[0].max_entries_per_report())
                .map(entry)
                .collect();
            let of_one = |&estimand: &Estimand| {
                let items = task.questions()[0].items().item_count().unwrap();
                let mut expectation =
                    Expectation::new(&task.questions()[0], estimand, items).unwrap();
                expectation.add(&entries);
                expectation.mean_squared_error()
            };
            self.estimands.iter().map(of_one).sum()
        };
        error(&self.ours) / error(&self.theirs)
    }

    /// Measures the ratio over `runs` crowds of `people`. Every run has its own seed.
    pub fn measure(&self, people: u32, runs: u64, done: impl Fn() + Sync) -> Ratio {
        let errors: Vec<[f64; 2]> = (0..runs)
            .into_par_iter()
            .map(|run| {
                let tasks = [&self.ours, &self.theirs];
                let rng = &mut ChaCha20Rng::seed_from_u64(run);
                let errors = errors(tasks, self.estimands, people, rng);
                done();
                errors
            })
            .collect();
        let n = runs as f64;
        let [ours, theirs] = [0, 1].map(|i| errors.iter().map(|e| e[i]).sum::<f64>() / n);
        let measured = ours / theirs;
        // Standard error of a ratio by the delta method.
        let residuals = errors.iter().map(|e| (e[0] - measured * e[1]).powi(2));
        let variance = residuals.sum::<f64>() / (n - 1.0);
        Ratio {
            measured,
            standard_error: (variance / n).sqrt() / theirs,
        }
    }
}

/// Measures the mean squared error over `runs` crowds of `people`, relative to the predicted
/// variance. Every run has its own seed.
pub fn over_predicted(
    task: &Task,
    objective: &Objective,
    people: u32,
    runs: u64,
    done: impl Fn() + Sync,
) -> Ratio {
    let population = Population::with_equal_entries(
        f64::from(people),
        task.questions()[0].max_entries_per_report(),
    );
    let predicted = (task.questions()[0].mechanism()).predict_errors(
        &task.questions()[0].domain(),
        task.epsilon(),
        &population,
    );
    let predicted = objective
        .weighted_average_error(&predicted)
        .unwrap()
        .variance;
    let estimands: &[Estimand] = if *objective == Objective::MEAN_ONLY {
        &[Estimand::Mean]
    } else {
        &[Estimand::Plus, Estimand::Minus]
    };
    let ratios: Vec<f64> = (0..runs)
        .into_par_iter()
        .map(|run| {
            let rng = &mut ChaCha20Rng::seed_from_u64(run);
            let [error] = errors([task], estimands, people, rng);
            done();
            error / predicted
        })
        .collect();
    let n = runs as f64;
    let measured = ratios.iter().sum::<f64>() / n;
    let squares = ratios.iter().map(|ratio| (ratio - measured).powi(2));
    Ratio {
        measured,
        standard_error: (squares.sum::<f64>() / (n - 1.0) / n).sqrt(),
    }
}

/// Squared errors of each task over one crowd, averaged over all estimates. The tasks have the same
/// items.
fn errors<const N: usize>(
    tasks: [&Task; N],
    estimands: &[Estimand],
    people: u32,
    rng: &mut ChaCha20Rng,
) -> [f64; N] {
    let (items, sparsity) = (
        tasks[0].questions()[0].items().item_count().unwrap(),
        tasks[0].questions()[0].max_entries_per_report(),
    );
    let mut randomizers = tasks.map(Randomizer::new);
    let mut totals = tasks.map(Totals::new);
    let mut deck: Vec<u64> = (0..u64::from(items)).collect();
    let mut having = vec![[0.0; 2]; items as usize];
    for _ in 0..people {
        move_random_subset_to_front(rng, &mut deck, sparsity as usize);
        let mut entries: Vec<Entry> = deck[..sparsity as usize]
            .iter()
            .map(|&item| Entry {
                item,
                value: [1.0, -1.0][draw_below(rng, 2) as usize],
            })
            .collect();
        entries.sort_unstable_by_key(|entry| entry.item);
        for entry in &entries {
            having[entry.item as usize][usize::from(entry.value < 0.0)] += 1.0;
        }
        for (randomizer, totals) in randomizers.iter_mut().zip(&mut totals) {
            totals.add_report(&randomizer.randomize(&entries, rng).unwrap().report);
        }
    }
    let asked: Vec<u64> = (0..u64::from(items)).collect();
    std::array::from_fn(|i| {
        let mut sum = 0.0;
        for (points, [plus, minus]) in point_estimates(tasks[i], &totals[i], &asked)
            .iter()
            .zip(&having)
        {
            for &estimand in estimands {
                let truth = match estimand {
                    Estimand::Mean => plus - minus,
                    Estimand::Plus | Estimand::Share => *plus,
                    Estimand::Minus => *minus,
                    Estimand::Nonmissing => plus + minus,
                };
                let estimate = points.get(estimand).unwrap().estimate;
                sum += (estimate - truth / f64::from(people)).powi(2);
            }
        }
        sum / (asked.len() * estimands.len()) as f64
    })
}
