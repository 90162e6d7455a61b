//! Expected strength of the strongest cells, if the elements of an input are hashed to cells.
//!
//! G(c) is the expected sum of the strengths of the c strongest cells. The rates of Collision's
//! rule `heaviest` and CoCo's rule `strongest` depend on it.
//!
//! There are s elements and T cells. Under the independent hash, each element falls into a cell
//! independently, and the counts of the cells are multinomial. Under the balanced hash, elements
//! take slots without replacement, m slots in each cell, and the counts are multivariate
//! hypergeometric. In both cases the counts are distributed as those of T independent cells, given
//! that they sum to s. The count of an independent cell is Poisson, or binomial with m trials. So
//! the number K_v of cells with a count of v or more has the distribution
//!
//! P(K_v = k) ∝ C(T, k) · a^k · b^(T−k) · [x^s] A(x)^k · B(x)^(T−k),
//!
//! where a is the probability that an independent cell reaches v, and b = 1 − a. A and B are the
//! generating functions of this cell's count, given that the cell reaches v and given that it does
//! not. \[x^s\] means the coefficient of x^s. Finally, G(c) = Σ_v E\[min(c, K_v)\], because min(c,
//! K_v) of the c strongest cells reach v.
//!
//! Under Collision, the strength of a cell is its count. Under CoCo, elements push with fair signs,
//! and the strength is the absolute value of the sum of these signs. A cell with a count of n then
//! reaches v with some probability. This probability splits P(count = n) between A and B.
//!
//! All factors are probabilities: nothing overflows, and underflow is negligible. There is no
//! negative term, so nothing cancels.

mod approximate_top_sums;
mod count_distribution;
mod strength_distributions;
mod top_sums;

use alloc::vec::Vec;

pub(crate) use approximate_top_sums::ApproximateCellSums;
pub use top_sums::{StrongestCellSums, StrongestCellSumsTable};

use count_distribution::{
    CountDistribution, MAX_DROPPED_MASS, NEGLIGIBLE_PROBABILITY, terms_relative_to_mode,
    trim_polynomial,
};
use strength_distributions::StrengthDistributions;

/// Model of s elements thrown into T cells.
///
/// ```
/// use hushbin::mechanism::occupancy::{CellOccupancyModel, StrengthMeasure};
///
/// let occupancy = CellOccupancyModel { element_count: 3, cell_count: 12, slots_per_cell: Some(7) };
/// let top = occupancy.strongest_cell_sums(StrengthMeasure::Count, 1, 3);
/// // Three cells hold at most all of three elements; the best one at least one.
/// assert!(top.sums_over_strongest_cells(1).strength_sum > 1.0 && (top.sums_over_strongest_cells(3).strength_sum - 3.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellOccupancyModel {
    /// Number of elements s.
    pub element_count: u32,
    /// Number of cells T.
    pub cell_count: u32,
    /// Number m of slots in each cell, which elements take without replacement. `None` if each
    /// element falls into a cell independently.
    pub slots_per_cell: Option<u32>,
}

/// Definition of a cell's strength.
///
/// ```
/// use hushbin::mechanism::occupancy::{CellOccupancyModel, StrengthMeasure};
///
/// let occupancy = CellOccupancyModel { element_count: 3, cell_count: 12, slots_per_cell: Some(7) };
/// let [signed, counts] = [StrengthMeasure::SignedSum, StrengthMeasure::Count]
///     .map(|strength| occupancy.strongest_cell_sums(strength, 1, 3).sums_over_strongest_cells(3).strength_sum);
/// // Elements with opposite signs cancel.
/// assert!(signed < counts);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrengthMeasure {
    /// Number of elements in the cell (Collision).
    Count,
    /// Absolute value of the sum of the elements' fair signs (CoCo).
    SignedSum,
}

impl CellOccupancyModel {
    /// Expected sum of the squared counts of all cells.
    #[must_use]
    pub fn expected_sum_of_squares(&self) -> f64 {
        let s = f64::from(self.element_count);
        let cells = f64::from(self.cell_count);
        // Probability that a pair of elements shares a cell: 1/T, or (m − 1)/(N − 1) without
        // replacement.
        let meet = match self.slots_per_cell {
            None => 1.0 / cells,
            Some(m) => (f64::from(m) - 1.0) / (f64::from(m) * cells - 1.0),
        };
        s + s * (s - 1.0) * meet
    }

    /// Computes expected sums over the c strongest cells, for every c up to `most`: the sums of
    /// strengths, of squared strengths, and of numbers of elements. The cells are those of
    /// `functions` independent hash functions. The sums are exact up to rounding (relative errors
    /// near 1e-13). Takes a few milliseconds at s = 64.
    #[must_use]
    pub fn strongest_cell_sums(
        &self,
        strength: StrengthMeasure,
        functions: u32,
        most: u32,
    ) -> StrongestCellSumsTable {
        let strengths = self.strength_distributions(strength);
        let cells = u64::from(self.element_count.min(self.cell_count)) * u64::from(functions);
        let most = u64::from(most).min(cells) as usize;
        let tails = self.count_tails_by_strength(&strengths, functions, most);
        StrongestCellSumsTable::new(tails, &strengths.mean_elements_by_strength, most)
    }

    /// Returns, for each strength v = 1, 2, …, the tail probabilities P(K_v ≥ j) for j up to
    /// `most`. K_v is the number of cells of strength v or more. Ends before the first v for which
    /// P(K_v ≥ 1) is negligible.
    fn count_tails_by_strength(
        &self,
        strengths: &StrengthDistributions,
        functions: u32,
        most: usize,
    ) -> impl Iterator<Item = Vec<f64>> {
        let reaching =
            strengths.reach_probabilities[1..strengths.independent_cell_occupancy.len()].iter();
        reaching
            .map(move |reach| {
                self.strong_cell_count_distribution(&strengths.independent_cell_occupancy, reach)
                    .convolution_power(functions)
            })
            .map(move |law| law.tail_probabilities(most))
            .take_while(|tails| tails[1] > NEGLIGIBLE_PROBABILITY)
    }

    /// Counts the cells that hold v or more elements among the c = `favoured` heaviest cells.
    /// Returns the expected count for v = 1, 2, …. The expected count is E\[min(c, K_v)\], where
    /// K_v is the number of such cells over all `functions` hash functions.
    pub(crate) fn heaviest_by_min_count(&self, functions: u32, favoured: u32) -> Vec<f64> {
        let strengths = self.strength_distributions(StrengthMeasure::Count);
        let tails = self.count_tails_by_strength(&strengths, functions, favoured as usize);
        tails.map(|tails| tails[1..].iter().sum()).collect()
    }

    /// Returns the distribution of the count of one cell: P(count = n) for n from 0 to s. The
    /// counts of all T cells sum to s.
    pub(crate) fn cell_occupancy_distribution(&self) -> Vec<f64> {
        self.truncated_cell_occupancy(self.element_count as usize + 1)
    }

    /// Computes approximate expected sums for one hash function. The search for parameters uses
    /// these sums. For each strength v, the number of cells of strength v or more has an exact mean
    /// and an approximate variance.
    pub(crate) fn approximate_strongest_sums(
        &self,
        strength: StrengthMeasure,
    ) -> ApproximateCellSums {
        ApproximateCellSums::new(self.cell_count, &self.strength_distributions(strength))
    }

    fn strength_distributions(&self, strength: StrengthMeasure) -> StrengthDistributions {
        let law = self.independent_cell_occupancy();
        let reach_probabilities: Vec<Vec<f64>> = match strength {
            StrengthMeasure::Count => (0..=law.len())
                .map(|v| (0..law.len()).map(|n| f64::from(n >= v)).collect())
                .collect(),
            StrengthMeasure::SignedSum => {
                strength_distributions::signed_sum_reach_probabilities(law.len())
            }
        };
        let counts = self.truncated_cell_occupancy(law.len());
        let loads = reach_probabilities
            .windows(2)
            .map(|level| {
                let weights = || (0..law.len()).map(|n| counts[n] * (level[0][n] - level[1][n]));
                let elements: f64 = (0..)
                    .map(f64::from)
                    .zip(weights())
                    .map(|(n, p)| n * p)
                    .sum();
                let total: f64 = weights().sum();
                if total > 0.0 { elements / total } else { 0.0 }
            })
            .collect();
        StrengthDistributions {
            independent_cell_occupancy: law,
            cell_occupancy_distribution: counts,
            reach_probabilities,
            mean_elements_by_strength: loads,
        }
    }

    /// Returns the distribution of the count of one cell: P(count = n) for n below `len`. The
    /// counts of all T cells sum to s, so the distribution is binomial or hypergeometric.
    fn truncated_cell_occupancy(&self, len: usize) -> Vec<f64> {
        let s = f64::from(self.element_count);
        let cells = f64::from(self.cell_count);
        // P(n + 1) / P(n). It is infinite or negative below the least possible n.
        let ratio = |n: usize| {
            let n = n as f64;
            match self.slots_per_cell {
                None => (s - n) / (n + 1.0) / (cells - 1.0),
                Some(m) => {
                    let m = f64::from(m);
                    (m - n) * (s - n) / ((n + 1.0) * (m * (cells - 1.0) - s + n + 1.0))
                }
            }
        };
        let most = self
            .element_count
            .min(self.slots_per_cell.unwrap_or(u32::MAX)) as usize;
        let most = most.min(len - 1);
        let (mut law, _) = normalise_weights(terms_relative_to_mode(
            ((s / cells) as usize).min(most),
            most,
            ratio,
        ));
        law.resize(len, 0.0);
        law
    }

    /// Returns the distribution of an independent cell's count: P(count = n) for n from 0 until the
    /// probability is negligible. The mean is s/T. The distribution is Poisson, or binomial with m
    /// trials.
    fn independent_cell_occupancy(&self) -> Vec<f64> {
        let mean = f64::from(self.element_count) / f64::from(self.cell_count);
        let most = self
            .element_count
            .min(self.slots_per_cell.unwrap_or(u32::MAX)) as usize;
        // P(n + 1) / P(n).
        let ratio = |n: usize| match self.slots_per_cell {
            None => mean / (n as f64 + 1.0),
            Some(m) => {
                let p = mean / f64::from(m);
                (f64::from(m) - n as f64) / (n as f64 + 1.0) * p / (1.0 - p)
            }
        };
        let mut law = terms_relative_to_mode((mean as usize).min(most), most, ratio);
        let total: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p /= total);
        trim_polynomial(&mut law);
        law
    }

    /// Computes the distribution of K_v, the number of cells of strength v or more. `law` is the
    /// distribution of an independent cell's count. `reach[n]` is the probability that a cell with
    /// a count of n has strength v or more.
    fn strong_cell_count_distribution(&self, law: &[f64], reach: &[f64]) -> CountDistribution {
        let s = self.element_count as usize;
        let cells = self.cell_count as usize;
        let split = |reached: bool| {
            let share = |p: f64| if reached { p } else { 1.0 - p };
            let shares = law.iter().zip(reach);
            normalise_weights(shares.map(|(p, &reach)| p * share(reach)).collect())
        };
        let ((below, b), (reaching, a)) = (split(false), split(true));
        if b == 0.0 {
            // Every cell reaches v, because all slots hold elements. The odds a/b below would
            // divide by 0.
            return CountDistribution::new(cells, alloc::vec![1.0]);
        }
        // Least count that reaches v, which bounds the number of such cells.
        let v = reach.iter().position(|&p| p > 0.0).unwrap_or(s).max(1);
        let [first, last] = self.likely_strong_cell_count_range(a / (a + b), (s / v).min(cells));

        // Powers B^(T − last), …, B^(T − first), in this order.
        let mut powers = Vec::with_capacity(last - first + 1);
        powers.push(count_distribution::polynomial_power(
            &below,
            cells - last,
            s,
        ));
        for i in 0..last - first {
            powers.push(count_distribution::polynomial_product(
                &powers[i], &below, s,
            ));
        }
        // Each weight is multiplied by the coefficient of x^s in A^k·B^(T − k).
        let mut weights = binomial_weights(self.cell_count, a / b, last).split_off(first);
        let mut reached = count_distribution::polynomial_power(&reaching, first, s);
        for (i, weight) in weights.iter_mut().enumerate() {
            if i > 0 {
                reached = count_distribution::polynomial_product(&reached, &reaching, s);
            }
            *weight *=
                count_distribution::product_coefficient(&reached, &powers[last - first - i], s);
        }
        CountDistribution::new(first, weights)
    }

    /// Returns the likely range of the number K_v of cells of strength v or more: the least and the
    /// greatest value. Values outside the range have negligible probabilities. The greatest value
    /// is at most `most`. `a` is the probability that one cell has strength v or more.
    ///
    /// For independent cells K_v is binomial, and Bernstein's inequality applies. The counts sum to
    /// s with a probability of at least about 1/√(8s), or 1/100. So this condition raises no
    /// probability more than about a hundredfold.
    fn likely_strong_cell_count_range(&self, a: f64, most: usize) -> [usize; 2] {
        let mean = f64::from(self.cell_count) * a;
        let variance = mean * (1.0 - a);
        let far = -libm::log(MAX_DROPPED_MASS);
        // Solves Bernstein's bound exp(−x²/(2(variance + x/3))) = DROPPED_MASS for the deviation x.
        let x = far / 3.0 + libm::sqrt(far * far / 9.0 + 2.0 * far * variance);
        let first = libm::floor(f64::max(mean - x, 0.0)) as usize;
        let last = libm::ceil(mean + x).min(most as f64) as usize;
        [first.min(last), last]
    }
}

/// Divides the weights by their sum, and drops negligible ones at the end. Returns the resulting
/// distribution and the sum.
fn normalise_weights(mut law: Vec<f64>) -> (Vec<f64>, f64) {
    let total: f64 = law.iter().sum();
    law.iter_mut().for_each(|p| *p /= total);
    trim_polynomial(&mut law);
    (law, total)
}

/// Computes the terms C(n, k)·odds^k of a binomial distribution, for k up to `most`. The terms are
/// scaled so that the greatest is 1.
fn binomial_weights(n: u32, odds: f64, most: usize) -> Vec<f64> {
    // Term k + 1 over term k.
    let ratio = |k: usize| (f64::from(n) - k as f64) / (k as f64 + 1.0) * odds;
    let mode = (0..most).find(|&k| ratio(k) <= 1.0).unwrap_or(most);
    terms_relative_to_mode(mode, most, ratio)
}
