//! Estimates of the shares of a number's bins, from reports that are outputs of a rotated pattern
//! ([`hushbin::mechanism::pattern`]).
//!
//! A pattern has K bins and L outputs. Each estimate is the mean over reports of a weight that
//! depends on the output.
//!
//! [`PatternOutputShares::edges_of_quantile_intervals`] returns intervals that are valid for every
//! crowd. [`PatternOutputShares::smoothed_bin_shares`] fits a smooth curve to the shares of bins. A quantile is
//! estimated from this curve, and moved into its confidence interval.

mod probability_matrix;
pub(crate) mod quantile_claims;
mod smooth_curve;
#[cfg(test)]
mod tests;

pub(crate) use probability_matrix::expected_outputs;
pub(crate) use quantile_claims::PatternEdgeWeights;

use std::ops::{Add, Range};
use std::sync::{Arc, OnceLock};

use hushbin::solve::{cholesky_factorise, solve_with_cholesky_factor};

use self::quantile_claims::{
    EdgeEstimate, EdgeWeights, combine_claims, interval_edges, minimum_or_zero, quantile_claims,
};
use super::score::{CrowdBetweenNodes, ScoreDistribution, ScoredGroups};
use crate::estimate::counters::MIN_EXPECTED_COUNT;
use crate::estimate::point::{PointEstimate, SamplingModel};
use crate::numeric::confidence_limits::TailThresholds;

/// Fractions of an interval's failure probability that are assigned to its two sets of tests: those
/// of single edges, and those of averages over an eighth of the bins.
const FAILURE_FRACTIONS: [f64; 2] = [0.8, 0.2];

/// Share of reports with each output of a pattern. The shares of bins are estimated from these.
#[derive(Debug, Clone)]
pub(crate) struct PatternOutputShares {
    edge_weights: Arc<PatternEdgeWeights>,
    sampling_model: SamplingModel,
    /// Share of reports with each output.
    shares: Vec<f64>,
    /// Number of reports n.
    reports: f64,
    cached_bin_shares: OnceLock<Vec<f64>>,
}

impl PatternOutputShares {
    /// Computes the shares of outputs from `counts`, the number of reports with each output.
    /// Returns `None` if there are no reports.
    pub(crate) fn new(
        edges: Arc<PatternEdgeWeights>,
        whose: SamplingModel,
        counts: &[u64],
    ) -> Option<Self> {
        let reports = counts.iter().sum::<u64>() as f64;
        let shares = counts.iter().map(|own| *own as f64 / reports).collect();
        let patterned = Self {
            edge_weights: edges,
            sampling_model: whose,
            shares,
            reports,
            cached_bin_shares: OnceLock::new(),
        };
        (reports > 0.0).then_some(patterned)
    }

    /// Returns the number of reports n.
    pub(crate) fn report_count(&self) -> u64 {
        self.reports as u64
    }

    /// Returns the number of bins K.
    pub(crate) fn bin_count(&self) -> usize {
        self.edge_weights.pattern_probabilities.cell_count()
    }

    /// Returns the unbiased estimate of the share of people in a range of bins, with the
    /// distribution of its scores.
    pub(crate) fn share_and_score_distribution(
        &self,
        bins: Range<usize>,
    ) -> (PointEstimate, ScoreDistribution) {
        let weights = self
            .edge_weights
            .pattern_probabilities
            .range_indicator_weights(bins.clone());
        let rates = &self.edge_weights.pattern_probabilities;
        let worth = rates.output_weights_of_sum(&weights);
        let own = rates.variances_by_cell(&worth, &weights);
        let (estimate, variance) = self.weight_mean_and_variance(&worth);
        let share = estimate.clamp(0.0, 1.0);
        // For this share the true variance is at least this minimum. The observed variance of few
        // reports may be smaller.
        let others = minimum_or_zero(own[..bins.start].iter().chain(&own[bins.end..]));
        let floor = share * minimum_or_zero(&own[bins]) + (1.0 - share) * others;
        // The observed variance includes the variance from drawing people at random. Remove it if
        // the population is fixed.
        let drawn = share * (1.0 - share);
        let given = self.sampling_model == SamplingModel::FixedPopulation;
        let variance = (variance - drawn).max(floor) + if given { 0.0 } else { drawn };
        let point = PointEstimate::new(estimate, variance, self.reports);
        let law = ScoreDistribution {
            nodes: vec![
                (0.0, self.score_distribution_in_bins(&worth, &weights, 0.0)),
                (1.0, self.score_distribution_in_bins(&worth, &weights, 1.0)),
            ],
            is_fixed_population: given,
            crowd_between_nodes: CrowdBetweenNodes::NeighbourMixture,
        };
        (point, law)
    }

    /// Returns the score distribution of people in the bins whose entry in `weights` is `weight`.
    /// Scores are divided by the greatest score.
    ///
    /// These people are distributed over the bins as estimated, or evenly if all estimates are 0.
    fn score_distribution_in_bins(
        &self,
        worth: &[f64],
        weights: &[f64],
        weight: f64,
    ) -> ScoredGroups {
        let among = |own: &f64| *own == weight;
        let estimated = weights.iter().zip(self.nonnegative_bin_shares());
        let mut people: Vec<f64> = estimated
            .map(|(own, share)| if among(own) { *share } else { 0.0 })
            .collect();
        if people.iter().all(|share| *share == 0.0) {
            let own = weights.iter().map(|own| f64::from(u8::from(among(own))));
            people = own.collect();
        }
        let all: f64 = people.iter().sum();
        let most = worth.iter().fold(0.0, |most: f64, own| most.max(own.abs()));
        let chances =
            probability_matrix::expected_outputs(&self.edge_weights.pattern_probabilities, &people);
        let score = worth.iter().zip(chances);
        ScoredGroups::of_one_group(
            score
                .map(|(own, chance)| (own / most, chance / all))
                .collect(),
        )
    }

    /// Returns the estimated shares of bins, with negative ones set to 0.
    fn nonnegative_bin_shares(&self) -> &[f64] {
        self.cached_bin_shares.get_or_init(|| {
            let rates = &self.edge_weights.pattern_probabilities;
            let estimate = |bin| {
                let worth =
                    rates.output_weights_of_sum(&rates.range_indicator_weights(bin..bin + 1));
                self.weight_mean_and_variance(&worth).0.max(0.0)
            };
            (0..self.bin_count()).map(estimate).collect()
        })
    }

    /// Returns the confidence interval of each quantile, as the indices of the edges at its ends.
    /// Edge b is the lower end of bin b, and edge K is the upper end of the range.
    ///
    /// The quantiles are those of the population from which people are drawn. Each end fails with
    /// probability at most `failure`, up to the normal approximation. An end moves inwards only as
    /// long as the claim about each edge is made. So it passes the quantile only if the claim about
    /// the edge next to the quantile is false. Therefore the number of edges needs no correction.
    pub(crate) fn edges_of_quantile_intervals(
        &self,
        quantiles: &[f64],
        failure: f64,
    ) -> Vec<[usize; 2]> {
        let reach = FAILURE_FRACTIONS.map(|part| {
            TailThresholds::new(part * failure).normal_quantile() / self.reports.sqrt()
        });
        let [fine, more, less] = (self.edge_weights.fine_and_coarse_weights().each_ref())
            .map(|rows| self.edge_estimates(rows));
        let interval = |quantile: &f64| {
            let fine = quantile_claims([&fine, &fine], *quantile, reach[0], Add::add);
            // For some crowds, averages have no variance from drawing people. Otherwise that
            // variance is at most τ(1 − τ), which few reports at a large ε may not show.
            let coarse = quantile_claims([&more, &less], *quantile, reach[1], f64::max);
            interval_edges(fine.zip(coarse).map(combine_claims))
        };
        quantiles.iter().map(interval).collect()
    }

    /// Fits a smooth curve to the shares of bins, and returns the curve's share in each bin. The
    /// returned shares sum to 1.
    pub(crate) fn smoothed_bin_shares(&self) -> Vec<f64> {
        smooth_curve::fit_smooth_bin_shares(
            &self.edge_weights.pattern_probabilities,
            &self.shares,
            self.reports,
        )
        .1
    }

    /// Returns the χ² statistic of the best fit to the observed outputs, and the L − K degrees of
    /// freedom. L is the number of outputs, and K is the number of bins.
    ///
    /// The expected shares of the L outputs of honest reports satisfy L − K linear relations. The
    /// statistic measures how far the observed shares are from satisfying them. Returns `None` if L
    /// = K, or if some output has too few expected reports for a χ² distribution.
    pub(crate) fn chi_squared_misfit(&self) -> Option<(f64, usize)> {
        let (rates, bins) = (&self.edge_weights.pattern_probabilities, self.bin_count());
        let freedom = self.shares.len() - bins;
        if freedom == 0 {
            return None;
        }
        // The estimated shares sum to 1 before negative ones are set to 0, so the sum is at least
        // 1.
        let first = self.nonnegative_bin_shares();
        let total: f64 = first.iter().sum();
        let expected = probability_matrix::expected_outputs(rates, first);
        if self.reports * minimum_or_zero(&expected) < MIN_EXPECTED_COUNT * total {
            return None;
        }
        // Weighted least squares. The variances of outputs come from the estimated shares of bins.
        let over: Vec<f64> = expected.iter().map(|own| total / own).collect();
        let weighed = self.shares.iter().zip(&over).map(|(own, over)| own * over);
        let right = probability_matrix::transposed_product(rates, &weighed.collect::<Vec<f64>>());
        let mut gram = probability_matrix::weighted_gram_matrix(rates, &over);
        cholesky_factorise(&mut gram, bins);
        let fitted =
            probability_matrix::expected_outputs(rates, &solve_with_cholesky_factor(&gram, &right));
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

    /// Returns the mean weight of the reports' outputs, and the variance of the weight over
    /// reports. `worth` contains the weight of each output.
    fn weight_mean_and_variance(&self, worth: &[f64]) -> (f64, f64) {
        let pairs = || self.shares.iter().zip(worth);
        let mean: f64 = pairs().map(|(share, own)| share * own).sum();
        let square: f64 = pairs().map(|(share, own)| share * own * own).sum();
        // The variance of a single report is 0. Callers replace it by a minimum.
        let freedom = (self.reports - 1.0).max(1.0);
        let variance = (square - mean * mean) * self.reports / freedom;
        (mean, variance)
    }

    fn edge_estimates(&self, rows: &[EdgeWeights]) -> Vec<EdgeEstimate> {
        let estimate = |row: &EdgeWeights| {
            let (share, variance) = self.weight_mean_and_variance(&row.output_weights);
            let least = row.min_variances_by_edge_side;
            EdgeEstimate {
                share,
                output_weight_variance: variance,
                min_variances_by_edge_side: least,
            }
        };
        rows.iter().map(estimate).collect()
    }
}

/// Returns the position at which a distribution function reaches the value `quantile`, as a number
/// of bins from the first edge. The function is given by the shares of bins, which sum to 1. It is
/// linear within a bin.
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
