//! Binary tree over cells, in which each report answers for one level.

use hushbin::Error;
use rand_core::CryptoRng;
use rand_distr::{Distribution, StandardUniform};

use crate::competitors::budget::Budget;
use crate::competitors::choice::SubsetSelection;

/// Hierarchy over 2^h cells of [0, 1] (Cormode, Kulkarni, Srivastava, "Answering Range Queries
/// Under Local Differential Privacy", VLDB 2019). Each report draws one level of a binary tree. It
/// reports the number's node in that level by subset selection. Estimates combine all levels by
/// least squares.
///
/// Subset selection has equal variances for all answers and equal covariances for all pairs. For
/// people spread evenly, the differences between the two children of a node are therefore
/// uncorrelated. Least squares is then a weighted mean over the levels for each difference.
///
/// ```
/// use hushbin_study::competitors::{Budget, distribution::Hierarchy};
///
/// let budget = Budget::new(1.0, 0.0)?;
/// let best = Hierarchy::new(6, &budget)?;
/// let even = Hierarchy::with_shares(vec![1.0 / 6.0; 6], &budget)?;
/// assert!(best.mean_variance() < even.mean_variance());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    /// Choice of a node for each level. The first level has two nodes.
    levels: Vec<SubsetSelection>,
    /// Share of reports that answer each level.
    shares: Vec<f64>,
}

/// Number of steps of the search for the best shares. Each step lowers the variance, the last ones
/// imperceptibly.
const STEPS: u32 = 400;

impl Hierarchy {
    /// Returns the hierarchy of this height with the best shares of levels: they minimise the mean
    /// variance of the share of people below an edge.
    ///
    /// # Errors
    /// Same errors as [`SubsetSelection::new`].
    pub fn new(height: usize, budget: &Budget) -> Result<Self, Error> {
        let mut own = Self::with_shares(vec![1.0 / height as f64; height], budget)?;
        for _ in 0..STEPS {
            // Multiplicative algorithm of optimal design: the mean variance never increases.
            let slopes = own.slopes();
            for (share, slope) in own.shares.iter_mut().zip(slopes) {
                *share *= slope.sqrt();
            }
            let total: f64 = own.shares.iter().sum();
            for share in &mut own.shares {
                *share /= total;
            }
        }
        Ok(own)
    }

    /// Returns the hierarchy with these shares of levels. The first share is of the level with two
    /// nodes.
    ///
    /// # Errors
    /// Same errors as [`SubsetSelection::new`].
    pub fn with_shares(shares: Vec<f64>, budget: &Budget) -> Result<Self, Error> {
        // The level at a depth has 2^(depth + 1) nodes.
        let level = |depth: usize| SubsetSelection::new(2 << depth, budget);
        Ok(Self {
            levels: (0..shares.len()).map(level).collect::<Result<_, _>>()?,
            shares,
        })
    }

    /// Choice of a node for each level.
    #[must_use]
    pub fn levels(&self) -> &[SubsetSelection] {
        &self.levels
    }

    /// Share of reports that answer each level.
    #[must_use]
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Number of cells, K.
    #[must_use]
    pub const fn cells(&self) -> usize {
        1 << self.levels.len()
    }

    /// Draws a report of a number in [0, 1]. Returns its level and increments the count of each
    /// node in it.
    ///
    /// # Panics
    /// If there are fewer counts than nodes.
    pub fn count<R: CryptoRng + ?Sized>(
        &self,
        number: f64,
        rng: &mut R,
        counts: &mut [Vec<u64>],
    ) -> usize {
        let drawn: f64 = StandardUniform.sample(rng);
        let mut level = 0;
        let mut below = self.shares[0];
        // Rounding can leave the sum of shares below 1; the last level takes the rest.
        while below <= drawn && level + 1 < self.levels.len() {
            level += 1;
            below += self.shares[level];
        }
        let nodes = self.levels[level].options();
        // The number 1 belongs to the last node.
        let node = ((number * f64::from(nodes)) as u32).min(nodes - 1);
        self.levels[level].count(node, rng, &mut counts[level]);
        level
    }

    /// Returns least-squares estimates of the shares of cells. The inputs are the number of reports
    /// that contain each node, and the number of reports of each level.
    ///
    /// The estimates are NaN if no report is of the last level.
    ///
    /// # Panics
    /// If there are fewer counts or report numbers than levels.
    #[must_use]
    pub fn estimates(&self, counts: &[Vec<u64>], reports: &[u64]) -> Vec<f64> {
        let shares = |level: usize| {
            let rates = self.levels[level].rates();
            let share = |count: &u64| match reports[level] {
                // A level without reports has weight 0, so its shares do not matter.
                0 => 0.0,
                all => rates.estimate(*count, all),
            };
            counts[level].iter().map(share).collect()
        };
        let all: Vec<Vec<f64>> = (0..self.levels.len()).map(shares).collect();
        let weights: Vec<f64> = reports.iter().map(|own| *own as f64).collect();
        self.combined(all, &weights)
    }

    /// Returns the shares of cells by least squares. The inputs are the shares of the nodes of each
    /// level, and the number of reports of each level.
    #[must_use]
    pub fn combined(&self, mut shares: Vec<Vec<f64>>, reports: &[f64]) -> Vec<f64> {
        let weights: Vec<f64> = (reports.iter().enumerate())
            .map(|(level, own)| own * self.information(level))
            .collect();
        let height = self.levels.len();
        // Differences between children, from the cells up to the root. Each step also sums pairs of
        // children, so that all levels end at the same depth.
        let mut differences = Vec::with_capacity(height);
        for depth in (0..height).rev() {
            let total: f64 = weights[depth..].iter().sum();
            let difference = |node: usize| {
                let of_level = |own: &Vec<f64>| own[2 * node] - own[2 * node + 1];
                let pairs = shares[depth..].iter().zip(&weights[depth..]);
                pairs
                    .map(|(own, weight)| weight * of_level(own))
                    .sum::<f64>()
                    / total
            };
            differences.push((0..1 << depth).map(difference).collect::<Vec<f64>>());
            for own in &mut shares[depth..] {
                *own = own.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
            }
        }
        // From the root, whose share is exactly 1, down to the cells.
        let mut cells = vec![1.0];
        for differences in differences.into_iter().rev() {
            let halves = cells.iter().zip(differences);
            cells = halves
                .flat_map(|(share, own)| [0.5 * (share + own), 0.5 * (share - own)])
                .collect();
        }
        cells
    }

    /// Returns the variance of one report's estimate of a weighted sum of shares of cells, for
    /// people spread evenly. It includes the random choice of the people.
    #[must_use]
    pub fn variance(&self, weights: &[f64]) -> f64 {
        let squares = squares(weights);
        let parts = squares.iter().enumerate();
        parts
            .map(|(depth, square)| square / self.known(depth))
            .sum()
    }

    /// Returns the variance of the estimated share of people below an edge between cells, averaged
    /// over edges.
    #[must_use]
    pub fn mean_variance(&self) -> f64 {
        let squares = self.edge_squares();
        let parts = squares.iter().enumerate();
        parts
            .map(|(depth, square)| square / self.known(depth))
            .sum()
    }

    /// Information of a report of one level about a difference between nodes of that level, times
    /// the level's number of nodes.
    fn information(&self, level: usize) -> f64 {
        1.0 / (self.levels[level].even_variance() * f64::from(2 << level))
    }

    /// Information of a report about a difference between the children at a depth. Deeper levels
    /// sum 2^(level − depth) nodes on either side.
    fn known(&self, depth: usize) -> f64 {
        let levels = (self.shares.iter().enumerate()).skip(depth);
        let sum: f64 = levels
            .map(|(level, share)| share * self.information(level))
            .sum();
        sum * f64::from(1 << depth)
    }

    /// Squared weights of the differences at each depth, averaged over edges.
    fn edge_squares(&self) -> Vec<f64> {
        let cells = self.cells();
        let mut means = vec![0.0; self.levels.len()];
        for edge in 1..cells {
            let below: Vec<f64> = (0..cells)
                .map(|cell| f64::from(u8::from(cell < edge)))
                .collect();
            for (mean, own) in means.iter_mut().zip(squares(&below)) {
                *mean += own / (cells - 1) as f64;
            }
        }
        means
    }

    /// Returns the decrease of the mean variance per share of each level.
    fn slopes(&self) -> Vec<f64> {
        let squares = self.edge_squares();
        let slope = |level: usize| {
            // Derivative of Σ square/known, where `known` is linear in the shares.
            let part =
                |depth: usize| squares[depth] / self.known(depth).powi(2) * f64::from(1 << depth);
            self.information(level) * (0..=level).map(part).sum::<f64>()
        };
        (0..self.levels.len()).map(slope).collect()
    }
}

/// Returns, for each depth, the sum of squared weights of its nodes. A node's weight is the factor
/// of the difference between its children in the weighted sum of shares.
fn squares(weights: &[f64]) -> Vec<f64> {
    let mut sums = weights.to_vec();
    let mut size = 1.0;
    let mut squares = Vec::new();
    while sums.len() > 1 {
        size *= 2.0;
        // Half the difference between the mean weights of the two children.
        let square = |pair: &[f64]| ((pair[0] - pair[1]) / size).powi(2);
        squares.push(sums.chunks_exact(2).map(square).sum());
        sums = sums.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
    }
    squares.reverse();
    squares
}
