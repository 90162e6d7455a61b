//! Estimates of a question for a number: mean, distribution function and quantiles.

use hushbin::task::{NumberLimits, NumberScale};
use serde::Serialize;

use super::ratio::CrossRow;
use crate::estimate::distribution::CellOrOutputCounts;
use crate::estimate::distribution::pattern_output_shares::{
    quantile_claims::interval_edges, quantile_position,
};
use crate::estimate::query::{ConfidenceLevel, Estimate};
use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

/// Estimates of a number, in addition to the shares of its bins or levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberEstimates {
    /// Unit of all values except shares. `None` if the question states no unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Minimum and maximum of the number. Numbers outside this range are clipped to it.
    pub range: [f64; 2],
    /// Mean. `None` if the question has bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Estimate>,
    /// Share of people whose number is below each edge between two bins. A person without a number
    /// is below no edge. Empty unless the question has bins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distribution: Vec<ShareBelowEdge>,
    /// Estimates of the requested quantiles. Empty unless the question has bins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<QuantileEstimate>,
}

/// Share of people below one edge between two bins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ShareBelowEdge {
    /// Edge, in the unit of the number.
    pub below: f64,
    /// Share, in [0, 1].
    #[serde(flatten)]
    pub share: Estimate,
}

/// Estimate of a quantile: a number below which a given fraction of people's numbers lie. People
/// without a number do not count.
///
/// The interval is found by testing each edge between bins. The quantile is at most an edge if the
/// share of people below the edge is significantly at least the fraction. The quantile is at least
/// an edge if that share is significantly smaller than the fraction. The interval is valid for all
/// distributions of numbers, even if numbers are rounded or many people have the same one. If the
/// number of people with a number may be 0, the interval is the whole range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantileEstimate {
    /// Fraction of people below the quantile, in (0, 1).
    pub quantile: f64,
    /// Smallest number at which the fitted distribution function reaches the fraction.
    ///
    /// The fitted function is smooth if reports are outputs of a pattern, and otherwise the closest
    /// non-decreasing function (isotonic regression). It is linear between edges. The result is
    /// then moved into `interval`. If the question states a step, the result is rounded to a
    /// possible number.
    pub estimate: f64,
    /// Confidence interval for this quantile alone.
    ///
    /// Both ends are edges of bins. If the question states a step, they are instead the smallest
    /// and greatest possible number between two edges.
    pub interval: [f64; 2],
    /// Simultaneous confidence interval, for all requested quantiles at once (Bonferroni).
    pub simultaneous_interval: [f64; 2],
    /// True if the estimate was outside the interval and was moved to an end of the interval.
    pub clamped: bool,
}

/// Returns the estimates of a number that has a minimum and maximum but no bins. Only the mean is
/// estimated.
pub(crate) fn mean_only_estimates(limits: &NumberLimits, mean: Estimate) -> NumberEstimates {
    NumberEstimates {
        unit: limits.unit().map(str::to_owned),
        range: limits.range(),
        mean: Some(mean),
        distribution: Vec::new(),
        quantiles: Vec::new(),
    }
}

/// Computes the estimates of a number whose values were assigned to the bins of `scale`.
/// `quantiles` are the requested fractions.
pub(crate) fn estimate_number(
    scale: &NumberScale,
    cells: &CellOrOutputCounts,
    quantiles: &[f64],
    confidence: &ConfidenceLevel,
) -> NumberEstimates {
    let edges = scale.edges().expect("a number alone has bins");
    let bins = scale.level_or_bin_count() as usize;
    // Simultaneous intervals cover the distribution function at all inner edges at once.
    let band = confidence.for_simultaneous_intervals(bins - 1);
    let below = |bins: usize| ShareBelowEdge {
        below: edges[bins],
        share: share_of_first_bins(cells, bins, &band),
    };
    let distribution: Vec<ShareBelowEdge> = (1..bins).map(below).collect();
    let shares = match cells {
        _ if quantiles.is_empty() => Vec::new(),
        CellOrOutputCounts::PatternOutputs(patterned) => patterned.smoothed_bin_shares(),
        CellOrOutputCounts::CellHits(_) => {
            // If no person has a number, the estimated share of people with a number may be negative.
            // The estimates of quantiles are then arbitrary, and the intervals are the whole range.
            let with_number = match scale.is_optional() {
                true => share_of_first_bins(cells, bins, confidence)
                    .estimate
                    .max(f64::EPSILON),
                false => 1.0,
            };
            let below = distribution
                .iter()
                .map(|own| own.share.estimate / with_number);
            isotonic_bin_shares(&below.collect::<Vec<f64>>())
        }
    };
    let failure = 0.5 * (1.0 - confidence.confidence());
    let intervals = |failure| quantile_interval_edges(scale, cells, quantiles, failure);
    let together = failure / quantiles.len().max(1) as f64;
    let intervals = intervals(failure).into_iter().zip(intervals(together));
    let quantile = |(&part, (own, all)): (&f64, ([usize; 2], [usize; 2]))| {
        let [interval, simultaneous_interval] = [own, all].map(|[lower, upper]| {
            // If there is a step, interval ends are possible numbers, which are half a step inside
            // the edges. Otherwise the step is 0.
            let inside = 0.5 * scale.value_step();
            [edges[lower] + inside, edges[upper] - inside]
        });
        let reached = quantile_position(&shares, part);
        let bin = (reached as usize).min(bins - 1);
        let found = edges[bin] + (reached - bin as f64) * (edges[bin + 1] - edges[bin]);
        QuantileEstimate {
            quantile: part,
            estimate: nearest_possible_number(scale, found).clamp(interval[0], interval[1]),
            interval,
            simultaneous_interval,
            // Compare with the edges, before rounding to a possible number.
            clamped: !(edges[own[0]]..=edges[own[1]]).contains(&found),
        }
    };
    NumberEstimates {
        unit: scale.unit().map(str::to_owned),
        range: scale.range(),
        mean: None,
        distribution,
        quantiles: quantiles.iter().zip(intervals).map(quantile).collect(),
    }
}

/// Returns the nearest number that the question permits: the minimum plus a multiple of the step.
fn nearest_possible_number(scale: &NumberScale, number: f64) -> f64 {
    let ([least, _], step) = (scale.range(), scale.value_step());
    if step > 0.0 {
        least + ((number - least) / step).round() * step
    } else {
        number
    }
}

/// Returns the estimated share of people in the first `bins` bins.
fn share_of_first_bins(
    cells: &CellOrOutputCounts,
    bins: usize,
    confidence: &ConfidenceLevel,
) -> Estimate {
    let ((point, law), reports) = match cells {
        CellOrOutputCounts::CellHits(answers) => (
            answers.share_and_score_distribution(0..bins),
            answers.reports,
        ),
        CellOrOutputCounts::PatternOutputs(patterned) => (
            patterned.share_and_score_distribution(0..bins),
            patterned.report_count(),
        ),
    };
    confidence.estimate_with_intervals(point, |failure, side| {
        law.confidence_limit(point, reports, failure, side)
    })
}

/// Returns, for each quantile, the indices of the two edges that bound the confidence interval.
/// Each end fails with probability at most `failure`.
fn quantile_interval_edges(
    scale: &NumberScale,
    cells: &CellOrOutputCounts,
    quantiles: &[f64],
    failure: f64,
) -> Vec<[usize; 2]> {
    let bins = scale.level_or_bin_count() as usize;
    let answers = match cells {
        CellOrOutputCounts::PatternOutputs(patterned) => {
            return patterned.edges_of_quantile_intervals(quantiles, failure);
        }
        CellOrOutputCounts::CellHits(answers) => answers,
    };
    let failure = TailThresholds::new(failure);
    if scale.is_optional() {
        // People with a number are like a row of a cross-tabulation, and bins are its columns.
        let share = answers.share_and_score_distribution(0..bins);
        let with_number = CrossRow::new(answers, share, 0..bins);
        let claims = |part: &f64| {
            let at = |below| with_number.claims_about_quantile(below, *part, &failure);
            interval_edges((1..bins).map(at))
        };
        return quantiles.iter().map(claims).collect();
    }
    let limits = |bins| {
        let (point, law) = answers.share_and_score_distribution(0..bins);
        [LimitSide::Lower, LimitSide::Upper]
            .map(|side| law.confidence_limit(point, answers.reports, &failure, side))
    };
    let limits: Vec<[f64; 2]> = (1..bins).map(limits).collect();
    let of = |part: &f64| {
        interval_edges(
            limits
                .iter()
                .map(|[low, high]| [*high < *part, *low >= *part]),
        )
    };
    quantiles.iter().map(of).collect()
}

/// Fits a non-decreasing distribution function to estimates of the shares below the inner edges
/// (least squares), and returns the share of each bin.
pub(crate) fn isotonic_bin_shares(below: &[f64]) -> Vec<f64> {
    let below = isotonic_regression(below);
    let mut before = 0.0;
    let share = |own: f64| own - std::mem::replace(&mut before, own);
    // Clamping keeps the function non-decreasing. Its value at the last edge is 1.
    let clamped = below.into_iter().map(|own| own.clamp(0.0, 1.0));
    clamped.chain([1.0]).map(share).collect()
}

/// Returns the non-decreasing sequence that is closest to `values` (least squares), by pooling
/// adjacent violators (Ayer, Brunk, Ewing, Reid, Silverman 1955).
fn isotonic_regression(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for &value in values {
        let mut pool = (value, 1);
        while let Some(&(sum, count)) = pools.last() {
            // Stop if the mean sum/count is at most pool.0/pool.1, compared without division.
            if sum * (pool.1 as f64) <= pool.0 * (count as f64) {
                break;
            }
            pool = (pool.0 + sum, pool.1 + count);
            pools.pop();
        }
        pools.push(pool);
    }
    let mean = |(sum, count): (f64, usize)| std::iter::repeat_n(sum / count as f64, count);
    pools.into_iter().flat_map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_is_pooled() {
        assert_eq!(isotonic_regression(&[0.1, 0.2, 0.3]), [0.1, 0.2, 0.3]);
        assert_eq!(
            isotonic_regression(&[0.5, 0.25, 0.75]),
            [0.375, 0.375, 0.75]
        );
        assert_eq!(isotonic_regression(&[3.0, 2.0, 1.0]), [2.0; 3]);
        assert_eq!(isotonic_regression(&[]), [0.0; 0]);
    }
}
