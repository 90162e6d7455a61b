//! Table rows of the competitors, with the best parameters of each.

use hushbin::Error;

use super::asked::Asked;
use super::variance::{Line, Variance};
use crate::competitors::budget::Budget;
use crate::competitors::choice::{Direct, OptimalHash, SubsetSelection, Unary};
use crate::competitors::gaussian::Gaussian;
use crate::competitors::numbers::{
    Counts, SampledTwoPoints, TwoPoints, hybrid_variance, piecewise_variance,
};

/// Returns one row for each competing mechanism that can answer the question.
pub(super) fn lines(asked: Asked, budget: &Budget) -> Vec<Line> {
    match asked {
        Asked::Choice { options } => choice(options, budget),
        Asked::Numbers { attributes } => numbers(attributes, budget),
        Asked::Number => number(budget),
    }
}

/// Returns the row of one mechanism: its parameters and variance, or the error that prevents them.
fn line(mechanism: &'static str, found: Result<(String, Variance), Error>) -> Line {
    let (parameters, variance) = match found {
        Ok((parameters, variance)) => (parameters, Ok(variance)),
        Err(error) => (String::new(), Err(error)),
    };
    Line {
        mechanism,
        parameters,
        variance,
    }
}

fn choice(options: u32, budget: &Budget) -> Vec<Line> {
    let shares = |rates| Variance::of_shares(&rates, options);
    let direct =
        Direct::new(options, budget).map(|own| (format!("k {options}"), shares(own.rates())));
    let unary = |own: Unary| {
        let rates = own.rates();
        (format!("p {:.4}, q {:.4}", rates.p, rates.q), shares(rates))
    };
    let hash = OptimalHash::new(options, budget).map(|own| {
        let parameters = match own {
            OptimalHash::Hash(hash) => format!("g {}", hash.buckets()),
            OptimalHash::Direct(_) => "as GRR, no g is best".to_owned(),
        };
        (parameters, shares(own.rates()))
    });
    let subset = SubsetSelection::new(options, budget)
        .map(|own| (format!("c {}", own.chosen()), shares(own.rates())));
    vec![
        line("GRR", direct),
        line("subset selection", subset),
        line("SPRR", Unary::symmetric(options, budget).map(unary)),
        line("OUE", Unary::optimized(options, budget).map(unary)),
        line("OLH", hash),
        line("Gaussian", Gaussian::on_one_hot(budget).map(gaussian)),
    ]
}

fn gaussian(noise: Gaussian) -> (String, Variance) {
    let parameters = format!("σ {:.4}", noise.sigma());
    (parameters, Variance::constant(noise.variance()))
}

fn numbers(attributes: u32, budget: &Budget) -> Vec<Line> {
    let cube = |threshold: Option<u32>| majority(attributes, threshold, budget);
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    let sampled = |own: SampledTwoPoints| {
        let variance = Variance::less_square(own.variance(0.0));
        (format!("k {}", own.answered()), variance)
    };
    let printed = SampledTwoPoints::new(attributes, epsilon, delta).map(sampled);
    let best = SampledTwoPoints::best(attributes, epsilon, delta).map(sampled);
    let noise = Gaussian::on_numbers(attributes, budget).map(gaussian);
    vec![
        // Printed threshold κ.
        line("Mechanism-1", cube(Some(attributes / 2 + 1))),
        line("Mechanism-1, best κ", cube(None)),
        line("Mechanism-2", printed),
        line("Mechanism-2, best k", best),
        line("Gaussian", noise),
    ]
}

/// Returns the parameters and variance of Mechanism-1, for the given threshold κ. `None` stands for
/// the κ of least variance.
///
/// Computes them by formula instead of [`Majority`](crate::competitors::Majority), which refuses
/// parameters whose favoured vectors are too rare to draw.
fn majority(
    attributes: u32,
    threshold: Option<u32>,
    budget: &Budget,
) -> Result<(String, Variance), Error> {
    let counts = Counts::new(attributes)?;
    let (threshold, scale) = match threshold {
        None => counts.best(budget),
        Some(threshold) => (threshold, counts.scale_at(threshold, budget)?),
    };
    let variance = Variance::less_square(scale * scale);
    Ok((format!("κ {threshold}"), variance))
}

fn number(budget: &Budget) -> Vec<Line> {
    let points = TwoPoints::new(budget);
    let square = points.variance(0.0);
    let two = (
        format!("A {:.4}", points.scale()),
        Variance::less_square(square),
    );
    // The variance is quadratic in the number, without a linear term. So the worst case is 0 or an
    // end, and the average over −1 to 1 is the value at 1/√3.
    let quadratic = |variance: fn(f64, f64) -> Result<f64, Error>| {
        let at = |value| variance(value, budget.epsilon());
        let [middle, end, average] = [0.0, 1.0, 1.0 / 3.0_f64.sqrt()].map(at);
        let worst = middle?.max(end?);
        Ok((
            String::new(),
            Variance {
                worst,
                average: average?,
            },
        ))
    };
    vec![
        line("Algorithm 2, two points", Ok(two)),
        line("piecewise", quadratic(piecewise_variance)),
        line("hybrid", quadratic(hybrid_variance)),
        line("Gaussian", Gaussian::on_numbers(1, budget).map(gaussian)),
    ]
}
