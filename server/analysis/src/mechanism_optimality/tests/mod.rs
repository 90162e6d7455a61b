//! Helpers for tests over tiny domains, in which all inputs are enumerated.

mod at_most;
mod directions;
mod distances;
mod sets;
mod shares;

use hushbin::choose::Objective;

use super::BoundProblem;
use super::exhaustive_search::all_inputs;
use super::information::Information;

const BOTH: Objective = Objective {
    mean_weight: 1.0,
    frequency_weight: 2.0,
    nonmissing_weight: 0.0,
};
const OBJECTIVES: [Objective; 4] = [
    Objective::MEAN_ONLY,
    Objective::FREQUENCY_ONLY,
    BOTH,
    Objective {
        nonmissing_weight: 1.5,
        ..BOTH
    },
];
fn question(items: u32, entries: u32, epsilon: f64, objective: &Objective) -> BoundProblem {
    BoundProblem::new(items, entries, epsilon, objective)
}

/// Returns all inputs of a domain.
fn all(items: u32, entries: u32) -> Vec<Vec<f64>> {
    all_inputs(items, entries, 10_000)
        .expect("there are fewer")
        .into_iter()
        .map(|input| input.into_iter().map(f64::from).collect())
        .collect()
}

/// Returns the information A₁ and A₂ of the mechanism whose reports are one report with these
/// likelihoods under all permutations and sign flips.
fn told_by(inputs: &[Vec<f64>], entries: u32, likelihoods: &[f64]) -> Information {
    let (items, all) = (inputs[0].len(), inputs.len() as f64);
    let share = f64::from(entries) / items as f64;
    let mass = likelihoods.iter().sum::<f64>() / all;
    let square = |of: &dyn Fn(f64) -> f64| -> f64 {
        (0..items)
            .map(|item| {
                let terms = inputs.iter().zip(likelihoods);
                let sum: f64 = terms.map(|(input, q)| q * of(input[item])).sum();
                (sum / all / mass).powi(2)
            })
            .sum()
    };
    Information {
        sign_information: square(&|x| x),
        presence_information: square(&|x| x.abs() - share),
    }
}

/// Returns the information of the mechanism whose report has likelihood e for the inputs in a set,
/// and 1 for all others.
fn told_by_set(
    inputs: &[Vec<f64>],
    entries: u32,
    excess: f64,
    set: impl Fn(usize) -> bool,
) -> Information {
    let q = |index| 1.0 + if set(index) { excess } else { 0.0 };
    let likelihoods: Vec<f64> = (0..inputs.len()).map(q).collect();
    told_by(inputs, entries, &likelihoods)
}

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a / b - 1.0).abs() < relative
}
