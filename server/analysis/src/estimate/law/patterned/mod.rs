//! Estimates of a number's bins from reports of a rotated pattern
//! ([`hushbin::mechanism::pattern`]).
//!
//! [`PatternEstimates::quantile_edges`] returns intervals that are valid for every crowd.
//! [`PatternEstimates::smooth`] fits a smooth curve to the shares of bins. A quantile is estimated from
//! the curve and moved into its interval.

pub(crate) mod claims;
mod matrix;
mod smooth;
#[cfg(test)]
mod tests;

pub(crate) use claims::Edges;
pub(crate) use matrix::outputs;

use std::ops::{Add, Range};
use std::sync::{Arc, OnceLock};

use hushbin::solve::{factorise, solve};

use self::claims::{Estimate, Row, claims, combine, interval_edges, least};
use super::score::{BetweenNodes, Crowd, ScoreDistribution};
use crate::estimate::fold::MIN_EXPECTED;
use crate::estimate::point::{Point, SamplingModel};
use crate::numeric::limits::Failure;

/// Parts of an interval's failure probability for its two scales: single edges, and averages over
/// an eighth of the bins.
const PARTS: [f64; 2] = [0.8, 0.2];

/// Shares of outputs among the reports of a pattern over bins.
#[derive(Debug, Clone)]
pub(crate) struct PatternEstimates {
    edges: Arc<Edges>,
    whose: SamplingModel,
    /// Share of reports with each output.
    shares: Vec<f64>,
    /// Number of reports n.
    reports: f64,
    estimated: OnceLock<Vec<f64>>,
}

impl PatternEstimates {
    /// Creates the shares from the number of reports with each output. Returns `None` if there are
    /// no reports.
    pub(crate) fn new(edges: Arc<Edges>, whose: SamplingModel, counts: &[u64]) -> Option<Self> {
        let reports = counts.iter().sum::<u64>() as f64;
        let shares = counts.iter().map(|own| *own as f64 / reports).collect();
        let patterned = Self {
            edges,
            whose,
            shares,
            reports,
            estimated: OnceLock::new(),
        };
        (reports > 0.0).then_some(patterned)
    }

    /// Returns the number of reports n.
    pub(crate) fn reports(&self) -> u64 {
        self.reports as u64
    }

    /// Returns the number of bins K.
    pub(crate) fn bins(&self) -> usize {
        self.edges.rates.cells()
    }

    /// Returns the unbiased estimate of the share of people in a range of bins, with the
    /// distribution of its scores.
    pub(crate) fn among(&self, bins: Range<usize>) -> (Point, ScoreDistribution) {
        let weights = self.edges.rates.weights(bins.clone());
        let rates = &self.edges.rates;
        let worth = rates.sum(&weights);
        let own = rates.variances(&worth, &weights);
        let (estimate, variance) = self.moments(&worth);
        let share = estimate.clamp(0.0, 1.0);
        // No crowd with this share has a smaller variance, but few reports may show a smaller one.
        let others = least(own[..bins.start].iter().chain(&own[bins.end..]));
        let floor = share * least(&own[bins]) + (1.0 - share) * others;
        // The observed variance includes drawing people. It is removed if people are given.
        let drawn = share * (1.0 - share);
        let given = self.whose == SamplingModel::FixedPopulation;
        let variance = (variance - drawn).max(floor) + if given { 0.0 } else { drawn };
        let point = Point::new(estimate, variance, self.reports);
        let law = ScoreDistribution {
            nodes: vec![
                (0.0, self.crowd(&worth, &weights, 0.0)),
                (1.0, self.crowd(&worth, &weights, 1.0)),
            ],
            given,
            whose: BetweenNodes::Neighbours,
        };
        (point, law)
    }

    /// Returns the scores of people in the bins with this weight, relative to the greatest score.
    ///
    /// The people are spread over these bins as estimated, or evenly if all estimates are 0.
    fn crowd(&self, worth: &[f64], weights: &[f64], weight: f64) -> Crowd {
        let among = |own: &f64| *own == weight;
        let estimated = weights.iter().zip(self.estimated());
        let mut people: Vec<f64> = estimated
            .map(|(own, share)| if among(own) { *share } else { 0.0 })
            .collect();
        if people.iter().all(|share| *share == 0.0) {
            let own = weights.iter().map(|own| f64::from(u8::from(among(own))));
            people = own.collect();
        }
        let all: f64 = people.iter().sum();
        let most = worth.iter().fold(0.0, |most: f64, own| most.max(own.abs()));
        let chances = matrix::outputs(&self.edges.rates, &people);
        let score = worth.iter().zip(chances);
        Crowd::alike(
            score
                .map(|(own, chance)| (own / most, chance / all))
                .collect(),
        )
    }

    /// Returns the estimated shares of bins, with negative ones set to 0.
    fn estimated(&self) -> &[f64] {
        self.estimated.get_or_init(|| {
            let rates = &self.edges.rates;
            let estimate = |bin| {
                let worth = rates.sum(&rates.weights(bin..bin + 1));
                self.moments(&worth).0.max(0.0)
            };
            (0..self.bins()).map(estimate).collect()
        })
    }

    /// Returns the interval of each quantile as the edges at its ends. Edge b is the lower end of
    /// bin b, and edge K is the upper end of the range.
    ///
    /// The quantiles are those of the population that people are drawn from. Each end fails with
    /// probability at most `failure`, up to the normal approximation. An end moves inwards over all
    /// claimed edges. So it fails only if the claim at the edge next to the quantile fails, and the
    /// number of edges needs no correction.
    pub(crate) fn quantile_edges(&self, quantiles: &[f64], failure: f64) -> Vec<[usize; 2]> {
        let reach = PARTS.map(|part| Failure::new(part * failure).z() / self.reports.sqrt());
        let [fine, more, less] = (self.edges.rows().each_ref()).map(|rows| self.estimates(rows));
        let interval = |quantile: &f64| {
            let fine = claims([&fine, &fine], *quantile, reach[0], Add::add);
            // Averages may not vary over the people of some crowds. Otherwise the variance is at
            // most τ(1 − τ), which few reports at a large ε may not show.
            let coarse = claims([&more, &less], *quantile, reach[1], f64::max);
            interval_edges(fine.zip(coarse).map(combine))
        };
        quantiles.iter().map(interval).collect()
    }

    /// Returns the shares of bins of a smooth curve, which sum to 1.
    pub(crate) fn smooth(&self) -> Vec<f64> {
        smooth::fit(&self.edges.rates, &self.shares, self.reports).1
    }

    /// Returns χ² of the best fit, with its L − K degrees of freedom.
    ///
    /// Honest reports from K bins satisfy L − K linear relations between the shares of outputs.
    /// Returns `None` if L = K, or if some output has too few expected reports for a χ²
    /// distribution.
    pub(crate) fn misfit(&self) -> Option<(f64, usize)> {
        let (rates, bins) = (&self.edges.rates, self.bins());
        let freedom = self.shares.len() - bins;
        if freedom == 0 {
            return None;
        }
        // Negative shares are set to 0, so the sum is at least 1.
        let first = self.estimated();
        let total: f64 = first.iter().sum();
        let expected = matrix::outputs(rates, first);
        if self.reports * least(&expected) < MIN_EXPECTED * total {
            return None;
        }
        // Weighted least squares, with variances of outputs from the unbiased estimate.
        let over: Vec<f64> = expected.iter().map(|own| total / own).collect();
        let weighed = self.shares.iter().zip(&over).map(|(own, over)| own * over);
        let right = matrix::bins(rates, &weighed.collect::<Vec<f64>>());
        let mut gram = matrix::gram(rates, &over);
        factorise(&mut gram, bins);
        let fitted = matrix::outputs(rates, &solve(&gram, &right));
        let residuals = self
            .shares
            .iter()
            .zip(&fitted)
            .map(|(own, fitted)| own - fitted);
        let squares: f64 = residuals
            .zip(&over)
            .map(|(own, over)| own * own * over)
            .sum();
        Some((self.reports * squares, freedom))
    }

    /// Returns the mean weight of the reports, and the variance of one report's weight.
    fn moments(&self, worth: &[f64]) -> (f64, f64) {
        let pairs = || self.shares.iter().zip(worth);
        let mean: f64 = pairs().map(|(share, own)| share * own).sum();
        let square: f64 = pairs().map(|(share, own)| share * own * own).sum();
        // A single report shows no variance. Callers use a minimum instead.
        let freedom = (self.reports - 1.0).max(1.0);
        let variance = (square - mean * mean) * self.reports / freedom;
        (mean, variance)
    }

    fn estimates(&self, rows: &[Row]) -> Vec<Estimate> {
        let estimate = |row: &Row| {
            let (share, variance) = self.moments(&row.worth);
            let least = row.least;
            Estimate {
                share,
                variance,
                least,
            }
        };
        rows.iter().map(estimate).collect()
    }
}

/// Returns the point at which a distribution function reaches a quantile, in bins from the first
/// edge. The shares of bins sum to 1. The function is linear within a bin.
pub(crate) fn quantile_position(shares: &[f64], quantile: f64) -> f64 {
    let mut below = 0.0;
    for (bin, share) in shares.iter().enumerate() {
        if below + share >= quantile && *share > 0.0 {
            return bin as f64 + (quantile - below) / share;
        }
        below += share;
    }
    shares.len() as f64
}
