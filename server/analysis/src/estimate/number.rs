//! Answers about a number: its mean, its distribution function and its quantiles.

use hushbin::task::Scale;
use serde::Serialize;

use super::interval::{Estimate, Quantiles};
use super::law::normal_limit;
use super::one_answer::OneAnswer;

/// What a question about a number is answered with, beside the shares of its bins or
/// levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberEstimates {
    /// The unit of all that follows but shares, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The least and the greatest number; those beyond count as these.
    pub range: [f64; 2],
    /// The mean, where the question asks for it.
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
/// Within a bin people are taken as spread evenly. Of the distribution function the
/// estimate is what is nearest and does not fall (isotonic regression); intervals hold
/// every number at which the part may be met.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantileEstimate {
    /// The part, in (0, 1).
    pub quantile: f64,
    /// Of the numbers that it is met at, the least.
    pub estimate: f64,
    /// Covers the truth with the stated confidence, taken on its own.
    pub interval: [f64; 2],
    /// One of intervals that all cover, over all quantiles asked for (Bonferroni).
    pub simultaneous_interval: [f64; 2],
}

/// Answers of people whose numbers were put into the cells of `scale`.
pub(super) fn estimates(
    scale: &Scale,
    answers: &OneAnswer,
    quantiles: &[f64],
    confidence: &Quantiles,
) -> NumberEstimates {
    let edges = scale.edges();
    NumberEstimates {
        unit: scale.unit().map(str::to_owned),
        range: scale.range(),
        mean: edges.is_none().then(|| mean(scale, answers, confidence)),
        distribution: edges.map_or_else(Vec::new, |edges| {
            let inner = &edges[1..edges.len() - 1];
            distribution(inner, answers, &confidence.together(inner.len()))
        }),
        quantiles: edges.map_or_else(Vec::new, |edges| {
            let confidence = confidence.together(quantiles.len());
            let bands = Bands::new(edges, answers, &confidence);
            quantiles.iter().map(|&part| bands.quantile(part)).collect()
        }),
    }
}

fn mean(scale: &Scale, answers: &OneAnswer, confidence: &Quantiles) -> Estimate {
    let (point, law) = answers.mean_place();
    let place = confidence
        .together(1)
        .estimate(point, |failure, side| match &law {
            Some(law) => law.limit(point, answers.reports, failure, side),
            None => normal_limit(point, failure, side),
        });
    let [min, max] = scale.range();
    let at = |place: f64| min + (max - min) * place;
    Estimate {
        estimate: at(place.estimate),
        standard_error: (max - min) * place.standard_error,
        interval: place.interval.map(at),
        simultaneous_interval: place.simultaneous_interval.map(at),
    }
}

fn distribution(inner: &[f64], answers: &OneAnswer, confidence: &Quantiles) -> Vec<Below> {
    let below = |(&below, bins): (&f64, usize)| {
        let (point, law) = answers.among_first(bins);
        let share = confidence.estimate(point, |failure, side| {
            law.limit(point, answers.reports, failure, side)
        });
        Below { below, share }
    };
    inner.iter().zip(1..).map(below).collect()
}

/// What a distribution function may be, at every edge.
struct Bands<'a> {
    edges: &'a [f64],
    estimate: Vec<f64>,
    single: [Vec<f64>; 2],
    simultaneous: [Vec<f64>; 2],
}

impl<'a> Bands<'a> {
    fn new(edges: &'a [f64], answers: &OneAnswer, confidence: &Quantiles) -> Self {
        let below = distribution(&edges[1..edges.len() - 1], answers, confidence);
        // Nobody is below the first edge, everybody below the last.
        let with_ends = |inner: Vec<f64>| [vec![0.0], inner, vec![1.0]].concat();
        let of = |number: fn(&Estimate) -> f64| -> Vec<f64> {
            below.iter().map(|below| number(&below.share)).collect()
        };
        let mut rising = isotonic(&of(|share| share.estimate));
        rising
            .iter_mut()
            .for_each(|share| *share = share.clamp(0.0, 1.0));
        let [lower, upper] = [of(|share| share.interval[0]), of(|share| share.interval[1])];
        let low = of(|share| share.simultaneous_interval[0]);
        let high = of(|share| share.simultaneous_interval[1]);
        Self {
            edges,
            estimate: with_ends(rising),
            single: [lower, upper].map(with_ends),
            simultaneous: [low, high].map(with_ends),
        }
    }

    fn quantile(&self, part: f64) -> QuantileEstimate {
        let between =
            |[lower, upper]: &[Vec<f64>; 2]| [self.first(upper, part), self.last(lower, part)];
        QuantileEstimate {
            quantile: part,
            estimate: self.first(&self.estimate, part),
            interval: between(&self.single),
            simultaneous_interval: between(&self.simultaneous),
        }
    }

    /// Where the line through these shares at the edges first reaches `part`.
    fn first(&self, shares: &[f64], part: f64) -> f64 {
        let reached = shares.iter().position(|&share| share >= part);
        let next = reached.expect("the last share is 1");
        self.between(shares, next, part)
    }

    /// Where it is `part` for the last time.
    fn last(&self, shares: &[f64], part: f64) -> f64 {
        let left = shares.iter().rposition(|&share| share <= part);
        let before = left.expect("the first share is 0");
        self.between(shares, before + 1, part)
    }

    /// Where it is `part` between the edge before `next` and that.
    fn between(&self, shares: &[f64], next: usize, part: f64) -> f64 {
        let (low, high) = (shares[next - 1], shares[next]);
        let (from, to) = (self.edges[next - 1], self.edges[next]);
        from + (to - from) * (part - low) / (high - low)
    }
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
