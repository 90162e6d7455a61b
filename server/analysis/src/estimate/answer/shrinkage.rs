//! Shrunken estimates: what to expect of each item, given all of them.
//!
//! Empirical Bayes with a mixture of normal laws around 0 of many widths as prior, 0 itself among
//! them, whose weights are those that make the estimates likeliest (Stephens, "False Discovery
//! Rates: A New Deal", Biostatistics 2017). Estimates and widths are in standard errors of a truth
//! of 0: an item's own standard error depends on its estimate, and so cannot judge it.
//!
//! The prior is fitted to noise, too, so what it promises is not believed. Stein's unbiased
//! estimate of the squared error ("Estimation of the Mean of a Multivariate Normal Distribution",
//! Annals of Statistics 1981) decides whether there is an answer.

use serde::{Serialize, Serializer};

use crate::estimate::point::Point;

/// What shrinking all items comes to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Shrinkage {
    /// There are shrunken estimates.
    Shrunken(Errors),
    /// There are none.
    Refused {
        /// Why.
        refused: Refusal,
    },
}

/// Errors to expect: roots of mean squares over all items.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Errors {
    /// Of the raw estimates, from their standard errors.
    pub raw_error: f64,
    /// Of answering 0 for every item, from the raw estimates and their standard errors.
    pub zero_error: f64,
    /// Of the shrunken estimates.
    pub shrunken_error: f64,
}

/// Why estimates are not shrunken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// They say too little of what truths are like.
    #[error("fewer than {FEWEST} items tell too little of each other: take the raw estimates")]
    FewItems,
    /// They may as well be noise, nearly all of them.
    #[error(
        "shrunken estimates are not shown to err less than answering 0 for every item: take the \
         raw estimates with their intervals"
    )]
    NoBetterThanZero,
    /// There is nothing to gain.
    #[error("shrunken estimates are expected to err more than the raw estimates: take those")]
    WorseThanRaw,
}

impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
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
/// The least width: hardly told from 0.
const LEAST: f64 = 0.1;
/// Rounds of expectation and maximisation, and the change of a weight that ends them.
const ROUNDS: usize = 2000;
const ENOUGH: f64 = 1e-6;
/// Bins of estimates that are shrunken by the same factor: so wide around 0, and by this part of
/// the estimate far out.
const BIN: f64 = 0.02;
/// Standard deviations by which the gain over answering 0 has to be above 0.
const CERTAIN: f64 = 3.0;
/// The fewest items that tell what others may be like.
const FEWEST: usize = 20;

/// Shrinks the estimates of all items together, each given with the standard error that it would
/// have if its truth were 0.
///
/// # Errors
/// [`Refusal`] where that is no better than raw estimates, or none, as far as the estimates tell.
///
/// ```
/// use hushbin_analysis::estimate::{Point, shrink};
///
/// let point = |estimate| (Point { estimate, standard_error: 0.1 }, 0.1);
/// // One stands out of noise.
/// let mut estimates: Vec<_> = (0..40)
///     .map(|item| point(if item == 0 { 1.0 } else { 0.1 * f64::from(item % 3 - 1) }))
///     .collect();
/// let (shrunken, errors) = shrink(&estimates).unwrap();
/// assert!(shrunken[0].estimate > 0.8 && shrunken[2].estimate.abs() < 0.03);
/// assert!(errors.shrunken_error < errors.raw_error.min(errors.zero_error));
/// estimates[0] = point(0.1);
/// assert!(shrink(&estimates).is_err());
/// ```
pub fn shrink(items: &[(Point, f64)]) -> Result<(Vec<Shrunken>, Errors), Refusal> {
    if items.len() < FEWEST {
        return Err(Refusal::FewItems);
    }
    let bins: Vec<usize> = items.iter().map(bin).collect();
    let factors = factors(&bins);
    let [mut raw, mut zero, mut shrunken, mut left, mut spread] = [0.0; 5];
    let of_item = |(&(point, null), bin): (&(Point, f64), usize)| {
        let Factor { kept, slope } = factors[bin];
        let own = point.standard_error.powi(2);
        let estimate = kept * point.estimate;
        let deviation = slope.sqrt() * null;
        raw += own;
        zero += point.estimate.powi(2) - own;
        shrunken += (point.estimate - estimate).powi(2) + own * (2.0 * slope - 1.0);
        left += deviation.powi(2);
        spread += (2.0 * estimate * (2.0 - kept)).powi(2) * own;
        Shrunken {
            estimate,
            deviation,
        }
    };
    let items: Vec<Shrunken> = items.iter().zip(bins).map(of_item).collect();
    if zero - shrunken < CERTAIN * spread.sqrt() {
        return Err(Refusal::NoBetterThanZero);
    }
    if shrunken > raw {
        return Err(Refusal::WorseThanRaw);
    }
    let [raw_error, zero_error, shrunken_error] =
        [raw, zero, shrunken.max(left)].map(|sum| (sum / items.len() as f64).sqrt());
    let errors = Errors {
        raw_error,
        zero_error,
        shrunken_error,
    };
    Ok((items, errors))
}

/// What an estimate of a bin is multiplied by, and what its variance is multiplied by.
#[derive(Debug, Clone, Copy, Default)]
struct Factor {
    kept: f64,
    /// How fast the shrunken estimate grows with the raw one.
    slope: f64,
}

/// The bin of an estimate.
fn bin((point, null): &(Point, f64)) -> usize {
    ((point.estimate / null).abs().asinh() / BIN).round() as usize
}

/// By bin, of estimates in these; those of bins without any are 0.
fn factors(bins: &[usize]) -> Vec<Factor> {
    let mut counts = vec![0.0; bins.iter().max().map_or(0, |most| most + 1)];
    for &bin in bins {
        counts[bin] += 1.0;
    }
    let distance = |bin: usize| (bin as f64 * BIN).sinh();
    let most = 2.0 * distance(counts.len());
    let widths = std::iter::successors(Some(LEAST), |width| Some(width * STEP));
    let widths = widths.take_while(|width| *width < most * STEP);
    let variances: Vec<f64> = std::iter::once(0.0).chain(widths.map(|w| w * w)).collect();
    let seen = (counts.iter().enumerate()).filter(|(_, count)| **count > 0.0);
    let seen: Vec<Bin> = seen
        .map(|(at, &count)| Bin {
            at,
            count,
            likelihoods: likelihoods(distance(at), &variances),
        })
        .collect();
    let weights = weights(&seen, variances.len());
    let mut factors = vec![Factor::default(); counts.len()];
    for bin in &seen {
        factors[bin.at] = factor(distance(bin.at), &bin.likelihoods, &weights, &variances);
    }
    factors
}

/// Estimates that are alike.
struct Bin {
    at: usize,
    count: f64,
    /// Under each of the prior's laws.
    likelihoods: Vec<f64>,
}

/// How likely an estimate is under each of the prior's laws, the likeliest being 1.
fn likelihoods(distance: f64, variances: &[f64]) -> Vec<f64> {
    let logarithm = |variance: &f64| {
        let sum = 1.0 + variance;
        -0.5 * (distance * distance / sum + sum.ln())
    };
    let logarithms: Vec<f64> = variances.iter().map(logarithm).collect();
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logarithms.iter().map(|l| (l - most).exp()).collect()
}

/// The weights that make all estimates likeliest.
fn weights(bins: &[Bin], laws: usize) -> Vec<f64> {
    let mut weights = vec![1.0 / laws as f64; laws];
    let all: f64 = bins.iter().map(|bin| bin.count).sum();
    for _ in 0..ROUNDS {
        let mut counts = vec![0.0; laws];
        for bin in bins {
            let each = bin.likelihoods.iter().zip(&weights).map(|(l, w)| l * w);
            let part = bin.count / each.clone().sum::<f64>();
            counts
                .iter_mut()
                .zip(each)
                .for_each(|(c, own)| *c += own * part);
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
    weights
}

/// From the posterior law of a truth at this distance.
fn factor(distance: f64, likelihoods: &[f64], weights: &[f64], variances: &[f64]) -> Factor {
    let [mut sum, mut kept, mut square] = [0.0; 3];
    for ((likelihood, weight), variance) in likelihoods.iter().zip(weights).zip(variances) {
        let part = likelihood * weight;
        let own = variance / (1.0 + variance);
        sum += part;
        kept += part * own;
        square += part * ((own * distance).powi(2) + own);
    }
    let kept = kept / sum;
    Factor {
        kept,
        slope: (square / sum - (kept * distance).powi(2)).max(0.0),
    }
}
