//! Answers about a number: its mean, its distribution function and its quantiles.

use hushbin::task::{Limits, Scale};
use serde::Serialize;

use crate::estimate::law::{Layered, LayeredLaw, OneAnswer, ScoreLaw};
use crate::estimate::point::Point;
use crate::estimate::query::{Estimate, Quantiles};
use crate::numeric::limits::{Failure, Side};
use crate::numeric::roots::bisect;

/// What a question about a number is answered with, beside the shares of its bins or
/// levels.
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
/// Of the distribution function the estimate is what is nearest and does not fall
/// (isotonic regression), and between edges the smooth curve through it that does not
/// either. Intervals hold every number at which the part may be met.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantileEstimate {
    /// The part, in (0, 1).
    pub quantile: f64,
    /// Of the numbers that it is met at, the least.
    pub estimate: f64,
    /// Covers the truth with the stated confidence, taken on its own.
    pub interval: [f64; 2],
    /// One of intervals that all cover, over all quantiles asked for (Bonferroni).
    pub(crate) simultaneous_interval: [f64; 2],
    /// The edges around `interval`: these cover however people are spread within bins.
    pub edges: [f64; 2],
}

/// What reports say of a number's cells.
#[derive(Debug, Clone)]
pub(crate) enum Cells {
    /// Each of a cell.
    Flat(OneAnswer),
    /// Each of a node of a tree over bins.
    Layered(Layered),
}

impl Cells {
    /// Of what has no tree.
    ///
    /// # Panics
    /// If it has one.
    pub(crate) fn flat(&self) -> &OneAnswer {
        match self {
            Self::Flat(answers) => answers,
            Self::Layered(_) => panic!("trees are over the bins of a number"),
        }
    }

    /// The share of people in the first so many.
    fn below(&self, cells: usize) -> (Point, SumLaw) {
        match self {
            Self::Flat(answers) => {
                let (point, law) = answers.among(0..cells);
                (point, SumLaw::Flat(law, answers.reports))
            }
            Self::Layered(layered) => {
                let (point, law) = layered.below(cells);
                (point, SumLaw::Layered(law))
            }
        }
    }
}

/// The law of a sum of shares.
enum SumLaw {
    /// Of so many reports.
    Flat(ScoreLaw, u64),
    Layered(LayeredLaw),
}

impl SumLaw {
    fn limit(&self, point: Point, failure: &Failure, side: Side) -> f64 {
        match self {
            Self::Flat(law, reports) => law.limit(point, *reports, failure, side),
            Self::Layered(law) => law.limit(point, failure, side),
        }
    }
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
    let mut found = NumberEstimates {
        unit: scale.unit().map(str::to_owned),
        range: scale.range(),
        mean: None,
        distribution: Vec::new(),
        quantiles: Vec::new(),
    };
    let edges = scale.edges().expect("a number alone has bins");
    let distribution = Distribution::new(edges, cells);
    found.distribution = distribution.below(&confidence.together(edges.len() - 2));
    let bands = Bands::new(&distribution, &confidence.together(quantiles.len()));
    found.quantiles = quantiles.iter().map(|&part| bands.quantile(part)).collect();
    found
}

/// The share of people below each edge between two bins, and the law of its noise.
struct Distribution<'a> {
    edges: &'a [f64],
    inner: Vec<(Point, SumLaw)>,
}

impl<'a> Distribution<'a> {
    fn new(edges: &'a [f64], cells: &Cells) -> Self {
        let inner = 1..edges.len() - 1;
        Self {
            edges,
            inner: inner.map(|bins| cells.below(bins)).collect(),
        }
    }

    fn below(&self, confidence: &Quantiles) -> Vec<Below> {
        let below = |(&below, (point, law)): (&f64, &(Point, SumLaw))| {
            let share =
                confidence.estimate(*point, |failure, side| law.limit(*point, failure, side));
            Below { below, share }
        };
        self.edges[1..].iter().zip(&self.inner).map(below).collect()
    }
}

/// What a distribution function may be.
struct Bands {
    curve: Monotone,
    /// By how much it may be higher at each edge, or lower where negative.
    single: [Vec<f64>; 2],
    simultaneous: [Vec<f64>; 2],
}

impl Bands {
    fn new(distribution: &Distribution<'_>, confidence: &Quantiles) -> Self {
        let below = distribution.below(confidence);
        // Nobody is below the first edge, everybody below the last.
        let with_ends = |inner: Vec<f64>| [vec![0.0], inner, vec![1.0]].concat();
        let of = |number: fn(&Estimate) -> f64| -> Vec<f64> {
            below.iter().map(|below| number(&below.share)).collect()
        };
        let mut rising = isotonic(&of(|share| share.estimate));
        rising
            .iter_mut()
            .for_each(|share| *share = share.clamp(0.0, 1.0));
        let rising = with_ends(rising);
        let beside = |limits: Vec<f64>| {
            let limits = with_ends(limits).into_iter().zip(&rising);
            limits.map(|(limit, share)| limit - share).collect()
        };
        let [lower, upper] = [of(|share| share.interval[0]), of(|share| share.interval[1])];
        let low = of(|share| share.simultaneous_interval[0]);
        let high = of(|share| share.simultaneous_interval[1]);
        Self {
            single: [lower, upper].map(beside),
            simultaneous: [low, high].map(beside),
            curve: Monotone::new(distribution.edges, &rising),
        }
    }

    fn quantile(&self, part: f64) -> QuantileEstimate {
        let none = vec![0.0; self.curve.places.len()];
        let between =
            |[lower, upper]: &[Vec<f64>; 2]| [self.first(upper, part), self.last(lower, part)];
        let interval = between(&self.single);
        QuantileEstimate {
            quantile: part,
            estimate: self.first(&none, part),
            interval,
            edges: self.around(interval),
            simultaneous_interval: between(&self.simultaneous),
        }
    }

    fn around(&self, [low, high]: [f64; 2]) -> [f64; 2] {
        let edges = &self.curve.places;
        let after = edges.partition_point(|edge| *edge < high);
        let before = edges.partition_point(|edge| *edge <= low) - 1;
        [edges[before], edges[after]]
    }

    /// Where the curve, moved by so much at the edges, first reaches `part`.
    fn first(&self, moved: &[f64], part: f64) -> f64 {
        let mut shares = self.curve.values.iter().zip(moved);
        let reached = shares.position(|(share, by)| share + by >= part);
        self.between(moved, reached.expect("the last share is 1"), part)
    }

    /// Where it is `part` for the last time.
    fn last(&self, moved: &[f64], part: f64) -> f64 {
        let mut shares = self.curve.values.iter().zip(moved);
        let left = shares.rposition(|(share, by)| share + by <= part);
        self.between(moved, left.expect("the first share is 0") + 1, part)
    }

    /// Where it is `part` between the edge before `next` and that.
    fn between(&self, moved: &[f64], next: usize, part: f64) -> f64 {
        let places = &self.curve.places;
        let (from, to) = (places[next - 1], places[next]);
        let (low, high) = (moved[next - 1], moved[next]);
        let share = |place: f64| {
            let way = (place - from) / (to - from);
            self.curve.within(next, way) + low + (high - low) * way
        };
        let near = |a: f64, b: f64| ((b - a).abs() > SAME * (to - from)).then_some(0.5 * (a + b));
        bisect(from, to, near, |place| share(place) < part).1
    }
}

/// To which part of a bin a quantile is found.
const SAME: f64 = 1e-9;

/// A curve of third order through values that do not fall, which does not either (Fritsch
/// and Carlson 1980): slopes at inner places are the mean of those beside, but no more
/// than three times the lesser.
struct Monotone {
    places: Vec<f64>,
    values: Vec<f64>,
    slopes: Vec<f64>,
}

impl Monotone {
    fn new(places: &[f64], values: &[f64]) -> Self {
        let secants: Vec<f64> = places
            .windows(2)
            .zip(values.windows(2))
            .map(|(place, value)| (value[1] - value[0]) / (place[1] - place[0]))
            .collect();
        let inner = secants.windows(2).map(|pair| {
            let (before, after) = (pair[0], pair[1]);
            (0.5 * (before + after)).min(3.0 * before.min(after))
        });
        let ends = [secants[0], secants[secants.len() - 1]];
        Self {
            places: places.to_vec(),
            values: values.to_vec(),
            slopes: [ends[0]]
                .into_iter()
                .chain(inner)
                .chain([ends[1]])
                .collect(),
        }
    }

    /// At this part of the way to the place `next`.
    fn within(&self, next: usize, way: f64) -> f64 {
        let step = self.places[next] - self.places[next - 1];
        let [low, high] = [self.values[next - 1], self.values[next]];
        let [out, into] = [self.slopes[next - 1], self.slopes[next]].map(|slope| slope * step);
        let back = 1.0 - way;
        low + (high - low) * way * way * (3.0 - 2.0 * way) + way * back * (out * back - into * way)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_go_through_their_values_and_do_not_fall() {
        let places = [0.0, 1.0, 1.5, 4.0, 4.1, 9.0];
        let values = [0.0, 0.3, 0.3, 0.31, 0.8, 1.0];
        let curve = Monotone::new(&places, &values);
        let mut before = 0.0;
        for (next, value) in (1..places.len()).zip(&values[1..]) {
            for step in 0..=100 {
                let at = curve.within(next, f64::from(step) / 100.0);
                assert!(at >= before - 1e-12, "{next}, {step}: {at} after {before}");
                before = at;
            }
            assert!((before - value).abs() < 1e-12);
        }
        // What is straight stays so.
        let straight = Monotone::new(&places, &places);
        assert!((straight.within(3, 0.3) - 2.25).abs() < 1e-12);
    }

    #[test]
    fn what_falls_is_pooled() {
        assert_eq!(isotonic(&[0.1, 0.2, 0.3]), [0.1, 0.2, 0.3]);
        assert_eq!(isotonic(&[0.5, 0.25, 0.75]), [0.375, 0.375, 0.75]);
        assert_eq!(isotonic(&[3.0, 2.0, 1.0]), [2.0; 3]);
        assert_eq!(isotonic(&[]), [0.0; 0]);
    }
}
