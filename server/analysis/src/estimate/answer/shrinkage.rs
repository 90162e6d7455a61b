//! Shrunken estimates: what to expect of each item, given all of them.
//!
//! Empirical Bayes with a mixture of normal laws around 0 of many widths as prior, 0
//! itself among them, whose weights are those that make the estimates likeliest (Stephens,
//! "False Discovery Rates: A New Deal", Biostatistics 2017). Posterior means are the
//! estimates of least expected error under that prior, so they are never predicted to err
//! more than the raw ones nor than answering 0. Where the prior makes k estimates less than
//! k times as likely as all truths being 0 does, that is the answer: fitted to noise it
//! would err a little more (by 7 per cent for 1378 items of 48,000 people at ε = 0.5).

use serde::Serialize;

use crate::estimate::point::Point;

/// What all items were shrunk by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shrinkage {
    /// Root of the mean squared error that is predicted of the raw estimates.
    pub raw_error: f64,
    /// Of answering 0 for every item.
    pub zero_error: f64,
    /// Of the shrunken estimates: the least of the three.
    pub shrunken_error: f64,
}

/// One item's estimate, shrunken.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shrunken {
    /// The posterior mean. Biased towards 0.
    pub estimate: f64,
    /// The posterior standard deviation.
    pub(crate) deviation: f64,
}

/// Steps between widths, as a factor.
const STEP: f64 = std::f64::consts::SQRT_2;
/// The least width, as a part of the least standard error: hardly told from 0.
const LEAST: f64 = 0.1;
/// What 0 counts as, in estimates, before there are any: with few of them it is not left
/// for chance.
const PRIOR_COUNT: f64 = 10.0;
/// Rounds of expectation and maximisation, and the change of a weight that ends them.
const ROUNDS: usize = 2000;
const ENOUGH: f64 = 1e-6;

/// Shrinks the estimates of all items together.
///
/// ```
/// use hushbin_analysis::estimate::{Point, shrink};
///
/// let point = |estimate| Point { estimate, standard_error: 0.1 };
/// // One stands out of noise.
/// let estimates: Vec<Point> = (0..40)
///     .map(|item| point(if item == 0 { 1.0 } else { 0.1 * f64::from(item % 3 - 1) }))
///     .collect();
/// let (shrunken, errors) = shrink(&estimates);
/// assert!(shrunken[0].estimate > 0.8 && shrunken[2].estimate.abs() < 0.03);
/// assert!(errors.shrunken_error < errors.raw_error.min(errors.zero_error));
/// ```
#[must_use]
pub fn shrink(points: &[Point]) -> (Vec<Shrunken>, Shrinkage) {
    let variances = widths(points);
    let likelihoods: Vec<Vec<f64>> = points.iter().map(|p| likelihood(p, &variances)).collect();
    let weights = weights(&likelihoods, variances.len());
    let mut sums = [0.0; 3];
    let shrunken = points.iter().zip(&likelihoods).map(|(point, likelihood)| {
        let [mean, square] = posterior(point, likelihood, &weights, &variances);
        let variance = (square - mean * mean).max(0.0);
        let raw = (point.estimate - mean).powi(2) + variance;
        for (sum, square) in sums.iter_mut().zip([raw, square, variance]) {
            *sum += square;
        }
        Shrunken {
            estimate: mean,
            deviation: variance.sqrt(),
        }
    });
    let shrunken = shrunken.collect();
    let [raw_error, zero_error, shrunken_error] =
        sums.map(|sum| (sum / points.len().max(1) as f64).sqrt());
    let shrinkage = Shrinkage {
        raw_error,
        zero_error,
        shrunken_error,
    };
    (shrunken, shrinkage)
}

/// Variances of the prior's laws, 0 first, up to twice what estimates show.
fn widths(points: &[Point]) -> Vec<f64> {
    let errors = points.iter().map(|point| point.standard_error);
    let least = LEAST * errors.fold(f64::INFINITY, f64::min);
    let excess = |point: &Point| point.estimate.powi(2) - point.standard_error.powi(2);
    let most = 2.0 * points.iter().map(excess).fold(0.0, f64::max).sqrt();
    let mut variances = vec![0.0];
    let mut width = least;
    while width > 0.0 && width < most * STEP {
        variances.push(width * width);
        width *= STEP;
    }
    variances
}

/// How likely an estimate is under each of the prior's laws, the likeliest being 1.
fn likelihood(point: &Point, variances: &[f64]) -> Vec<f64> {
    let noise = point.standard_error.powi(2);
    let logarithm = |variance: &f64| {
        let sum = noise + variance;
        -0.5 * (point.estimate.powi(2) / sum + sum.ln())
    };
    let logarithms: Vec<f64> = variances.iter().map(logarithm).collect();
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logarithms.iter().map(|l| (l - most).exp()).collect()
}

/// The weights that make all estimates likeliest, if they are much likelier than under 0.
fn weights(likelihoods: &[Vec<f64>], laws: usize) -> Vec<f64> {
    let mut weights = vec![1.0 / laws as f64; laws];
    let all = likelihoods.len() as f64 + PRIOR_COUNT;
    for _ in 0..ROUNDS {
        let mut counts = vec![0.0; laws];
        counts[0] = PRIOR_COUNT;
        for likelihood in likelihoods {
            let sum: f64 = likelihood.iter().zip(&weights).map(|(l, w)| l * w).sum();
            for ((count, l), w) in counts.iter_mut().zip(likelihood).zip(&weights) {
                *count += l * w / sum;
            }
        }
        let mut change: f64 = 0.0;
        for (weight, count) in weights.iter_mut().zip(counts) {
            change = change.max((*weight - count / all).abs());
            *weight = count / all;
        }
        if change < ENOUGH {
            break;
        }
    }
    if gain(likelihoods, &weights) > (likelihoods.len() as f64).ln() {
        weights
    } else {
        let all_zero = |law| f64::from(u8::from(law == 0));
        (0..laws).map(all_zero).collect()
    }
}

/// ln of how much likelier the estimates are than if all truths were 0.
fn gain(likelihoods: &[Vec<f64>], weights: &[f64]) -> f64 {
    let of_one = |likelihood: &Vec<f64>| {
        let mixed: f64 = likelihood.iter().zip(weights).map(|(l, w)| l * w).sum();
        mixed.ln() - likelihood[0].max(f64::MIN_POSITIVE).ln()
    };
    likelihoods.iter().map(of_one).sum()
}

/// Expectation of an item's truth and of its square.
fn posterior(point: &Point, likelihood: &[f64], weights: &[f64], variances: &[f64]) -> [f64; 2] {
    let noise = point.standard_error.powi(2);
    let (mut sum, mut mean, mut square) = (0.0, 0.0, 0.0);
    for ((likelihood, weight), variance) in likelihood.iter().zip(weights).zip(variances) {
        let part = likelihood * weight;
        let kept = variance / (variance + noise);
        let own = kept * point.estimate;
        sum += part;
        mean += part * own;
        square += part * (own * own + kept * noise);
    }
    [mean / sum, square / sum]
}
