//! Table rows of the published mechanisms, each with its best parameters.

use hushbin::Error;

use super::question::ComparedQuestion;
use super::variance::{EstimateVariance, MechanismRow};
use crate::competitors::budget::Budget;
use crate::competitors::choice::{
    OptimalLocalHashing, RandomizedResponse, SubsetSelection, UnaryEncoding,
};
use crate::competitors::gaussian::GaussianMechanism;
use crate::competitors::numbers::{
    AgreementCounts, SampledTwoPointMechanism, TwoPointMechanism, hybrid_variance,
    piecewise_variance,
};

/// Returns one row for each competing mechanism that can answer the question.
pub(super) fn published_mechanism_rows(
    question: ComparedQuestion,
    budget: &Budget,
) -> Vec<MechanismRow> {
    match question {
        ComparedQuestion::Choice { options } => choice_mechanism_rows(options, budget),
        ComparedQuestion::Numbers { attributes } => {
            several_numbers_mechanism_rows(attributes, budget)
        }
        ComparedQuestion::Number => single_number_mechanism_rows(budget),
    }
}

/// Returns the row of one mechanism: its parameters and variance, or the reason why the mechanism
/// does not exist.
fn mechanism_row(
    mechanism: &'static str,
    found: Result<(String, EstimateVariance), Error>,
) -> MechanismRow {
    let (parameters, variance) = match found {
        Ok((parameters, variance)) => (parameters, Ok(variance)),
        Err(error) => (String::new(), Err(error)),
    };
    MechanismRow {
        mechanism,
        parameters,
        variance,
    }
}

fn choice_mechanism_rows(options: u32, budget: &Budget) -> Vec<MechanismRow> {
    let shares = |rates| EstimateVariance::from_support_probabilities(&rates, options);
    let direct = RandomizedResponse::new(options, budget)
        .map(|own| (format!("k {options}"), shares(own.support_probabilities())));
    let unary = |own: UnaryEncoding| {
        let rates = own.support_probabilities();
        (
            format!(
                "p {:.4}, q {:.4}",
                rates.own_answer_probability, rates.other_answer_probability
            ),
            shares(rates),
        )
    };
    let hash = OptimalLocalHashing::new(options, budget).map(|own| {
        let parameters = match own {
            OptimalLocalHashing::LocalHashing(hash) => format!("g {}", hash.bucket_count()),
            OptimalLocalHashing::RandomizedResponse(_) => "as GRR, no g is best".to_owned(),
        };
        (parameters, shares(own.support_probabilities()))
    });
    let subset = SubsetSelection::new(options, budget).map(|own| {
        (
            format!("c {}", own.set_size()),
            shares(own.support_probabilities()),
        )
    });
    vec![
        mechanism_row("GRR", direct),
        mechanism_row("subset selection", subset),
        mechanism_row(
            "SPRR",
            UnaryEncoding::symmetric_encoding(options, budget).map(unary),
        ),
        mechanism_row(
            "OUE",
            UnaryEncoding::optimized_encoding(options, budget).map(unary),
        ),
        mechanism_row("OLH", hash),
        mechanism_row(
            "Gaussian",
            GaussianMechanism::for_one_hot_vectors(budget).map(gaussian_parameters_and_variance),
        ),
    ]
}

fn gaussian_parameters_and_variance(noise: GaussianMechanism) -> (String, EstimateVariance) {
    let parameters = format!("σ {:.4}", noise.sigma());
    (
        parameters,
        EstimateVariance::independent_of_answer(noise.variance()),
    )
}

fn several_numbers_mechanism_rows(attributes: u32, budget: &Budget) -> Vec<MechanismRow> {
    let cube =
        |threshold: Option<u32>| majority_parameters_and_variance(attributes, threshold, budget);
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    let sampled = |own: SampledTwoPointMechanism| {
        let variance = EstimateVariance::from_constant_mean_square(own.single_report_variance(0.0));
        (format!("k {}", own.drawn_count()), variance)
    };
    let printed = SampledTwoPointMechanism::new(attributes, epsilon, delta).map(sampled);
    let best =
        SampledTwoPointMechanism::with_least_variance(attributes, epsilon, delta).map(sampled);
    let noise =
        GaussianMechanism::for_numbers(attributes, budget).map(gaussian_parameters_and_variance);
    vec![
        // Printed threshold κ.
        mechanism_row("Mechanism-1", cube(Some(attributes / 2 + 1))),
        mechanism_row("Mechanism-1, best κ", cube(None)),
        mechanism_row("Mechanism-2", printed),
        mechanism_row("Mechanism-2, best k", best),
        mechanism_row("Gaussian", noise),
    ]
}

/// Returns the parameters and variance of Mechanism-1. `threshold` is the number κ of signs in
/// which a favoured vector agrees with the person's; `None` stands for the κ with the least
/// variance.
///
/// Computes them by formula instead of [`MajorityMechanism`](crate::competitors::MajorityMechanism), which refuses
/// parameters whose favoured vectors are too rare to draw.
fn majority_parameters_and_variance(
    attributes: u32,
    threshold: Option<u32>,
    budget: &Budget,
) -> Result<(String, EstimateVariance), Error> {
    let counts = AgreementCounts::new(attributes)?;
    let (threshold, scale) = match threshold {
        None => counts.best_threshold(budget),
        Some(threshold) => (threshold, counts.scale_at_threshold(threshold, budget)?),
    };
    let variance = EstimateVariance::from_constant_mean_square(scale * scale);
    Ok((format!("κ {threshold}"), variance))
}

fn single_number_mechanism_rows(budget: &Budget) -> Vec<MechanismRow> {
    let points = TwoPointMechanism::new(budget);
    let square = points.variance(0.0);
    let two = (
        format!("A {:.4}", points.estimate_scale()),
        EstimateVariance::from_constant_mean_square(square),
    );
    // The variance is quadratic in the number, without a linear term. So the worst case is 0 or an
    // end, and the average over −1 to 1 is the value at 1/√3.
    let quadratic = |variance: fn(f64, f64) -> Result<f64, Error>| {
        let at = |value| variance(value, budget.epsilon());
        let [middle, end, average] = [0.0, 1.0, 1.0 / 3.0_f64.sqrt()].map(at);
        let worst = middle?.max(end?);
        Ok((
            String::new(),
            EstimateVariance {
                worst,
                average: average?,
            },
        ))
    };
    vec![
        mechanism_row("Algorithm 2, two points", Ok(two)),
        mechanism_row("piecewise", quadratic(piecewise_variance)),
        mechanism_row("hybrid", quadratic(hybrid_variance)),
        mechanism_row(
            "Gaussian",
            GaussianMechanism::for_numbers(1, budget).map(gaussian_parameters_and_variance),
        ),
    ]
}
