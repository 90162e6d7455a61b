//! Answers about a number: its mean, its distribution function and its quantiles.

use hushbin::task::{Limits, Scale};
use serde::Serialize;

use crate::estimate::law::Cells;
use crate::estimate::law::patterned::{claims::ends, reached};
use crate::estimate::query::{Estimate, Quantiles};
use crate::numeric::limits::{Failure, Side};

/// What a question about a number is answered with, beside the shares of its bins or levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberEstimates {
    /// The unit of all that follows but shares, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The least and the greatest number; those beyond count as these.
    pub range: [f64; 2],
    /// The mean, where no bins are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Estimate>,
    /// The distribution function at each edge between two bins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distribution: Vec<Below>,
    /// The quantiles asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<QuantileEstimate>,
}

/// The share of people with less than an edge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Below {
    /// The edge.
    pub below: f64,
    /// The share, in [0, 1].
    #[serde(flatten)]
    pub share: Estimate,
}

/// A number that a part of people lie below.
///
/// The interval tests each edge: a quantile is at most an edge where the share of people
/// below it is surely the part or more, and at least an edge where it is surely less. It holds
/// whatever people's numbers are, rounded or all alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantileEstimate {
    /// The part, in (0, 1).
    pub quantile: f64,
    /// The least number of which the part is reached, by the distribution function that fits
    /// best: of a pattern a smooth one, else one that does not fall (isotonic regression).
    /// It is taken to be straight between edges, and is moved into `interval`. Of a number with a
    /// step it is one of the possible numbers.
    pub estimate: f64,
    /// Covers the truth with the stated confidence, taken on its own. Both are edges, or of a
    /// number with a step the least and the greatest number between two edges.
    pub interval: [f64; 2],
    /// One of intervals that all cover, over all quantiles asked for (Bonferroni).
    pub simultaneous_interval: [f64; 2],
    /// Whether the estimate was outside the interval, and is at its end.
    pub clamped: bool,
}

/// The answer where a number has limits and no bins.
pub(crate) fn of_mean(limits: &Limits, mean: Estimate) -> NumberEstimates {
    NumberEstimates {
        unit: limits.unit().map(str::to_owned),
        range: limits.range(),
        mean: Some(mean),
        distribution: Vec::new(),
        quantiles: Vec::new(),
    }
}

/// Answers of people whose numbers were put into the cells of `scale`.
pub(crate) fn estimates(
    scale: &Scale,
    cells: &Cells,
    quantiles: &[f64],
    confidence: &Quantiles,
) -> NumberEstimates {
    let edges = scale.edges().expect("a number alone has bins");
    let bins = edges.len() - 1;
    let band = confidence.together(bins - 1);
    let below = |bins: usize| Below {
        below: edges[bins],
        share: share(cells, bins, &band),
    };
    let distribution: Vec<Below> = (1..bins).map(below).collect();
    let shares = match cells {
        _ if quantiles.is_empty() => Vec::new(),
        Cells::Patterned(patterned) => patterned.smooth(),
        Cells::Flat(_) => rising(&distribution),
    };
    let failure = 0.5 * (1.0 - confidence.confidence());
    let intervals = |failure| within(cells, bins, quantiles, failure);
    let together = failure / quantiles.len().max(1) as f64;
    let intervals = intervals(failure).into_iter().zip(intervals(together));
    let quantile = |(&part, (own, all)): (&f64, ([usize; 2], [usize; 2]))| {
        let [interval, simultaneous_interval] = [own, all].map(|[lower, upper]| {
            let inside = 0.5 * scale.step();
            [edges[lower] + inside, edges[upper] - inside]
        });
        let reached = reached(&shares, part);
        let bin = (reached as usize).min(bins - 1);
        let found = edges[bin] + (reached - bin as f64) * (edges[bin + 1] - edges[bin]);
        QuantileEstimate {
            quantile: part,
            estimate: possible(scale, found).clamp(interval[0], interval[1]),
            interval,
            simultaneous_interval,
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

/// Returns the nearest number that is possible.
fn possible(scale: &Scale, number: f64) -> f64 {
    let ([least, _], step) = (scale.range(), scale.step());
    if step > 0.0 {
        least + ((number - least) / step).round() * step
    } else {
        number
    }
}

/// The share of people in the first so many bins.
fn share(cells: &Cells, bins: usize, confidence: &Quantiles) -> Estimate {
    let ((point, law), reports) = match cells {
        Cells::Flat(answers) => (answers.among(0..bins), answers.reports),
        Cells::Patterned(patterned) => (patterned.among(0..bins), patterned.reports()),
    };
    confidence.estimate(point, |failure, side| {
        law.limit(point, reports, failure, side)
    })
}

/// Between which edges each quantile is, on either side with this probability of failure.
fn within(cells: &Cells, bins: usize, quantiles: &[f64], failure: f64) -> Vec<[usize; 2]> {
    let answers = match cells {
        Cells::Patterned(patterned) => return patterned.quantile_edges(quantiles, failure),
        Cells::Flat(answers) => answers,
    };
    let failure = Failure::new(failure);
    let limits = |bins| {
        let (point, law) = answers.among(0..bins);
        [Side::Lower, Side::Upper].map(|side| law.limit(point, answers.reports, &failure, side))
    };
    let limits: Vec<[f64; 2]> = (1..bins).map(limits).collect();
    let of = |part: &f64| {
        ends(
            limits
                .iter()
                .map(|[low, high]| [*high < *part, *low >= *part]),
        )
    };
    quantiles.iter().map(of).collect()
}

/// Shares of bins of the distribution function that is nearest and does not fall.
fn rising(distribution: &[Below]) -> Vec<f64> {
    let below = isotonic(
        &distribution
            .iter()
            .map(|own| own.share.estimate)
            .collect::<Vec<_>>(),
    );
    let mut before = 0.0;
    let share = |own: f64| own - std::mem::replace(&mut before, own);
    let clamped = below.into_iter().map(|own| own.clamp(0.0, 1.0));
    clamped.chain([1.0]).map(share).collect()
}

/// The nearest in squares that does not fall: pools adjacent violators (Ayer, Brunk,
/// Ewing, Reid, Silverman 1955).
fn isotonic(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for &value in values {
        let mut pool = (value, 1);
        while let Some(&(sum, count)) = pools.last() {
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
        assert_eq!(isotonic(&[0.1, 0.2, 0.3]), [0.1, 0.2, 0.3]);
        assert_eq!(isotonic(&[0.5, 0.25, 0.75]), [0.375, 0.375, 0.75]);
        assert_eq!(isotonic(&[3.0, 2.0, 1.0]), [2.0; 3]);
        assert_eq!(isotonic(&[]), [0.0; 0]);
    }
}
