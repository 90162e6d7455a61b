//! Logistic regression on private data: stochastic gradient descent, with each gradient randomised
//! on the person's device.
//!
//! ```sh
//! cargo run --release --package hushbin-analysis --example private_sgd
//! ```
//!
//! It prints the fraction of new people that is misclassified, by ε: at ε = 0.5 more than without
//! privacy, at ε = 4 hardly more. Each person takes part in one step, with one report, so ε is the
//! total that a person spends.

use std::error::Error;

use hushbin::sample::draw_with_probability;
use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{Totals, point_estimates};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::json;

/// Weights to be learned.
const TRUE_WEIGHTS: [f64; 8] = [2.0, -1.5, 1.0, 0.5, 0.0, -0.5, -1.0, 1.5];
/// Number of people whose gradients are averaged for a step.
const PEOPLE_PER_STEP: usize = 5_000;
/// Length of the first step along a gradient of 1. Step t is 1/√t times that.
const INITIAL_STEP_SIZE: f64 = 2.0;

fn dot_product(weights: &[f64], features: &[f64]) -> f64 {
    weights.iter().zip(features).map(|(w, x)| w * x).sum()
}

/// Draws a person's features and label, 1 or −1.
fn draw_features_and_label(rng: &mut ChaCha20Rng) -> ([f64; TRUE_WEIGHTS.len()], f64) {
    let features = std::array::from_fn(|_| StandardNormal.sample(rng));
    let likely = 1.0 / (1.0 + (-dot_product(&TRUE_WEIGHTS, &features)).exp());
    let label = [-1.0, 1.0][usize::from(draw_with_probability(rng, likely))];
    (features, label)
}

/// Returns the task for a gradient: a number for each weight, all in one report.
fn gradient_task(epsilon: f64) -> Result<Task, Box<dyn Error>> {
    let number = |index| json!({ "name": format!("w{index}"), "min": -1, "max": 1 });
    let of: Vec<_> = (0..TRUE_WEIGHTS.len()).map(number).collect();
    let question = json!({ "name": "gradient", "kind": "numbers", "of": of });
    let file = json!({ "id": "step", "epsilon": epsilon, "questions": [question] });
    Ok(serde_json::from_value::<TaskDraft>(file)?.resolve_task()?)
}

/// Returns the mean gradient as a collector estimates it from reports alone.
fn private_mean_gradient(
    task: &Task,
    gradients: &[Vec<f64>],
    rng: &mut ChaCha20Rng,
) -> Result<Vec<f64>, hushbin::Error> {
    let (mut randomizer, mut totals) = (Randomizer::new(task), Totals::new(task));
    for gradient in gradients {
        let entry = |(item, &value)| Entry { item, value };
        let entries: Vec<Entry> = (0..).zip(gradient).map(entry).collect();
        totals.add_report(&randomizer.randomize(&entries, rng)?.report);
    }
    let items: Vec<u64> = (0..TRUE_WEIGHTS.len() as u64).collect();
    let means = point_estimates(task, &totals, &items).into_iter();
    let means = means.map(|own| own.mean.expect("numbers have means").estimate);
    Ok(means.collect())
}

/// Returns the mean gradient without privacy.
fn exact_mean_gradient(gradients: &[Vec<f64>]) -> Vec<f64> {
    let sum = |index| gradients.iter().map(|own| own[index]).sum::<f64>();
    let mean = |index| sum(index) / gradients.len() as f64;
    (0..TRUE_WEIGHTS.len()).map(mean).collect()
}

/// Returns the fraction of new people that is misclassified, after `people` have taken part.
fn misclassified_fraction(
    epsilon: Option<f64>,
    people: usize,
    seed: u64,
) -> Result<f64, Box<dyn Error>> {
    let task = epsilon.map(gradient_task).transpose()?;
    // The same people at every ε. Real devices seed from the operating system.
    let mut drawn = ChaCha20Rng::seed_from_u64(seed);
    let mut rng = drawn.clone();
    rng.set_stream(1);
    let mut weights = vec![0.0; TRUE_WEIGHTS.len()];
    for step in 1..=people / PEOPLE_PER_STEP {
        let mut gradient = || {
            let (features, label) = draw_features_and_label(&mut drawn);
            let slope = -label / (1.0 + (label * dot_product(&weights, &features)).exp());
            // Gradient of the logistic loss, clipped to the range that the task allows.
            features.map(|x| (slope * x).clamp(-1.0, 1.0)).to_vec()
        };
        let gradients: Vec<_> = (0..PEOPLE_PER_STEP).map(|_| gradient()).collect();
        let mean = match &task {
            Some(task) => private_mean_gradient(task, &gradients, &mut rng)?,
            None => exact_mean_gradient(&gradients),
        };
        for (weight, mean) in weights.iter_mut().zip(mean) {
            *weight -= INITIAL_STEP_SIZE / (step as f64).sqrt() * mean;
        }
    }
    let others = (0..20_000).map(|_| draw_features_and_label(&mut drawn));
    let wrong = others.filter(|(features, label)| label * dot_product(&weights, features) <= 0.0);
    Ok(wrong.count() as f64 / 20_000.0)
}

/// Returns the mean of ten repeats with different people, and its standard error.
fn mean_and_standard_error(
    epsilon: Option<f64>,
    people: usize,
) -> Result<[f64; 2], Box<dyn Error>> {
    let runs = (0..10).map(|seed| misclassified_fraction(epsilon, people, seed));
    let parts = runs.collect::<Result<Vec<f64>, _>>()?;
    let mean = parts.iter().sum::<f64>() / 10.0;
    let squares: f64 = parts.iter().map(|part| (part - mean).powi(2)).sum();
    Ok([mean, (squares / 9.0 / 10.0).sqrt()])
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("ε                misclassified  standard error");
    for epsilon in [Some(0.5), Some(1.0), Some(2.0), Some(4.0), None] {
        let [mean, error] = mean_and_standard_error(epsilon, 200_000)?;
        let label = epsilon.map_or("without privacy".to_owned(), |own| own.to_string());
        println!("{label:15}  {mean:13.4}  {error:14.4}");
    }
    Ok(())
}

/// Each step of ε reduces the fraction by at least a hundredth. At ε = 4 it is within half of a
/// hundredth of that without privacy.
#[test]
fn the_more_epsilon_the_fewer_mistakes() {
    let of = |epsilon| mean_and_standard_error(epsilon, 60_000).unwrap()[0];
    let [half, one, four, plain] = [Some(0.5), Some(1.0), Some(4.0), None].map(of);
    assert!(
        half > one + 0.01 && one > four + 0.01,
        "{half} {one} {four}"
    );
    assert!((four - plain).abs() < 0.005, "{four} {plain}");
}
