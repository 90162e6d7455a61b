//! Binary tree over cells of a number's range. Each report covers one level of the tree.

use hushbin::Error;
use rand_core::CryptoRng;
use rand_distr::{Distribution, StandardUniform};

use crate::competitors::budget::Budget;
use crate::competitors::choice::SubsetSelection;

/// Hierarchy over 2^h equally wide cells of [0, 1] (Cormode, Kulkarni, Srivastava, "Answering Range
/// Queries Under Local Differential Privacy", VLDB 2019). Each report draws one level of a binary
/// tree over the cells. It reports the node of this level that contains the number, by subset
/// selection. Estimates combine all levels by least squares.
///
/// In subset selection, the estimates of all answers have equal variances, and all pairs have equal
/// covariances. Consider, for each node, the difference between the shares of its two children. If
/// people are spread evenly, the estimates of these differences are therefore uncorrelated. Hence
/// the least-squares estimate of each difference is a weighted mean of its estimates on all levels.
///
/// ```
/// use hushbin_study::competitors::{Budget, distribution::HierarchicalHistogram};
///
/// let budget = Budget::new(1.0, 0.0)?;
/// let best = HierarchicalHistogram::new(6, &budget)?;
/// let even = HierarchicalHistogram::with_level_shares(vec![1.0 / 6.0; 6], &budget)?;
/// assert!(best.mean_edge_variance() < even.mean_edge_variance());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HierarchicalHistogram {
    /// Subset selection among the nodes of a level, for each level. The first level has two nodes.
    level_mechanisms: Vec<SubsetSelection>,
    /// Share of reports that cover each level.
    level_shares: Vec<f64>,
}

/// Number of steps of the search for the best shares of levels. Each step lowers the mean variance.
/// The last steps lower it by a negligible amount.
const SEARCH_STEP_COUNT: u32 = 400;

impl HierarchicalHistogram {
    /// Returns the hierarchy with `height` levels. The shares of reports that cover each level
    /// minimise [`mean_edge_variance`](Self::mean_edge_variance).
    ///
    /// # Errors
    /// Same errors as [`SubsetSelection::new`].
    pub fn new(height: usize, budget: &Budget) -> Result<Self, Error> {
        let mut own = Self::with_level_shares(vec![1.0 / height as f64; height], budget)?;
        for _ in 0..SEARCH_STEP_COUNT {
            // Multiplicative algorithm of optimal design: the mean variance never increases.
            let slopes = own.negative_variance_slopes();
            for (share, slope) in own.level_shares.iter_mut().zip(slopes) {
                *share *= slope.sqrt();
            }
            let total: f64 = own.level_shares.iter().sum();
            for share in &mut own.level_shares {
                *share /= total;
            }
        }
        Ok(own)
    }

    /// Returns the hierarchy in which each level is covered by the given share of reports. The
    /// first share belongs to the level with two nodes.
    ///
    /// # Errors
    /// Same errors as [`SubsetSelection::new`].
    pub fn with_level_shares(shares: Vec<f64>, budget: &Budget) -> Result<Self, Error> {
        // The level at a depth has 2^(depth + 1) nodes.
        let level = |depth: usize| SubsetSelection::new(2 << depth, budget);
        Ok(Self {
            level_mechanisms: (0..shares.len()).map(level).collect::<Result<_, _>>()?,
            level_shares: shares,
        })
    }

    /// Subset selection among the nodes of each level.
    #[must_use]
    pub fn level_mechanisms(&self) -> &[SubsetSelection] {
        &self.level_mechanisms
    }

    /// Share of reports that cover each level.
    #[must_use]
    pub fn level_shares(&self) -> &[f64] {
        &self.level_shares
    }

    /// Number K of cells.
    #[must_use]
    pub const fn cell_count(&self) -> usize {
        1 << self.level_mechanisms.len()
    }

    /// Draws a report for a number in [0, 1]. Returns the report's level, and increments the count
    /// of each node in the report.
    ///
    /// # Panics
    /// If there are fewer counts than nodes.
    pub fn draw_report_into_counts<R: CryptoRng + ?Sized>(
        &self,
        number: f64,
        rng: &mut R,
        counts: &mut [Vec<u64>],
    ) -> usize {
        let drawn: f64 = StandardUniform.sample(rng);
        let mut level = 0;
        let mut below = self.level_shares[0];
        // Rounding can leave the sum of shares below 1; the last level takes the rest.
        while below <= drawn && level + 1 < self.level_mechanisms.len() {
            level += 1;
            below += self.level_shares[level];
        }
        let nodes = self.level_mechanisms[level].option_count();
        // The number 1 belongs to the last node.
        let node = ((number * f64::from(nodes)) as u32).min(nodes - 1);
        self.level_mechanisms[level].draw_report_into_counts(node, rng, &mut counts[level]);
        level
    }

    /// Returns least-squares estimates of the shares of people in the cells. `counts` has a list
    /// for each level: the number of reports that contain a node, for each node. `reports` has the
    /// number of reports for each level.
    ///
    /// The estimates are NaN if no report covers the last level.
    ///
    /// # Panics
    /// If `counts` or `reports` has fewer entries than there are levels.
    #[must_use]
    pub fn estimated_shares(&self, counts: &[Vec<u64>], reports: &[u64]) -> Vec<f64> {
        let shares = |level: usize| {
            let rates = self.level_mechanisms[level].support_probabilities();
            let share = |count: &u64| match reports[level] {
                // A level without reports has weight 0, so its shares do not matter.
                0 => 0.0,
                all => rates.estimate_share(*count, all),
            };
            counts[level].iter().map(share).collect()
        };
        let all: Vec<Vec<f64>> = (0..self.level_mechanisms.len()).map(shares).collect();
        let weights: Vec<f64> = reports.iter().map(|own| *own as f64).collect();
        self.combine_levels(all, &weights)
    }

    /// Combines estimated shares of nodes, by least squares, into shares of people in the cells.
    /// `shares` has the estimated share of each node, for each level. `reports` has the number of
    /// reports of each level.
    #[must_use]
    pub fn combine_levels(&self, mut shares: Vec<Vec<f64>>, reports: &[f64]) -> Vec<f64> {
        let weights: Vec<f64> = (reports.iter().enumerate())
            .map(|(level, own)| own * self.relative_level_information(level))
            .collect();
        let height = self.level_mechanisms.len();
        // Computes differences between children, from the cells up to the root. Each step also sums
        // pairs of children on all deeper levels, so that every level has estimates for the same
        // nodes.
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
        // Splits the root, whose share is exactly 1, down to the cells.
        let mut cells = vec![1.0];
        for differences in differences.into_iter().rev() {
            let halves = cells.iter().zip(differences);
            cells = halves
                .flat_map(|(share, own)| [0.5 * (share + own), 0.5 * (share - own)])
                .collect();
        }
        cells
    }

    /// Returns the variance of one report's estimate of a weighted sum of the cells' shares, if
    /// people are spread evenly. It includes the variance from sampling people at random.
    #[must_use]
    pub fn weighted_sum_variance(&self, weights: &[f64]) -> f64 {
        let squares = squared_weight_sums(weights);
        let parts = squares.iter().enumerate();
        parts
            .map(|(depth, square)| square / self.difference_information(depth))
            .sum()
    }

    /// Returns the variance of one report's estimate of the share of people below an edge between
    /// cells, averaged over the edges.
    #[must_use]
    pub fn mean_edge_variance(&self) -> f64 {
        let squares = self.edge_mean_squared_weights();
        let parts = squares.iter().enumerate();
        parts
            .map(|(depth, square)| square / self.difference_information(depth))
            .sum()
    }

    /// Returns a number proportional to the information (inverse variance) that a report of this
    /// level has about the difference between two nodes' shares. The omitted factor depends on the
    /// depth: [`Self::difference_information`] multiplies by the number of nodes at that depth.
    fn relative_level_information(&self, level: usize) -> f64 {
        1.0 / (self.level_mechanisms[level].unit_contrast_variance() * f64::from(2 << level))
    }

    /// Returns the information (inverse variance) that one report, of a random level, has about the
    /// difference between the shares of a node's two children. The node is at `depth`. On a deeper
    /// level, each child is a sum of 2^(level − depth) nodes.
    fn difference_information(&self, depth: usize) -> f64 {
        let levels = (self.level_shares.iter().enumerate()).skip(depth);
        let sum: f64 = levels
            .map(|(level, share)| share * self.relative_level_information(level))
            .sum();
        sum * f64::from(1 << depth)
    }

    /// Returns, for each depth, the sum of the squared weights of the nodes at this depth, averaged
    /// over edges between cells. The weights are those with which [`squared_weight_sums`] writes
    /// the share of people below an edge.
    fn edge_mean_squared_weights(&self) -> Vec<f64> {
        let cells = self.cell_count();
        let mut means = vec![0.0; self.level_mechanisms.len()];
        for edge in 1..cells {
            let below: Vec<f64> = (0..cells)
                .map(|cell| f64::from(u8::from(cell < edge)))
                .collect();
            for (mean, own) in means.iter_mut().zip(squared_weight_sums(&below)) {
                *mean += own / (cells - 1) as f64;
            }
        }
        means
    }

    /// Returns, for each level, the negative derivative of the mean variance with respect to the
    /// level's share of reports.
    fn negative_variance_slopes(&self) -> Vec<f64> {
        let squares = self.edge_mean_squared_weights();
        let slope = |level: usize| {
            // Derivative of Σ square/information, where [`HierarchicalHistogram::difference_information`] is
            // linear in the shares.
            let part = |depth: usize| {
                squares[depth] / self.difference_information(depth).powi(2) * f64::from(1 << depth)
            };
            self.relative_level_information(level) * (0..=level).map(part).sum::<f64>()
        };
        (0..self.level_mechanisms.len()).map(slope).collect()
    }
}

/// Returns, for each depth, the sum of the squared weights of the nodes at this depth. To define
/// them, write the weighted sum of the cells' shares as a sum over nodes. The weight of a node is
/// the factor of the difference between its children's shares.
fn squared_weight_sums(weights: &[f64]) -> Vec<f64> {
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
