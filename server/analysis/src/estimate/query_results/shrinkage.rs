//! Shrinkage: replaces each item's estimate by its posterior mean, given the estimates of all
//! items.
//!
//! The method is empirical Bayes (Stephens, "False Discovery Rates: A New Deal", Biostatistics
//! 2017). The prior is a mixture of normal distributions around 0 with many widths, including a
//! point mass at 0. The mixture weights are fitted to all items by maximum likelihood.
//!
//! Estimates and widths are divided by the standard error that an item would have if its true value
//! were 0. The reported standard error depends on the estimate, so it is not used for this.
//!
//! The prior is also fitted to noise, so the error that it predicts is not trusted. Stein's
//! unbiased risk estimate decides whether the result is released ("Estimation of the Mean of a
//! Multivariate Normal Distribution", Annals of Statistics 1981).

use serde::{Serialize, Serializer};

use crate::estimate::point::PointEstimate;

/// Outcome of shrinking all items.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ShrinkageOutcome {
    /// Shrinkage succeeded, with these expected errors.
    Shrunken(ExpectedErrors),
    /// Shrinkage was refused.
    Refused {
        /// Reason for the refusal.
        refused: ShrinkageRefusal,
    },
}

/// Expected errors of three ways to estimate all items. Each error is a root mean square over the
/// items.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExpectedErrors {
    /// Error of the raw estimates, computed from the standard errors.
    pub raw_error: f64,
    /// Error of estimating every item as 0, predicted from the raw estimates and their standard
    /// errors.
    pub zero_error: f64,
    /// Error of the shrunken estimates.
    pub shrunken_error: f64,
}

/// Reasons for refusing shrinkage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShrinkageRefusal {
    /// Too few items to estimate the prior.
    #[error(
        "there are fewer than {MIN_ITEM_COUNT} items, too few to learn from each other: use the raw \
             estimates"
    )]
    FewItems,
    /// The gain over estimating every item as 0 is not proven: nearly all estimates may be noise.
    #[error(
        "shrunken estimates are not proven to err less than 0 for every item: use the raw \
         estimates with their intervals"
    )]
    NoBetterThanZero,
    /// The shrunken estimates are expected to err more than the raw ones.
    #[error("shrunken estimates are expected to err more than the raw estimates: use those")]
    WorseThanRaw,
}

impl Serialize for ShrinkageRefusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Shrunken estimate of one item.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ShrunkenEstimate {
    /// Posterior mean, biased towards 0.
    pub estimate: f64,
    /// Posterior standard deviation.
    pub(crate) deviation: f64,
}

/// Ratio of the widths of two consecutive components of the prior.
const PRIOR_WIDTH_RATIO: f64 = std::f64::consts::SQRT_2;
/// Smallest positive width of a component of the prior, in standard errors. This width is hardly
/// distinguishable from 0.
const MIN_PRIOR_WIDTH: f64 = 0.1;
/// Maximum number of iterations of expectation-maximisation.
const MAX_ITERATIONS: usize = 2000;
/// Change of a weight below which expectation-maximisation stops.
const CONVERGENCE_TOLERANCE: f64 = 1e-6;
/// Width of the bins into which estimates are grouped, on the asinh scale. Near 0 this is an
/// absolute width, and far from 0 a relative one. Estimates in one bin are multiplied by the same
/// factor.
const BIN_WIDTH: f64 = 0.02;
/// Required gain over estimating every item as 0, in standard deviations of the gain.
const MIN_GAIN_DEVIATIONS: f64 = 3.0;
/// Minimum number of items for estimating the prior.
const MIN_ITEM_COUNT: usize = 20;

/// Shrinks the estimates of all items together.
///
/// Each item is given as its estimate and the standard error that it would have if its true value
/// were 0.
///
/// # Errors
/// [`ShrinkageRefusal`] if there are too few items, if the estimates do not show that shrinkage
/// beats estimating every item as 0, or if shrinkage is expected to be worse than the raw
/// estimates.
///
/// ```
/// use hushbin_analysis::estimate::{PointEstimate, shrink_estimates};
///
/// let point = |estimate| (PointEstimate { estimate, standard_error: 0.1 }, 0.1);
/// // One estimate is far above the noise.
/// let mut estimates: Vec<_> = (0..40)
///     .map(|item| point(if item == 0 { 1.0 } else { 0.1 * f64::from(item % 3 - 1) }))
///     .collect();
/// let (shrunken, errors) = shrink_estimates(&estimates).unwrap();
/// assert!(shrunken[0].estimate > 0.8 && shrunken[2].estimate.abs() < 0.03);
/// assert!(errors.shrunken_error < errors.raw_error.min(errors.zero_error));
/// estimates[0] = point(0.1);
/// assert!(shrink_estimates(&estimates).is_err());
/// ```
pub fn shrink_estimates(
    items: &[(PointEstimate, f64)],
) -> Result<(Vec<ShrunkenEstimate>, ExpectedErrors), ShrinkageRefusal> {
    if items.len() < MIN_ITEM_COUNT {
        return Err(ShrinkageRefusal::FewItems);
    }
    let bins: Vec<usize> = items.iter().map(bin_index).collect();
    let factors = factors_by_bin(&bins);
    let [mut raw, mut zero, mut shrunken, mut left, mut spread] = [0.0; 5];
    let of_item = |(&(point, null), bin): (&(PointEstimate, f64), usize)| {
        let ShrinkageFactors {
            multiplier: kept,
            shrunken_estimate_slope: slope,
        } = factors[bin];
        let own = point.standard_error.powi(2);
        let estimate = kept * point.estimate;
        let deviation = slope.sqrt() * null;
        raw += own;
        // Unbiased estimate of the squared error of answering 0: E[x² − σ²] = θ², where θ is the
        // true value.
        zero += point.estimate.powi(2) - own;
        // Stein's unbiased risk estimate. `slope` is the derivative of the shrunken estimate.
        shrunken += (point.estimate - estimate).powi(2) + own * (2.0 * slope - 1.0);
        left += deviation.powi(2);
        // Delta method: variance of `zero` − `shrunken`.
        spread += (2.0 * estimate * (2.0 - kept)).powi(2) * own;
        ShrunkenEstimate {
            estimate,
            deviation,
        }
    };
    let items: Vec<ShrunkenEstimate> = items.iter().zip(bins).map(of_item).collect();
    if zero - shrunken < MIN_GAIN_DEVIATIONS * spread.sqrt() {
        return Err(ShrinkageRefusal::NoBetterThanZero);
    }
    if shrunken > raw {
        return Err(ShrinkageRefusal::WorseThanRaw);
    }
    let [raw_error, zero_error, shrunken_error] =
        // To be conservative, take the larger of Stein's estimate and the posterior variance.
        [raw, zero, shrunken.max(left)].map(|sum| (sum / items.len() as f64).sqrt());
    let errors = ExpectedErrors {
        raw_error,
        zero_error,
        shrunken_error,
    };
    Ok((items, errors))
}

/// Effect of shrinkage on the estimates in one bin. `kept` is the factor by which they are
/// multiplied. `slope` is the posterior variance, divided by the variance that an estimate has if
/// the true value is 0.
#[derive(Debug, Clone, Copy, Default)]
struct ShrinkageFactors {
    multiplier: f64,
    /// Derivative of the shrunken estimate with respect to the raw one.
    shrunken_estimate_slope: f64,
}

/// Returns the index of the bin that contains an estimate.
fn bin_index((point, null): &(PointEstimate, f64)) -> usize {
    ((point.estimate / null).abs().asinh() / BIN_WIDTH).round() as usize
}

/// Computes the factors of every bin. `bins` contains the index of each estimate's bin. The factors
/// of empty bins are 0.
fn factors_by_bin(bins: &[usize]) -> Vec<ShrinkageFactors> {
    let mut counts = vec![0.0; bins.iter().max().map_or(0, |most| most + 1)];
    for &bin in bins {
        counts[bin] += 1.0;
    }
    let distance = |bin: usize| (bin as f64 * BIN_WIDTH).sinh();
    // The largest width is at least twice the largest estimate.
    let most = 2.0 * distance(counts.len());
    let widths = std::iter::successors(Some(MIN_PRIOR_WIDTH), |width| {
        Some(width * PRIOR_WIDTH_RATIO)
    });
    let widths = widths.take_while(|width| *width < most * PRIOR_WIDTH_RATIO);
    let variances: Vec<f64> = std::iter::once(0.0).chain(widths.map(|w| w * w)).collect();
    let seen = (counts.iter().enumerate()).filter(|(_, count)| **count > 0.0);
    let seen: Vec<EstimateBin> = seen
        .map(|(at, &count)| EstimateBin {
            bin_index: at,
            count,
            likelihoods: prior_component_likelihoods(distance(at), &variances),
        })
        .collect();
    let weights = fit_prior_weights(&seen, variances.len());
    let mut factors = vec![ShrinkageFactors::default(); counts.len()];
    for bin in &seen {
        factors[bin.bin_index] = posterior_factors(
            distance(bin.bin_index),
            &bin.likelihoods,
            &weights,
            &variances,
        );
    }
    factors
}

/// A bin of similar estimates.
struct EstimateBin {
    bin_index: usize,
    count: f64,
    /// Likelihood of the bin's centre under each component of the prior, up to a common factor.
    likelihoods: Vec<f64>,
}

/// Returns the likelihood of an estimate at `distance` from 0 under each component of the prior.
/// The likelihoods are scaled to a maximum of 1.
fn prior_component_likelihoods(distance: f64, variances: &[f64]) -> Vec<f64> {
    let logarithm = |variance: &f64| {
        // The estimate is normal with variance 1 (noise) plus that of the component.
        let sum = 1.0 + variance;
        -0.5 * (distance * distance / sum + sum.ln())
    };
    let logarithms: Vec<f64> = variances.iter().map(logarithm).collect();
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Scaling avoids underflow and cancels in posterior weights.
    logarithms.iter().map(|l| (l - most).exp()).collect()
}

/// Computes the maximum-likelihood weights of the prior's components by expectation-maximisation.
fn fit_prior_weights(bins: &[EstimateBin], laws: usize) -> Vec<f64> {
    let mut weights = vec![1.0 / laws as f64; laws];
    let all: f64 = bins.iter().map(|bin| bin.count).sum();
    for _ in 0..MAX_ITERATIONS {
        let mut counts = vec![0.0; laws];
        for bin in bins {
            let each = bin.likelihoods.iter().zip(&weights).map(|(l, w)| l * w);
            // Expectation step: posterior weights of the components, for all estimates of the bin.
            let part = bin.count / each.clone().sum::<f64>();
            counts
                .iter_mut()
                .zip(each)
                .for_each(|(c, own)| *c += own * part);
        }
        let mut change: f64 = 0.0;
        for (weight, count) in weights.iter_mut().zip(counts) {
            // Maximisation step: new weights are mean posterior weights.
            change = change.max((*weight - count / all).abs());
            *weight = count / all;
        }
        if change < CONVERGENCE_TOLERANCE {
            break;
        }
    }
    weights
}

/// Computes an estimate's factors from its posterior distribution. `distance` is the distance of
/// the estimate from 0.
fn posterior_factors(
    distance: f64,
    likelihoods: &[f64],
    weights: &[f64],
    variances: &[f64],
) -> ShrinkageFactors {
    let [mut sum, mut kept, mut square] = [0.0; 3];
    for ((likelihood, weight), variance) in likelihoods.iter().zip(weights).zip(variances) {
        let part = likelihood * weight;
        // Posterior distribution given the component: mean own·distance, variance own.
        let own = variance / (1.0 + variance);
        sum += part;
        kept += part * own;
        square += part * ((own * distance).powi(2) + own);
    }
    let kept = kept / sum;
    ShrinkageFactors {
        multiplier: kept,
        shrunken_estimate_slope: (square / sum - (kept * distance).powi(2)).max(0.0),
    }
}
