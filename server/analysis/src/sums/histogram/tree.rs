//! Histograms of a number on several levels, combined by least squares.
//!
//! The cells of the last level are the bins. A cell of a coarser level covers several cells of the
//! next one, always the same number except in the last cell. A person sends one own message for each
//! level. All cells of all levels have noise of the same mean λ, and the number T of noise messages
//! among the w cells of a level is known. So the best linear estimates of all cells minimise the sum
//! of squared differences to N − T/w, under the condition that they add up, from the bins to all n
//! people.
//!
//! Two passes compute them (Hay, Rastogi, Miklau, Suciu, "Boosting the Accuracy of Differentially
//! Private Histograms Through Consistency", 2010). Upwards, z of a cell is the mean of its N −
//! T/w with weight α, and of the sum of its children's z with weight 1 − α. If V is the sum of the
//! children's variances in units of λ, then α = V/(1 + V), which is also the variance of z. On the
//! last level α = 1. Downwards, a cell h passes h − Σ z on to the children, in proportion to the
//! children's variances.
//!
//! A sum of bins is linear in N. Its weights follow from one path through the tree: the first bin
//! after the sum (or the only one in it) and all cells that contain this bin.

use hushbin::Error;
use hushbin::bounds::NUMBER_BIN_COUNT_RANGE;

use super::cells::{CellNoise, binomial_limit};
use crate::numeric::confidence_limits::{LimitSide, SumForConfidenceLimits, TailThresholds};

/// Levels of a histogram of a number, from the coarsest to the bins.
#[derive(Debug, Clone, PartialEq)]
pub struct BinTree {
    /// Number of bins in a cell, by level. It is 1 on the last level.
    spans: Vec<u32>,
    /// Weight α of the own count of each cell, by level.
    own_weights: Vec<Vec<f64>>,
}

/// Sum of bins that is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinSum {
    /// Sum of all bins before this one.
    Before(u32),
    /// Sum of this bin alone.
    One(u32),
}

/// Numbers of consecutive cells of one level that have the same weight, and that weight.
type LevelWeights = Vec<(f64, f64)>;

impl BinTree {
    /// Creates the levels of a number in `bins` bins. `spans` has the number of bins in a cell of each
    /// level above the bins, coarsest first. The last cell of a level covers the remaining bins.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the number of bins is not between 2 and 4096.
    /// [`Error::InvalidCombination`] if levels do not nest: each span must be a multiple of the next
    /// one, larger than it, and smaller than the number of bins.
    pub fn new(bins: u32, spans: &[u32]) -> Result<Self, Error> {
        NUMBER_BIN_COUNT_RANGE.check_in_range(f64::from(bins))?;
        let spans = [spans, &[1]].concat();
        let nests =
            |pair: &[u32]| pair[1] > 0 && pair[0] > pair[1] && pair[0].is_multiple_of(pair[1]);
        if !spans.windows(2).all(nests) || spans[0] >= bins {
            return Err(Error::InvalidCombination {
                reason: "levels of bins do not nest: expected each cell to have several whole cells of \
                         the next level, and fewer than all bins",
            });
        }
        let widths = spans.iter().map(|span| bins.div_ceil(*span) as usize);
        let mut tree = Self {
            own_weights: widths.map(|width| vec![1.0; width]).collect(),
            spans,
        };
        for level in (1..tree.spans.len()).rev() {
            let below: Vec<f64> = tree.families(level, &tree.own_weights[level]).collect();
            let own = below.iter().map(|sum| sum / (1.0 + sum));
            tree.own_weights[level - 1] = own.collect();
        }
        Ok(tree)
    }

    /// Returns the number of cells of each level, coarsest first.
    pub fn widths(&self) -> impl ExactSizeIterator<Item = usize> {
        self.own_weights.iter().map(Vec::len)
    }

    /// Returns the number of bins b.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.own_weights[self.spans.len() - 1].len()
    }

    /// Returns the variance of the estimated number of people in the first `bins` bins, in units of
    /// the variance λ of one cell's noise.
    ///
    /// ```
    /// use hushbin_analysis::sums::BinTree;
    ///
    /// // λ·m·(1 − m/b) for a plain histogram.
    /// assert_eq!(BinTree::new(32, &[])?.variance_below(8), 6.0);
    /// assert!(BinTree::new(32, &[4])?.variance_below(8) < 1.8);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `bins` is not below the number of bins.
    #[must_use]
    pub fn variance_below(&self, bins: u32) -> f64 {
        self.unit_variance(BinSum::Before(bins))
    }

    /// Returns the variance of the estimated number of people in one bin, in units of the variance λ
    /// of one cell's noise.
    ///
    /// # Panics
    /// If `bin` is not below the number of bins.
    #[must_use]
    pub fn variance_of_bin(&self, bin: u32) -> f64 {
        self.unit_variance(BinSum::One(bin))
    }

    fn unit_variance(&self, sum: BinSum) -> f64 {
        let spread = |(weights, width): (LevelWeights, usize)| {
            width as f64 * weight_variance(&weights, width as f64)
        };
        self.weights(sum)
            .into_iter()
            .zip(self.widths())
            .map(spread)
            .sum()
    }

    /// Returns the maximum number of cells of this level that one cell above them covers.
    fn fan_out(&self, level: usize) -> usize {
        match level {
            0 => self.own_weights[0].len(),
            _ => (self.spans[level - 1] / self.spans[level]) as usize,
        }
    }

    /// Returns the sum of values of the children of each cell above this level.
    fn families(&self, level: usize, values: &[f64]) -> impl Iterator<Item = f64> {
        values
            .chunks(self.fan_out(level))
            .map(|family| family.iter().sum())
    }

    /// Returns the weights of the counts of each level in a sum of bins.
    pub(super) fn weights(&self, sum: BinSum) -> Vec<LevelWeights> {
        let (bin, before, mut part) = match sum {
            BinSum::Before(bin) => (bin, 1.0, 0.0),
            BinSum::One(bin) => (bin, 0.0, 1.0),
        };
        let levels = self.spans.len();
        // Weights of z among the children of the path's cells. A cell of the path passes what it has
        // beyond its children's sum. A share of that belongs to the sum, so each child's z counts that
        // much less than the child itself.
        let mut direct = Vec::new();
        for level in (0..levels).rev() {
            let path = (bin / self.spans[level]) as usize;
            let first = path - path % self.fan_out(level);
            let variances = &self.own_weights[level][first..];
            let family = &variances[..self.fan_out(level).min(variances.len())];
            let counted = |index: usize| match index.cmp(&(path - first)) {
                std::cmp::Ordering::Less => before,
                std::cmp::Ordering::Equal => part,
                std::cmp::Ordering::Greater => 0.0,
            };
            let whole = family.iter().sum::<f64>();
            let of = |(index, variance): (usize, &f64)| counted(index) * variance / whole;
            let shared: f64 = family.iter().enumerate().map(of).sum();
            let own: Vec<f64> = (0..family.len())
                .map(|index| counted(index) - shared)
                .collect();
            direct.push((first, own));
            part = shared;
        }
        // Downwards: a cell's z is a mean that contains the z of its children.
        let mut passed = vec![0.0];
        let mut all = Vec::new();
        for (level, (first, direct)) in direct.into_iter().rev().enumerate() {
            let own_weights = &self.own_weights[level];
            let fan_out = self.fan_out(level);
            let mut weights: Vec<f64> = (0..own_weights.len())
                .map(|cell| passed[cell / fan_out])
                .collect();
            for (weight, own) in weights[first..].iter_mut().zip(direct) {
                *weight += own;
            }
            let own = weights.iter().zip(own_weights);
            all.push(runs(own.clone().map(|(weight, own)| weight * own)));
            passed = own.map(|(weight, own)| weight * (1.0 - own)).collect();
        }
        all
    }

    /// Returns the estimated number of people in each bin. `cells` has, for each level, N − T/w of each
    /// cell. Each level has a sum of `people`.
    pub(super) fn least_squares(&self, cells: &[Vec<f64>], people: f64) -> Vec<f64> {
        let mut means = cells.to_vec();
        for level in (1..cells.len()).rev() {
            let sums: Vec<f64> = self.families(level, &means[level]).collect();
            let own = self.own_weights[level - 1].iter();
            for ((mean, sum), own) in means[level - 1].iter_mut().zip(sums).zip(own) {
                *mean = own * *mean + (1.0 - own) * sum;
            }
        }
        let mut found = vec![people];
        for (level, means) in means.iter().enumerate() {
            let sums = self
                .families(level, means)
                .zip(self.families(level, &self.own_weights[level]));
            let rest: Vec<f64> = found
                .iter()
                .zip(sums)
                .map(|(whole, (sum, own))| (whole - sum) / own)
                .collect();
            let children = means.iter().zip(&self.own_weights[level]).enumerate();
            let fan_out = self.fan_out(level);
            found = children
                .map(|(cell, (mean, own))| mean + own * rest[cell / fan_out])
                .collect();
        }
        found
    }
}

/// Counts consecutive equal weights.
fn runs(weights: impl Iterator<Item = f64>) -> LevelWeights {
    let mut all = LevelWeights::new();
    for weight in weights {
        match all.last_mut() {
            Some((count, last)) if *last == weight => *count += 1.0,
            _ => all.push((1.0, weight)),
        }
    }
    all
}

/// Returns the variance of the weight of a cell that is drawn uniformly from a level of `width`.
fn weight_variance(weights: &LevelWeights, width: f64) -> f64 {
    let mean = weight_mean(weights, width);
    let square = |(count, weight): &(f64, f64)| count * (weight - mean).powi(2);
    weights.iter().map(square).sum::<f64>() / width
}

fn weight_mean(weights: &LevelWeights, width: f64) -> f64 {
    weights
        .iter()
        .map(|(count, weight)| count * weight)
        .sum::<f64>()
        / width
}

/// Returns the lowest and the highest weight of a level.
fn extreme_weights(weights: &LevelWeights) -> [f64; 2] {
    let all = || weights.iter().map(|(_, weight)| *weight);
    [
        all().fold(f64::MAX, f64::min),
        all().fold(f64::MIN, f64::max),
    ]
}

/// Noise of an estimated sum of bins, given the number of noise messages of each level.
#[derive(Debug)]
pub(super) struct BinSumNoise {
    /// Noise, number w of cells and the weights of the cells, by level.
    levels: Vec<(CellNoise, f64, LevelWeights)>,
}

/// Largest product of a weight and the argument of the cumulant generating function that the search
/// for limits tries.
const MAX_ARGUMENT_TIMES_WEIGHT: f64 = 40.0;

impl BinSumNoise {
    pub(super) fn new(tree: &BinTree, noise: &[CellNoise], sum: BinSum) -> Self {
        let levels = noise.iter().zip(tree.widths().map(|width| width as f64));
        let levels = levels.zip(tree.weights(sum));
        Self {
            levels: levels
                .map(|((&noise, width), weights)| (noise, width, weights))
                .collect(),
        }
    }

    /// Returns the variance of the sum.
    pub(super) fn variance(&self) -> f64 {
        let part = |(noise, width, weights): &(CellNoise, f64, LevelWeights)| {
            noise.max_total() as f64 * weight_variance(weights, *width)
        };
        self.levels.iter().map(part).sum()
    }

    /// Returns the confidence limit for the sum, of which `estimate` is the estimate.
    ///
    /// On one level the noise is binomial, and the limit is exact. On several levels it is a sum of
    /// multinomial numbers, and the limit uses bounds on its tails.
    pub(super) fn limit(&self, estimate: f64, failure: &TailThresholds, side: LimitSide) -> f64 {
        if let [(noise, width, weights)] = &self.levels[..] {
            // The weights are 1 − g and −g, so the largest one marks the cells of the sum.
            let largest = weights
                .iter()
                .fold(f64::MIN, |most, (_, weight)| most.max(*weight));
            let inside = weights.iter().filter(|(_, weight)| *weight > largest - 0.5);
            let share = inside.map(|(count, _)| count).sum::<f64>() / width;
            let p = [share, 1.0 - share];
            let messages = (estimate + noise.excess() * share).round();
            let limit = binomial_limit(noise.max_total(), p, failure, side);
            return messages + limit + noise.missing_part([0.0, 1.0], side);
        }
        let missing = self.missing_part(side);
        let variance = self.variance();
        if variance == 0.0 {
            return estimate + missing;
        }
        // One message moves the sum by at most this much.
        let ranges = self.levels.iter().map(|(_, _, weights)| {
            let [lowest, highest] = extreme_weights(weights);
            highest - lowest
        });
        let largest = ranges.fold(0.0, f64::max);
        let observed = SumForConfidenceLimits {
            observed_sum: estimate,
            continuity_correction: largest,
            standard_deviation: variance.sqrt(),
            max_cumulant_argument: MAX_ARGUMENT_TIMES_WEIGHT / largest,
        };
        // The true sum only shifts the distribution, so the equation for it is linear.
        let limit = observed.confidence_limit(failure, side, |t, sum, exponent| {
            Some(sum - (exponent + self.cumulants(t)) / t)
        });
        limit + missing
    }

    /// Returns the number by which a limit increases, because own messages are missing. A missing
    /// message changes the sum by the difference of its weight from the mean weight of the level.
    fn missing_part(&self, side: LimitSide) -> f64 {
        let part = |(noise, width, weights): &(CellNoise, f64, LevelWeights)| {
            let mean = weight_mean(weights, *width);
            noise.missing_part(extreme_weights(weights).map(|own| own - mean), side)
        };
        self.levels.iter().map(part).sum()
    }

    /// Returns the cumulant generating function of the noise, whose mean is 0.
    fn cumulants(&self, t: f64) -> f64 {
        let part = |(noise, width, weights): &(CellNoise, f64, LevelWeights)| {
            let mean = weight_mean(weights, *width);
            let moment = |(count, weight): &(f64, f64)| count * (t * (weight - mean)).exp_m1();
            let moments: f64 = weights.iter().map(moment).sum();
            noise.max_total() as f64 * (moments / width).ln_1p()
        };
        self.levels.iter().map(part).sum()
    }
}
