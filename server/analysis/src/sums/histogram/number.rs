//! Distribution function and quantiles of a number, from counts of the cells of a tree.

use super::cells::{CellNoise, HistogramCountsError};
use super::tree::{BinSum, BinSumNoise, BinTree};
use crate::estimate::{
    ConfidenceLevel, Estimate, PointEstimate, interval_edges, isotonic_bin_shares,
    quantile_position,
};

/// Inverse of the difference up to which numbers of people are tied.
const TIE_SCALE: f64 = 1_048_576.0;

/// Counts of all cells of a number's tree, and the estimates from them.
///
/// Estimates are numbers of people. The estimated shares are these, divided by
/// [`NumberCounts::people`].
#[derive(Debug, Clone)]
pub struct NumberCounts {
    tree: BinTree,
    people: u64,
    /// Noise of each level.
    noise: Vec<CellNoise>,
    /// Estimated number of people in each bin, by least squares.
    bins: Vec<f64>,
}

/// Estimate of a quantile: a position below which a given fraction of people's numbers lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinQuantile {
    /// Fraction of people below the quantile, in (0, 1).
    pub quantile: f64,
    /// Position at which the closest non-decreasing distribution function reaches the fraction, as a
    /// number of bins from the first edge. It is moved into `interval`.
    pub position: f64,
    /// Edges that bound the quantile with the stated confidence, as numbers of bins from the first
    /// edge.
    pub interval: [usize; 2],
    /// Edges that bound it simultaneously with all other requested quantiles (Bonferroni).
    pub simultaneous_interval: [usize; 2],
    /// True if the position was outside the interval and was moved to an end of the interval.
    pub clamped: bool,
}

impl NumberCounts {
    /// Creates the estimates from the number of valid messages of each cell, by level. They are from
    /// `people` uploads, each with one own message for each level. Up to `missing` own messages of
    /// each level may be missing. If its counts lack more than that, these are missing too.
    ///
    /// # Errors
    /// [`HistogramCountsError`] if the numbers of levels and cells are not those of the tree, or if a
    /// level has more messages than 2⁵³.
    pub fn new(
        tree: &BinTree,
        levels: &[&[u64]],
        people: u64,
        missing: u64,
    ) -> Result<Self, HistogramCountsError> {
        let check = |what, found, expected| {
            let other = HistogramCountsError::OtherNumber {
                what,
                found,
                expected,
            };
            if found == expected {
                Ok(())
            } else {
                Err(other)
            }
        };
        check("levels", levels.len(), tree.widths().len())?;
        let mut noise = Vec::new();
        let mut cells = Vec::new();
        for (counts, width) in levels.iter().zip(tree.widths()) {
            check("cells of a level", counts.len(), width)?;
            let own = CellNoise::new(counts, people.into(), missing)?;
            let mean = own.excess() / width as f64;
            cells.push(counts.iter().map(|&count| count as f64 - mean).collect());
            noise.push(own);
        }
        Ok(Self {
            bins: tree.least_squares(&cells, people as f64),
            tree: tree.clone(),
            people,
            noise,
        })
    }

    /// Returns the number n of people.
    #[must_use]
    pub const fn people(&self) -> u64 {
        self.people
    }

    /// Returns the number b − 1 of inner edges.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.bins.len() - 1
    }

    /// Estimates the number of people in each bin. The simultaneous intervals are for as many
    /// estimates as `confidence` was created for.
    #[must_use]
    pub fn in_bins(&self, confidence: &ConfidenceLevel) -> Vec<Estimate> {
        let bins = (0..).zip(&self.bins);
        bins.map(|(bin, &people)| self.estimate(BinSum::One(bin), people, confidence))
            .collect()
    }

    /// Estimates the number of people below each inner edge: in the first 1, 2, …, b − 1 bins.
    #[must_use]
    pub fn below_edges(&self, confidence: &ConfidenceLevel) -> Vec<Estimate> {
        let before = (1..).zip(self.people_below_edges());
        before
            .map(|(bin, people)| self.estimate(BinSum::Before(bin), people, confidence))
            .collect()
    }

    /// Estimates quantiles, in the order of the given fractions. There are none without people.
    ///
    /// An interval is found by testing each edge: the quantile is at most an edge if the share of
    /// people below it is significantly at least the fraction, and at least the edge if that share is
    /// significantly smaller.
    #[must_use]
    pub fn quantiles(&self, fractions: &[f64], confidence: &ConfidenceLevel) -> Vec<BinQuantile> {
        if self.people == 0 {
            return Vec::new();
        }
        let people = self.people as f64;
        let shares: Vec<f64> = self
            .people_below_edges()
            .map(|below| below / people)
            .collect();
        let shares = isotonic_bin_shares(&shares);
        let below = self.below_edges(&confidence.for_simultaneous_intervals(fractions.len()));
        let quantile = |&fraction: &f64| {
            let edges = |limits: fn(&Estimate) -> [f64; 2]| {
                // Rounding must not turn a tie into a difference.
                let wanted = (fraction * people * TIE_SCALE).round() / TIE_SCALE;
                let claims = below.iter().map(limits);
                interval_edges(claims.map(|[low, high]| [high < wanted, low >= wanted]))
            };
            let interval = edges(|own| own.interval);
            let [lower, upper] = interval.map(|edge| edge as f64);
            let position = quantile_position(&shares, fraction);
            BinQuantile {
                quantile: fraction,
                position: position.clamp(lower, upper),
                clamped: !(lower..=upper).contains(&position),
                interval,
                simultaneous_interval: edges(|own| own.simultaneous_interval),
            }
        };
        fractions.iter().map(quantile).collect()
    }

    /// Returns the estimated number of people below each inner edge.
    fn people_below_edges(&self) -> impl Iterator<Item = f64> {
        let inner = &self.bins[..self.bins.len() - 1];
        inner.iter().scan(0.0, |below, people| {
            *below += people;
            Some(*below)
        })
    }

    fn estimate(&self, sum: BinSum, estimate: f64, confidence: &ConfidenceLevel) -> Estimate {
        let noise = BinSumNoise::new(&self.tree, &self.noise, sum);
        let point = PointEstimate {
            estimate,
            standard_error: noise.variance().sqrt(),
        };
        confidence
            .estimate_with_intervals(point, |failure, side| noise.limit(estimate, failure, side))
    }
}
